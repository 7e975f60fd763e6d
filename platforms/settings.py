"""Numerical settings that belong to the whole process, kept as they were.

A kernel that turns one of them (tf32 products, flushing of subnormals, the default dtype) would turn it for every
kernel that runs after it in the same process, and their results would depend on the order of the tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def kept_settings() -> Iterator[None]:
    """A context at whose end torch's numerical settings are what they were at its beginning, subnormals on."""
    precision = torch.get_float32_matmul_precision()
    cudnn_tf32 = torch.backends.cudnn.allow_tf32
    dtype = torch.get_default_dtype()
    threads = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(precision)
        torch.backends.cudnn.allow_tf32 = cudnn_tf32
        torch.set_default_dtype(dtype)
        if torch.get_num_threads() != threads:
            torch.set_num_threads(threads)
        torch.set_flush_denormal(False)
