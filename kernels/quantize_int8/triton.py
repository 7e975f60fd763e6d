"""quantize_int8 in Triton: blocks of elements in the order of the output, or rows a program."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import BLOCK, inner_sizes, launch_flat, nearest_integer, offsets, places, strides


@triton.jit
def _whole(quotient, ADDED: tl.constexpr):
    """Return the int8 nearest to each quotient, ADDED to a large number or put together from floors and comparisons."""
    if ADDED:
        # Beside 1.5 * 2**23 a float32 has no bits for fractions, so that the sum is rounded, ties to even, and ends in
        # the bits of the whole number: no conversion is left, of which hardware does few at a time.
        held = tl.minimum(tl.maximum(quotient, -128.0), 127.0)
        whole = (held + 12582912.0).to(tl.int32, bitcast=True)
    else:
        whole = tl.minimum(tl.maximum(nearest_integer(quotient), -128.0), 127.0)
    return whole.to(tl.int8)


@triton.jit
def _flat(
    x, scale, out, count, size1, size2, size3, x0, x1, x2, x3, s0, s1, s2, s3,
    BLOCK: tl.constexpr, CONTIGUOUS: tl.constexpr,
):  # fmt: skip
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    value = tl.load(x + places(index, size1, size2, size3, x0, x1, x2, x3, CONTIGUOUS), mask=inside, other=0)
    divisor = tl.load(scale + places(index, size1, size2, size3, s0, s1, s2, s3, CONTIGUOUS), mask=inside, other=1.0)
    value = value.to(tl.float32)
    tl.store(out + index, _whole(value / divisor, False), mask=inside)


@triton.jit
def _by_rows(
    x, scale, out, rows, columns, size1, size2, size3, x0, x1, x2, x3, s0, s1, s2, s3, step,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, ADDED: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    first = x + offsets(row, size1, size2, size3, x0, x1, x2, x3)
    divisor = tl.load(scale + offsets(row, size1, size2, size3, s0, s1, s2, s3), mask=row < rows, other=1.0)
    for start in range(0, columns, BLOCK):
        column = (start + tl.arange(0, BLOCK).to(tl.int64))[None, :]
        inside = (row < rows) & (column < columns)
        value = tl.load(first + column * step, mask=inside, other=0).to(tl.float32)
        tl.store(out + row * columns + column, _whole(value / divisor, ADDED), mask=inside)


@implementation("quantize_int8", paradigm="triton")
def flat(x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """Return ``x / scale`` in int8, rounded and saturated, with a scale for each row."""
    out = torch.empty(x.shape, dtype=torch.int8, device=x.device)
    launch_flat(_flat, (x, scale[..., None].expand_as(x)), (out,))
    return out


def _launch_rows(x: torch.Tensor, scale: torch.Tensor, *, longest: int, added: bool) -> torch.Tensor:
    """Return the quantized rows of ``x``, of one or several of which a program holds ``longest`` elements at a time."""
    out = torch.empty(x.shape, dtype=torch.int8, device=x.device)
    if count := out.numel():
        *outer, columns = x.shape
        *outer_steps, step = x.stride()
        rows, block = count // columns, min(longest, triton.next_power_of_2(columns))
        together = max(1, BLOCK // block)
        _by_rows[(triton.cdiv(rows, together),)](
            x, scale, out, rows, columns, *inner_sizes(outer), *strides(outer_steps), *strides(scale.stride()), step,
            ROWS=together, BLOCK=block, ADDED=added,
        )  # fmt: skip
    return out


@implementation(
    "quantize_int8", paradigm="triton", optimizes="flat", technique="whole rows a program, a scale read once"
)
def by_rows(x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """Return what :func:`flat` does, with one row or several short ones a program."""
    return _launch_rows(x, scale, longest=BLOCK, added=False)


@implementation("quantize_int8", paradigm="triton", optimizes="by_rows", technique="rounding by an addition")
def added(x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """Return what :func:`by_rows` does, rounded by the float32 adder."""
    return _launch_rows(x, scale, longest=BLOCK, added=True)
