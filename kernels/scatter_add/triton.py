"""scatter_add in Triton: by atomics, or by rows that each gather what is added to them.

Atomics add in the order in which programs happen to run. Narrow types are added up in float32 and rounded once.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import wide

BLOCK = 1024
"""The most elements of a row that a program adds."""

TILE = 2048
"""Elements a program where rows are short."""

_NARROW = (torch.float16, torch.bfloat16)


@triton.jit
def _atomic(
    src, index, out, count, columns, src_row, src_column, step, ROWS: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Add a block of the columns of ``ROWS`` rows of ``src`` to the rows of ``out`` that they name."""
    blocks = tl.cdiv(columns, BLOCK)
    row = (tl.program_id(0) // blocks).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = (tl.program_id(0) % blocks).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = (row[:, None] < count) & (column[None, :] < columns)
    values = tl.load(src + row[:, None] * src_row + column[None, :] * src_column, mask=inside, other=0)
    target = tl.load(index + row * step, mask=row < count, other=0)
    place = out + target[:, None] * columns + column[None, :]
    tl.atomic_add(place, values.to(out.dtype.element_ty), mask=inside, sem="relaxed")


@triton.jit
def _segmented(
    x, src, order, starts, out, rows, columns, x_row, x_column, src_row, src_column,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Write a block of the columns of ``ROWS`` rows: those of ``x``, and what ``order`` lists for each of them."""
    blocks = tl.cdiv(columns, BLOCK)
    row = (tl.program_id(0) // blocks).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = ((tl.program_id(0) % blocks).to(tl.int64) * BLOCK + tl.arange(0, BLOCK))[None, :]
    inside = (row[:, None] < rows) & (column < columns)
    total = tl.load(x + row[:, None] * x_row + column * x_column, mask=inside, other=0).to(WIDE)
    begin = tl.load(starts + row, mask=row < rows, other=0)
    end = tl.load(starts + row + 1, mask=row < rows, other=0)
    for step in range(0, tl.max(end - begin, 0)):
        listed = begin + step < end
        added = tl.load(order + begin + step, mask=listed, other=0)[:, None]
        total += tl.load(src + added * src_row + column * src_column, mask=inside & listed[:, None], other=0).to(WIDE)
    tl.store(out + row[:, None] * columns + column, total.to(out.dtype.element_ty), mask=inside)


@implementation("scatter_add", paradigm="triton", numerics="flushed", deterministic=False)
def atomic(x: torch.Tensor, index: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
    """Return ``x`` with the rows of ``src`` added by atomics, to a copy of ``x`` that is wide where ``x`` is narrow."""
    kind = torch.float32 if x.dtype in _NARROW else x.dtype
    out = torch.empty(x.shape, dtype=kind, device=x.device).copy_(x)
    if src.numel():
        count, columns = src.shape
        block = min(BLOCK, triton.next_power_of_2(columns))
        together = max(1, TILE // block)
        _atomic[(triton.cdiv(count, together) * triton.cdiv(columns, block),)](
            src, index, out, count, columns, *src.stride(), index.stride(0), ROWS=together, BLOCK=block
        )
    return out.to(x.dtype)


@implementation(
    "scatter_add",
    paradigm="triton",
    optimizes="atomic",
    technique="sorted segments instead of atomics",
    helpers=("sort", "searchsorted"),
)
def segmented(x: torch.Tensor, index: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
    """Return the same, always in the same order: rows that go to one place are found by sorting, and added there."""
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if not out.numel():
        return out
    rows, columns = x.shape
    ranked, order = torch.sort(index, stable=True)
    starts = torch.searchsorted(ranked, torch.arange(rows + 1, device=x.device))
    block = min(BLOCK, triton.next_power_of_2(columns))
    together = max(1, TILE // block)
    kind = wide(x.dtype) if x.is_floating_point() else getattr(tl, str(x.dtype).removeprefix("torch."))
    _segmented[(triton.cdiv(rows, together) * triton.cdiv(columns, block),)](
        x, src, order, starts, out, rows, columns, *x.stride(), *src.stride(), ROWS=together, BLOCK=block, WIDE=kind
    )
    return out
