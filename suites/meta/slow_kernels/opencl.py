"""Rungs in OpenCL that are right and slow on purpose."""

import torch

from kernels import implementation
from kernels.toolchains.opencl import launch

_RELU = r"""
__kernel void loading(__global const T *x, long x_at, __global T *out, long out_at, long count)
{
    const long i = get_global_id(0);
    if (i >= count)
        return;
    volatile __global const T *again = x + x_at;
    for (long k = 1; k <= 64; k++)
        again[(i + k * 4099) % count];
    const WIDE value = LOAD(x, x_at + i);
    STORE(out, out_at + i, value <= 0 ? (WIDE)0 : value);
}

__kernel void striding(__global const T *x, long x_at, __global T *out, long out_at, long count)
{
    for (long first = 0; first < 4099; first++)
        for (long i = first + 4099 * get_global_id(0); i < count; i += 4099 * get_global_size(0)) {
            const WIDE value = LOAD(x, x_at + i);
            STORE(out, out_at + i, value <= 0 ? (WIDE)0 : value);
        }
}
"""


def _relu(kernel, x, items):
    if not x.is_contiguous():
        return torch.relu(x).contiguous()
    out = torch.empty(x.shape, dtype=x.dtype)
    if count := out.numel():
        launch(_RELU, kernel, [items or count], [x, out, count], dtype=x.dtype)
    return out


@implementation("relu", paradigm="opencl", optimizes="vectorized", technique="planted: needless loads")
def loads_needlessly(x):
    """Reads 64 elements beside each that it needs."""
    return _relu("loading", x, 0)


@implementation("relu", paradigm="opencl", optimizes="vectorized", technique="planted: a fixed grid")
def on_a_fixed_grid(x):
    """Has one work-item, whatever there is to do."""
    return _relu("striding", x, 1)
