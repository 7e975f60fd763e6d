"""What Triton's matrix products share: the order of tiles, the loop over what is summed, tiles that fit a device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
import triton
import triton.language as tl

GROUP = 8
"""Rows of tiles that a grouped order finishes before it goes on to the next ones."""

SUM_BLOCK = 1024
"""Elements a program of :func:`add_slices`."""

ALIGNMENT = 16
"""Bytes that the address and the strides of what a tensor descriptor describes are multiples of."""

ASSUMED_PROGRAMS = 3
"""Programs at a time where there is no device to ask: few, so that each of them has several tiles."""


class Tile(NamedTuple):
    """What a program computes: ``m`` times ``n`` elements, ``k`` products deep at a time; and its warps and stages."""

    m: int
    n: int
    k: int
    warps: int
    stages: int

    def bytes(self, itemsize: int) -> int:
        """Return the shared memory that the stages of both operands take."""
        return self.stages * self.k * (self.m + self.n) * itemsize


_NARROW = (
    Tile(128, 256, 64, warps=8, stages=3),
    Tile(128, 128, 64, warps=8, stages=3),
    Tile(128, 128, 32, warps=8, stages=2),
    Tile(64, 64, 32, warps=4, stages=2),
)

TILES: dict[torch.dtype, tuple[Tile, ...]] = {
    torch.float64: (Tile(32, 32, 16, warps=4, stages=2),),
    # With fewer warps, accumulators of 64 times 64 spill on architectures of small register files.
    torch.float32: (Tile(64, 64, 32, warps=8, stages=3), Tile(64, 64, 32, warps=8, stages=2)),
    torch.float16: _NARROW,
    torch.bfloat16: _NARROW,
}
"""Tiles for products in each dtype, the best first."""


def fitting(tiles: Sequence[Tile], x: torch.Tensor) -> list[Tile]:
    """Return those of ``tiles`` whose stages fit the shared memory of the device of ``x``, or the last one."""
    room = _property(x, "max_shared_mem")
    return [tile for tile in tiles if not room or tile.bytes(x.element_size()) <= room] or [tiles[-1]]


def multiprocessors(x: torch.Tensor) -> int:
    """Return how many multiprocessors the device of ``x`` has; a small number where there is no device to ask."""
    return _property(x, "multiprocessor_count") or ASSUMED_PROGRAMS


def describable(x: torch.Tensor) -> torch.Tensor:
    """Return ``x`` as tensor descriptors take it: aligned, its last axis contiguous; a copy where it lies otherwise."""
    unit = ALIGNMENT // x.element_size()
    aligned = x.data_ptr() % ALIGNMENT == 0 and all(step and step % unit == 0 for step in x.stride()[:-1])
    if aligned and x.stride(-1) == 1:
        return x
    padded = torch.empty((*x.shape[:-1], -(-x.shape[-1] // unit) * unit), dtype=x.dtype, device=x.device)
    return padded[..., : x.shape[-1]].copy_(x)


def add_slices(partial: torch.Tensor, out: torch.Tensor) -> None:
    """Write the sum over the first axis of ``partial``, in the order of its slices, into ``out``, both contiguous."""
    if count := out.numel():
        _add_slices[(triton.cdiv(count, SUM_BLOCK),)](partial, out, count, partial.shape[0], BLOCK=SUM_BLOCK)


def _property(x: torch.Tensor, name: str) -> int | None:
    """Return what the device of ``x`` says of itself; None of the interpreter's, which has none."""
    if triton.knobs.runtime.interpret:
        return None
    return triton.runtime.driver.active.utils.get_device_properties(x.device.index or 0).get(name)


@triton.jit
def _add_slices(partial, out, count, slices, BLOCK: tl.constexpr):
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), partial.dtype.element_ty)
    for _ in range(0, slices):
        total += tl.load(partial + index, mask=index < count, other=0.0)
        partial += count
    tl.store(out + index, total, mask=index < count)


@triton.jit
def place(tile, m, n, M: tl.constexpr, N: tl.constexpr, GROUP: tl.constexpr):
    """Return the row and the column of a tile: row-major for a group of 1, else down the columns of each group."""
    width = GROUP * tl.cdiv(n, N)
    above = tile // width * GROUP
    height = tl.minimum(tl.cdiv(m, M) - above, GROUP)
    return above + tile % width % height, tile % width // height


@triton.jit
def multiplied(
    a, b, row, column, m, n, k, a_row, a_inner, b_inner, b_column,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
    EVEN_K: tl.constexpr, PRECISION: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Return the product of rows ``row`` of ``a`` (m, k) with columns ``column`` of ``b`` (k, n), M and N of them.

    Rows and columns beyond the end wrap around, so that loads need no mask for them; their products are not to be
    stored. ``EVEN_K`` says that k is a multiple of K. Addresses are computed once, and then moved on.
    """
    inner = tl.arange(0, K)
    left = a + (row % m).to(tl.int64)[:, None] * a_row + inner.to(tl.int64)[None, :] * a_inner
    right = b + inner.to(tl.int64)[:, None] * b_inner + (column % n).to(tl.int64)[None, :] * b_column
    left_step, right_step = tl.cast(a_inner, tl.int64) * K, tl.cast(b_inner, tl.int64) * K
    total = tl.zeros((M, N), WIDE)
    for start in range(0, k, K):
        if EVEN_K:
            x, y = tl.load(left), tl.load(right)
        else:
            x = tl.load(left, mask=inner[None, :] < k - start, other=0.0)
            y = tl.load(right, mask=inner[:, None] < k - start, other=0.0)
        total = tl.dot(x, y, total, input_precision=PRECISION, out_dtype=WIDE)
        left += left_step
        right += right_step
    return total
