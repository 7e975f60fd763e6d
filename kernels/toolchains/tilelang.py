"""What the TileLang files share: a program compiled for where its tensors are, and how these are laid out for it.

Programs take contiguous tensors of symbolic sizes, so that one compiled form serves all shapes. Others are copied
first.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import tilelang
import torch

THREADS = 128
"""Threads a block."""

VECTOR = 8
"""Elements of two bytes that are moved at once, and that bulk copies take rows to be multiples of."""

TILE = 1024
"""Elements that a block of threads holds at a time of rows that are reduced."""

WIDTHS = (64, TILE, 8192)
"""Elements of a row that a block of threads holds at once: few values, since each is compiled. Registers hold 8192."""

GRID = 65535
"""Blocks that every device takes along the second and third axes of a grid."""

_ALIGNMENT = 16  # bytes

Program = Callable[..., Any]
"""A function of dtype names that returns a ``T.prim_func``."""

tilelang.set_log_level("WARNING")


def compiled(program: Program, x: torch.Tensor, *more: Any) -> Callable[..., Any]:
    """Return ``program`` for the dtype and the device of ``x``, built once; raises what the compiler raises."""
    # On a processor TileLang writes C; what a device takes it finds out by itself.
    return built(program, "c" if x.device.type == "cpu" else "auto", str(x.dtype).removeprefix("torch."), *more)


@functools.cache
def built(program: Program, target: str, *arguments: Any) -> Callable[..., Any]:
    """Return what TileLang makes of ``program(*arguments)`` for a target; raises what it raises."""
    return tilelang.compile(program(*arguments), target=target)


def wide(dtype: str) -> str:
    """Return the name of the dtype that contracts compute ``dtype`` in."""
    return {"float16": "float32", "bfloat16": "float32"}.get(dtype, dtype)


def aligned(x: torch.Tensor) -> torch.Tensor:
    """Return ``x`` contiguous and at a multiple of 16 bytes, as vectors need it; a copy where it lies otherwise."""
    x = x.contiguous()
    return x if x.data_ptr() % _ALIGNMENT == 0 else x.clone()


def rows_of(x: torch.Tensor, dim: int) -> torch.Tensor:
    """Return ``x`` as aligned rows, (rows, size), along ``dim``; it has elements."""
    return aligned(x.movedim(dim, -1)).view(-1, x.shape[dim])


def in_vectors(x: torch.Tensor) -> torch.Tensor:
    """Return ``x`` aligned, with zeros at the end of its rows that make them multiples of :data:`VECTOR`."""
    return aligned(torch.nn.functional.pad(x, (0, -x.shape[-1] % VECTOR)))


def in_grids(*tensors: torch.Tensor) -> Iterator[tuple[torch.Tensor, ...]]:
    """Yield ``tensors`` in parts along their first axis, each of which the third axis of a grid has room for."""
    yield from zip(*(x.split(GRID) for x in tensors), strict=True)


def tile_of(n: int, widest: int = TILE) -> tuple[int, int, bool]:
    """Return the rows and columns of a tile of rows of ``n`` elements, and whether it is moved in vectors."""
    width = next((width for width in WIDTHS if n <= width < widest), widest)
    return max(1, TILE // width), width, width >= TILE and n % VECTOR == 0
