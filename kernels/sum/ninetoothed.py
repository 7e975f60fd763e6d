"""sum in NineToothed: a program takes one long row or several short ones, and goes along them in blocks."""

from __future__ import annotations

import functools
from typing import Any

import ninetoothed
import ninetoothed.language as ntl
import torch
import triton.language as tl
from ninetoothed import Tensor

from kernels import implementation
from kernels.toolchains.ninetoothed import BLOCK, ROWS, TILE, blocks_of_rows, near, parts, power_of_2, wide, with_axes


def arrangement(
    x: Tensor,
    out: Tensor,
    dtype: Tensor,
    rows: Any = ROWS,
    block: Any = BLOCK,
) -> tuple[Tensor, ...]:
    """Return rows of ``x`` in blocks, and of ``out``, whose last axis has one element, as many of these."""
    (along,) = blocks_of_rows(x, rows=rows, block=block)
    return along, out.flatten(end_dim=-1).tile((rows, 1)), dtype


def application(x, out, dtype):
    total = ntl.zeros(x.dtype.shape, dtype)
    for i in range(x.shape[0]):
        total += ntl.cast(x[i], dtype)
    out = ntl.sum(total, 1, keep_dims=True)


@functools.cache
def _kernel(ndim: int) -> Any:
    tensors = Tensor(ndim, other=0), Tensor(ndim), Tensor(0, constexpr=True)
    return ninetoothed.make(arrangement, application, tensors)


@implementation("sum", paradigm="ninetoothed")
def rows(x: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return the sum of ``x`` along ``dim``, in float32 for narrow types."""
    along = near(x.movedim(dim, -1))
    out = torch.empty(along.shape[:-1], dtype=x.dtype, device=x.device)
    if not x.numel():
        return out.zero_()
    block = min(TILE, power_of_2(along.shape[-1]))
    dtype = tl.int64 if x.dtype == torch.int64 else wide(x.dtype)
    for source, target in parts(with_axes(along, 2), with_axes(out[..., None], 2)):
        _kernel(source.dim())(source, target, dtype, ROWS=max(1, TILE // block), BLOCK=block)
    return out
