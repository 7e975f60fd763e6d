"""Kernels that are wrong on purpose, each in one way, to show that the suite notices. Never loaded unless asked for."""
