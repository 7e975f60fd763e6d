"""gemm in plain PyTorch: float32 as it is, and with operands that may be rounded to tf32."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from kernels import implementation

_SHORTCUTS = (
    "allow_fp16_accumulation",
    "allow_fp16_reduced_precision_reduction",
    "allow_bf16_reduced_precision_reduction",
)
"""Settings of torch.backends.cuda.matmul that let narrow types be accumulated in narrow types."""


@contextmanager
def precision(float32: str) -> Iterator[None]:
    """Run matrix products at the precision that ``float32`` says, and accumulate narrow types in float32.

    ``float32`` is one of torch.set_float32_matmul_precision's. The settings are the process's own and some are
    loose by default, so what the contract promises is set for the call and put back after it.
    """
    settings = torch.backends.cuda.matmul
    shortcuts = {name: getattr(settings, name) for name in _SHORTCUTS}
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision(float32)
        for name in shortcuts:
            setattr(settings, name, False)
        yield
    finally:
        torch.set_float32_matmul_precision(before)
        for name, value in shortcuts.items():
            setattr(settings, name, value)


@implementation("gemm", paradigm="torch")
def eager(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b``."""
    with precision("highest"):
        return torch.matmul(a, b)


@implementation(
    "gemm",
    paradigm="torch",
    optimizes="eager",
    technique="tf32 operands",
    numerics="tf32",
    dtypes=("float32",),
)
def tf32(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return ``a @ b``, with operands rounded to tf32 where the device has units for it."""
    with precision("high"):
        return torch.matmul(a, b)
