"""argmin in Triton: as argmax, with the smallest elements."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.argmax.triton import in_blocks, in_registers


@implementation("argmin", paradigm="triton")
def blocked(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the indices of the smallest elements of ``x`` along ``dim``: each block against the best so far."""
    return in_blocks(x, dim, largest=False, values=False)[1]


@implementation("argmin", paradigm="triton", optimizes="blocked", technique="row kept in registers")
def one_block(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the indices of the smallest elements of ``x`` along ``dim``: a row is held at once."""
    return in_registers(x, dim, largest=False, values=False)[1]
