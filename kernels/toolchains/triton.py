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


def wide(dtype: torch.dtype) -> tl.dtype:
    """Return the dtype that contracts compute ``dtype`` in."""
    return tl.float64 if dtype == torch.float64 else tl.float32


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
