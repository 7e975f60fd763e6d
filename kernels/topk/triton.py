"""topk in Triton: as sort, of which it keeps the first elements."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.sort.triton import packed, ranked


@implementation("topk", paradigm="triton")
def rank(x: torch.Tensor, *, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the ``k`` largest elements of each row of ``x`` and their indices, by counting larger ones."""
    return ranked(x, -1, k, descending=True)


@implementation(
    "topk", paradigm="triton", optimizes="rank", technique="bitonic sort of element and index in one integer",
    dtypes=("float32", "float16", "bfloat16"),
)  # fmt: skip
def bitonic(x: torch.Tensor, *, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the ``k`` largest elements of each row of ``x`` and their indices: rows that fit are sorted at once."""
    return packed(x, -1, k, descending=True)
