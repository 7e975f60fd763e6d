"""What a race must notice: rungs that are right and slow, each for one reason, and some that are fast and wrong.

Loaded on request alone.
"""
