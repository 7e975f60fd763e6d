"""Kernels with a tuner one of whose choices is wrong."""

import torch
import triton
import triton.language as tl

from kernels import implementation
from suites.meta.mutants import fault


@triton.jit
def _relu(x, out, count, EACH: tl.constexpr, BLOCK: tl.constexpr):
    start = tl.program_id(0) * EACH
    for step in range(0, EACH, BLOCK):
        index = start + step + tl.arange(0, BLOCK)
        value = tl.load(x + index, mask=index < count, other=0)
        tl.store(out + index, tl.where(value <= 0, tl.zeros_like(value), value), mask=index < count)


@triton.jit
def _half_of_relu(x, out, count, EACH: tl.constexpr, BLOCK: tl.constexpr):
    index = tl.program_id(0) * EACH + tl.arange(0, BLOCK)
    value = tl.load(x + index, mask=index < count, other=0)
    tl.store(out + index, tl.where(value <= 0, tl.zeros_like(value), value), mask=index < count)


def _measured(run, quantiles):
    """Run each choice once, as measuring does, and take the first for the fastest."""
    run()
    return [1.0, 1.0, 1.0]


def _tuned(kernel):
    choices = [triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 32})]
    return triton.autotune(choices, key=["count"], do_bench=_measured)(kernel)


def _launched(tuner, x):
    x = x.contiguous()
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if count := out.numel():
        tuner[(triton.cdiv(count, 64),)](x, out, count, EACH=64)
    return out


_right, _wrong = _tuned(_relu), _tuned(_half_of_relu)


@fault("F8", "triton#9230")
@implementation("relu", paradigm="triton", dtypes=("float32",))
def breaks_tuned(x):
    """Writes half of a block in the choice that is not made here, and may be elsewhere."""
    return _launched(_wrong, x)


@implementation("relu", paradigm="triton", dtypes=("float32",))
def keeps_tuned(x):
    """Is right in every choice: a correct twin."""
    return _launched(_right, x)
