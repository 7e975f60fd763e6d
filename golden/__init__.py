"""What is right: cases and their inputs, enclosures of the true result, bounds, and the judge.

This package needs NumPy alone. It knows no kernel, no platform and no torch, so that the same case gives the same
inputs and the same golden result on every machine.
"""
