"""Rungs in Triton that are right and slow on purpose."""

import torch
import triton
import triton.language as tl

from kernels import implementation


@triton.jit
def _contiguous(x, out, count, LOADS: tl.constexpr, BLOCK: tl.constexpr):
    for start in range(tl.program_id(0) * BLOCK, count, tl.num_programs(0) * BLOCK):
        index = start + tl.arange(0, BLOCK)
        inside = index < count
        for number in range(1, LOADS + 1):
            tl.load(x + (index + number * 4099) % count, mask=inside, other=0, volatile=True)
        value = tl.load(x + index, mask=inside, other=0)
        tl.store(out + index, tl.where(value <= 0, tl.zeros_like(value), value), mask=inside)


_UNHINTED = triton.jit(_contiguous.fn, do_not_specialize_on_alignment=["x", "out"])


def _launched(kernel, x, programs=None, loads=0):
    if not x.is_contiguous():
        return torch.relu(x).contiguous()
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if count := out.numel():
        kernel[(programs or triton.cdiv(count, 1024),)](x, out, count, LOADS=loads, BLOCK=1024)
    return out


@implementation("relu", paradigm="triton", optimizes="contiguous", technique="planted: needless loads")
def loads_needlessly(x):
    """Reads 64 elements beside each that it needs."""
    return _launched(_contiguous, x, loads=64)


@implementation("relu", paradigm="triton", optimizes="contiguous", technique="planted: a fixed grid")
def on_a_fixed_grid(x):
    """Has four programs, whatever there is to do."""
    return _launched(_contiguous, x, programs=4)


@implementation("relu", paradigm="triton", optimizes="contiguous", technique="planted: no hint of alignment")
def unhinted(x):
    """Does not tell the compiler that its tensors are aligned, so that each element is moved alone."""
    return _launched(_UNHINTED, x)
