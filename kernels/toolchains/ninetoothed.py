"""What the NineToothed files share: arrangements that several operations have, and what their kernels are called with.

A kernel is made when it is first called, since making one asks which device there is. Tensors keep their strides, but
the kernels that NineToothed generates compute offsets in 32 bits: what reaches further is copied, or gone through in
parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import triton.language as tl
from ninetoothed import Symbol, Tensor

FLAT = 1024
"""Elements a program takes of tensors that are gone through element by element."""

TILE = 1024
"""Elements that a program holds at a time of rows that are reduced."""

LONGEST_BLOCK = 8192
"""The longest row that a program holds at once; the registers have no room for longer ones."""

REACH = 2**31
"""Elements that offsets of 32 bits reach."""

ROWS, BLOCK = Symbol("ROWS", constexpr=True), Symbol("BLOCK", constexpr=True)
"""Rows that a program takes, and elements of each at a time: powers of 2 that a call gives by these names."""


def elementwise(*tensors: Tensor, block: int = FLAT) -> tuple[Tensor, ...]:
    """Return tensors of one shape arranged in blocks of their elements, in row-major order."""
    return tuple(tensor.flatten().tile((block,)) for tensor in tensors)


def whole_rows(*tensors: Tensor, rows: Any = ROWS, block: Any = BLOCK) -> tuple[Tensor, ...]:
    """Return tensors of one shape arranged in tiles of whole rows; numbers and constants stay as they are."""
    return tuple(tensor.flatten(end_dim=-1).tile((rows, block)) if tensor.ndim else tensor for tensor in tensors)


def blocks_of_rows(*tensors: Tensor, rows: Any = ROWS, block: Any = BLOCK) -> tuple[Tensor, ...]:
    """Return the same with the rows of a tile cut into blocks, which an application indexes."""
    return tuple(_in_blocks(tile) if tile.ndim else tile for tile in whole_rows(*tensors, rows=rows, block=block))


def _in_blocks(tiles: Tensor) -> Tensor:
    along = tiles.tile((1, -1))
    along.dtype = along.dtype.squeeze(0)
    return along


def with_axes(x: torch.Tensor, least: int = 1) -> torch.Tensor:
    """Return ``x`` as a view of at least so many axes: there is nothing to tile in a number."""
    return x[(None,) * (least - x.dim())]


def near(x: torch.Tensor) -> torch.Tensor:
    """Return ``x``, or a copy of it where its strides reach further than its elements need."""
    return x if _reach(x) <= max(REACH, x.numel()) else x.contiguous()


def parts(*tensors: torch.Tensor, axis: int = 0) -> Iterator[tuple[torch.Tensor, ...]]:
    """Yield parts of ``tensors`` along an axis, each near enough for offsets of 32 bits.

    Raises ValueError where even one row of that axis reaches further.
    """
    if all(_reach(x) <= REACH for x in tensors):
        yield tensors
    elif tensors[0].shape[axis] < 2:
        raise ValueError(f"offsets of 32 bits do not reach all of tensors of {[list(x.shape) for x in tensors]}")
    else:
        for half in zip(*(x.chunk(2, axis) for x in tensors), strict=True):
            yield from parts(*half, axis=axis)


def _reach(x: torch.Tensor) -> int:
    """Return how many elements there are from the first to the last one of ``x``."""
    return 1 + sum((size - 1) * step for size, step in zip(x.shape, x.stride(), strict=True))


def power_of_2(size: int) -> int:
    """Return the smallest power of 2 that is not less than ``size``, and 1 for none."""
    return 1 << max(size - 1, 0).bit_length()


def wide(dtype: torch.dtype) -> Any:
    """Return the dtype that contracts compute ``dtype`` in."""
    return tl.float64 if dtype == torch.float64 else tl.float32
