"""Rungs that are right and slow on purpose, each for one reason, to show that a ladder notices. On request alone."""
