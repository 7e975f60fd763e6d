"""What the Triton files share: where the elements of a strided tensor lie.

A kernel gets the strides of its tensors as they are, so that no view is ever copied. All offsets are 64 bits wide:
a tensor of few elements may still reach past 2**31 of them in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import triton
import triton.language as tl

AXES = 4
"""How many axes :func:`offsets` can tell apart."""

BLOCK = 1024
"""Elements a program of :func:`launch_flat`."""

TILE = 1024
"""Elements that a program which goes along rows holds at a time."""

LONGEST_BLOCK = 8192
"""The longest row that a program holds at once; the registers have no room for longer ones."""

ROW_SIZES = ("size1", "size2", "size3")
"""Arguments that only say how many rows there are. A kernel that is compiled apart for a size of 1, or for multiples
of 16, may get other layouts there, and so sum up its rows in another order."""


@triton.jit
def offsets(index, size1, size2, size3, stride0, stride1, stride2, stride3):
    """Return where the elements numbered ``index`` lie, in elements from the first one.

    They are numbered in row-major order over a shape whose last three sizes are given; the first one never matters.
    """
    index = index.to(tl.int64)
    axis3, index = index % size3, index // size3
    axis2, index = index % size2, index // size2
    axis1, axis0 = index % size1, index // size1
    return axis0 * stride0 + axis1 * stride1 + axis2 * stride2 + axis3 * stride3


@triton.jit
def places(index, size1, size2, size3, stride0, stride1, stride2, stride3, CONTIGUOUS: tl.constexpr):
    """Return :func:`offsets`, which are the numbers themselves where the tensor is contiguous."""
    place = index
    if not CONTIGUOUS:
        place = offsets(index, size1, size2, size3, stride0, stride1, stride2, stride3)
    return place


@triton.jit
def nearest_integer(x):
    """Return the whole numbers nearest to a block of floats, the even one of two as near; NaN and infinities stay."""
    size = tl.abs(x)
    below = tl.floor(size)
    rest = size - below  # exact, so that only true ties are taken for ties
    odd = below - 2 * tl.floor(below * 0.5)
    up = tl.where(rest == 0.5, odd, tl.where(rest > 0.5, 1.0, 0.0))
    whole = tl.where(rest > 0, below + up, below)
    return tl.where(x < 0, -whole, whole)


@triton.jit
def tanh(x):
    """Return the hyperbolic tangent of a block, in its own float32 or float64.

    Triton has none that its interpreter knows. Near 0 it is Lambert's continued fraction, which cancels nothing.
    """
    z = x * x
    near = x / (1 + z / (3 + z / (5 + z / (7 + z / (9 + z / (11 + z / (13 + z / 15)))))))
    size = tl.abs(x)
    power = tl.exp(-2 * size)
    far = (1 - power) / (1 + power)
    return tl.where(size < 0.5, near, tl.where(x < 0, -far, far))


@triton.jit
def weighed(scores, peak, total, SCALE: tl.constexpr, BINARY: tl.constexpr):
    """Return a running softmax after a block of ``scores``, times a positive ``SCALE``, has joined it.

    Of each row of the block: exponentials (of two where ``BINARY``) relative to the largest score so far; by what
    sums so far fade, since that has grown; and the new ``peak`` and ``total``.
    """
    # Whatever a maximum makes of a NaN, the sum of exponentials keeps it.
    higher = tl.maximum(peak, tl.max(scores, 1, keep_dims=True) * SCALE)
    # As long as a row has shown nothing but -inf, its exponentials are 0, and not those of -inf minus -inf.
    shift = tl.where(higher == float("-inf"), 0.0, higher)
    if BINARY:
        weights, faded = tl.exp2(scores * SCALE - shift), tl.exp2(peak - shift)
    else:
        weights, faded = tl.exp(scores * SCALE - shift), tl.exp(peak - shift)
    return weights, faded, higher, total * faded + tl.sum(weights, 1, keep_dims=True)


def launch_flat(
    kernel: Any,
    tensors: Sequence[torch.Tensor],
    outs: Sequence[torch.Tensor],
    *,
    fast: bool = False,
    **constants: Any,
) -> None:
    """Run ``kernel`` over the elements of contiguous ``outs`` of one shape, in their order, BLOCK a program.

    It takes the pointers of ``tensors``, which have that shape and any strides, and of ``outs``, the number of
    elements, the last three sizes, four strides of each tensor, and by name BLOCK, CONTIGUOUS and ``constants``.
    CONTIGUOUS says that no strides are needed: if all tensors are contiguous, and ``fast`` asks for it.
    """
    if count := outs[0].numel():
        steps = [step for tensor in tensors for step in strides(tensor.stride())]
        contiguous = fast and all(tensor.is_contiguous() for tensor in tensors)
        grid = (triton.cdiv(count, BLOCK),)
        sizes = inner_sizes(outs[0].shape)
        kernel[grid](*tensors, *outs, count, *sizes, *steps, BLOCK=BLOCK, CONTIGUOUS=contiguous, **constants)


@triton.jit
def row_block(first, inside, start, length, step, other, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    """Return the block of each row that begins at ``start``, with ``other`` where there is no row or no more of it.

    ``first`` points at the first elements of rows, as a column, and ``inside`` says which of these there are.
    """
    column = start + tl.arange(0, BLOCK).to(tl.int64)[None, :]
    return tl.load(first + column * step, mask=inside & (column < length), other=other).to(WIDE)


def launch_rows(kernel: Any, *tensors: torch.Tensor, dim: int, block: int, elements: int = TILE) -> torch.Tensor:
    """Return a new tensor like ``tensors``, all of one shape: ``kernel`` makes its rows along ``dim`` block by block.

    A program holds one block of a row, or of as many rows as make ``elements`` together. The kernel takes the pointers
    of ``tensors`` and of the result, the number of rows and their length, the last three sizes of the other axes, what
    :func:`along` says of each tensor and of the result, and by name ROWS, BLOCK and WIDE.
    """
    first = tensors[0]
    out = torch.empty(first.shape, dtype=first.dtype, device=first.device)
    if out.numel():
        rows, together = out.numel() // out.shape[dim], max(1, elements // block)
        places = [place for tensor in (*tensors, out) for place in along(tensor, dim)]
        kernel[(triton.cdiv(rows, together),)](
            *tensors, out, rows, out.shape[dim], *inner_sizes(without(out.shape, dim)), *places,
            ROWS=together, BLOCK=block, WIDE=wide(out.dtype),
        )  # fmt: skip
    return out


def wide(dtype: torch.dtype) -> tl.dtype:
    """Return the dtype that contracts compute ``dtype`` in."""
    return {torch.float64: tl.float64, torch.int64: tl.int64}.get(dtype, tl.float32)


def wide_in_torch(dtype: torch.dtype) -> torch.dtype:
    """Return the same dtype as PyTorch has it, for what is kept in memory between two kernels."""
    return dtype if dtype in (torch.float64, torch.int64) else torch.float32


def covering(length: int, most: int = TILE) -> int:
    """Return the block for rows of ``length``: the power of two that holds one whole, if that is not above ``most``."""
    return min(most, triton.next_power_of_2(max(length, 1)))


def along(x: torch.Tensor, dim: int) -> tuple[int, ...]:
    """Return where the rows of ``x`` along ``dim`` begin, as :func:`strides` of the other axes, and their step."""
    *steps, step = x.movedim(dim, -1).stride()
    return (*strides(steps), step)


def without(shape: Sequence[int], dim: int) -> tuple[int, ...]:
    """Return ``shape`` without its axis ``dim``."""
    return tuple(size for axis, size in enumerate(shape) if axis != dim % len(shape))


def inner_sizes(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the last three sizes of ``shape`` taken as one of :data:`AXES` axes; raises ValueError for more axes."""
    return _padded(shape, 1)[1:]


def strides(stride: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of a tensor taken as one of :data:`AXES` axes; raises ValueError for more axes."""
    return _padded(stride, 0)


def _padded(values: Sequence[int], filler: int) -> tuple[int, ...]:
    if len(values) > AXES:
        raise ValueError(f"a tensor of {len(values)} axes; these kernels index at most {AXES}")
    return (*[filler] * (AXES - len(values)), *values)
