"""What the PyTorch files share: matrix products as precise as the contract says, whatever the process has set."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

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


def wide(x: torch.Tensor) -> torch.Tensor:
    """Return ``x`` in the dtype that contracts compute it in: float32 for narrower ones."""
    return x if x.dtype == torch.float64 else x.float()
