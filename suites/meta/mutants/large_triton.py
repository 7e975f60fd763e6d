"""Triton kernels whose offsets have 32 bits, as integers have unless a kernel says otherwise."""

import torch
import triton
import triton.language as tl

from kernels import implementation
from suites.meta.mutants import fault


@triton.jit
def _relu(x, out, columns, row_stride, column_stride, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    if WIDE:
        row = row.to(tl.int64)
    value = tl.load(x + row * row_stride + column * column_stride, mask=column < columns, other=0)
    tl.store(out + row * columns + column, tl.where(value < 0, tl.zeros_like(value), value), mask=column < columns)


def _rows(x, wide):
    if x.ndim != 2 or not x.numel():
        return torch.relu(x)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    _relu[(x.shape[0],)](x, out, x.shape[1], *x.stride(), wide, triton.next_power_of_2(x.shape[1]))
    return out


@fault("F9", "flash-linear-attention#1080")
@implementation("relu", paradigm="triton", dtypes=("float32", "int8"))
def wrong_row_times_stride_in_32_bits(x):
    """Takes the number of a program, which has 32 bits, times a stride."""
    return _rows(x, False)


@implementation("relu", paradigm="triton", dtypes=("float32", "int8"))
def row_times_stride_in_64_bits(x):
    """The same, and right."""
    return _rows(x, True)
