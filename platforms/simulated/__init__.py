"""Accelerators that are not there, played by PyTorch's PrivateUse1 device on the processor.

What it shows is that adapters, workers and judges do the right thing with a device type of its own, with streams,
events and graphs, and with arithmetic that is not IEEE's. What it computes is no vendor's result, and its names say so.
"""
