"""What the Triton files share: where the elements of a strided tensor lie.

A kernel gets the strides of its tensors as they are, so that no view is ever copied. All offsets are 64 bits wide:
a tensor of few elements may still reach past 2**31 of them in memory.
"""

from __future__ import annotations

from collections.abc import Sequence

import triton
import triton.language as tl

AXES = 4
"""How many axes :func:`offsets` can tell apart."""


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
