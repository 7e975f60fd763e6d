"""max in Triton: as argmax, with the elements that the indices point at."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.argmax.triton import in_blocks, in_registers


@implementation("max", paradigm="triton")
def blocked(x: torch.Tensor, *, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the largest elements of ``x`` along ``dim`` and their indices: each block against the best so far."""
    return in_blocks(x, dim, largest=True, values=True)


@implementation("max", paradigm="triton", optimizes="blocked", technique="row kept in registers")
def one_block(x: torch.Tensor, *, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the largest elements of ``x`` along ``dim`` and their indices: a row is held at once."""
    return in_registers(x, dim, largest=True, values=True)
