"""OpenCL kernels with the faults that OpenCL kernels have: bounds, tails, a maximum that drops NaN."""

import torch

from kernels import implementation
from kernels.toolchains.opencl import launch
from suites.meta.mutants import fault

_RELU = r"""
__kernel void one_too_many(__global const T *x, long x_at, __global T *out, long out_at, long count)
{
    const long i = get_global_id(0);
    if (i <= count)
        STORE(out, out_at + i, i < count && !(LOAD(x, x_at + i) <= 0) ? LOAD(x, x_at + i) : (WIDE)0);
}

__kernel void in_place(__global T *x, long x_at, __global T *out, long out_at, long count)
{
    const long i = get_global_id(0);
    if (i < count) {
        STORE(x, x_at + i, LOAD(x, x_at + i) <= 0 ? (WIDE)0 : LOAD(x, x_at + i));
        STORE(out, out_at + i, LOAD(x, x_at + i));
    }
}

__kernel void nan_dropped(__global const T *x, long x_at, __global T *out, long out_at, long count)
{
    const long i = get_global_id(0);
    if (i < count)
        STORE(out, out_at + i, fmax(LOAD(x, x_at + i), (WIDE)0));
}
"""


def _relu(kernel, x, missing=0):
    out = torch.empty(x.shape, dtype=x.dtype)
    if not x.is_contiguous():
        return torch.relu(x)
    if (count := out.numel()) > missing:
        launch(_RELU, kernel, [count - missing + 1], [x, out, count - missing], dtype=x.dtype)
    return out


@fault("bounds", "tilelang#2979")
@implementation("relu", paradigm="opencl", dtypes=("float32",))
def wrong_one_too_many(x):
    """The comparison with the end says <=."""
    return _relu("one_too_many", x)


@fault("inputs", "InfiniCore#1207")
@implementation("relu", paradigm="opencl", dtypes=("float32",))
def wrong_input_overwritten(x):
    """Works in place first."""
    return _relu("in_place", x)


@fault("F4", "pytorch#130295")
@implementation("relu", paradigm="opencl", dtypes=("float32",))
def wrong_nan_dropped(x):
    """fmax returns the number when the other argument is a NaN."""
    return _relu("nan_dropped", x)


@fault("F10", "grouped_gemm#36")
@implementation("relu", paradigm="opencl", dtypes=("float32",))
def wrong_last_unwritten(x):
    """The count is one short."""
    return _relu("nan_dropped", x, missing=1)
