"""Triton kernels with the faults that Triton kernels have: masks, tails, overlapping programs, a default precision."""

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.gemm.triton import _empty_product, _multiply
from suites.meta.mutants import fault

BLOCK = 64


@triton.jit
def _relu(x, out, n, fault: tl.constexpr, block: tl.constexpr):
    index = tl.program_id(0) * block + tl.arange(0, block)
    if fault == "overlapping programs":  # each program also writes, otherwise, where the next one begins
        index = tl.program_id(0) * block + tl.arange(0, 2 * block)
    mask = index < n
    value = tl.load(x + index) if fault == "load without mask" else tl.load(x + index, mask=mask, other=0)
    result = tl.where(value > 0, value, 0) if fault == "NaN dropped" else tl.where(value < 0, 0, value)
    if fault == "overlapping programs":
        result = tl.where(tl.arange(0, 2 * block) < block, result, value)
    tl.store(out + index, result, mask=(index <= n) if fault == "one too many" else mask)


def _launch(x, fault, missing=0):
    x = x.contiguous()
    out = torch.empty_like(x)
    programs = triton.cdiv(x.numel(), BLOCK) - missing
    if programs > 0:
        _relu[(programs,)](x, out, x.numel(), fault, BLOCK)
    return out


@fault("bounds", "tilelang#2979")
@implementation("relu", paradigm="triton")
def wrong_one_too_many(x):
    """The mask of the store says <=."""
    return _launch(x, "one too many")


@fault("F2", "intel-xpu-backend-for-triton#1125")
@implementation("relu", paradigm="triton")
def wrong_load_without_mask(x):
    """Reads past the end; a device may forgive it, or not."""
    return _launch(x, "load without mask")


@fault("F4", "triton#10291")
@implementation("relu", paradigm="triton")
def wrong_nan_dropped(x):
    """A comparison that NaN fails."""
    return _launch(x, "NaN dropped")


@fault("F29", "triton#10743")
@implementation("relu", paradigm="triton")
def wrong_overlapping_programs(x):
    """The last writer wins, and which one that is the device decides."""
    return _launch(x, "overlapping programs")


@fault("F25", "triton#5048")
@implementation("relu", paradigm="triton")
def wrong_last_tile_unwritten(x):
    """The grid is one program short."""
    return _launch(x, "", missing=1)


@fault("F16", "triton#10176")
@implementation("gemm", paradigm="triton", dtypes=("float32",))
def wrong_tf32_undeclared(a, b):
    """Leaves tl.dot at its default precision, which is tf32 where there is a unit for it."""
    out = _empty_product(a, b)
    _multiply(a, b, out, span=a.shape[-1], group=1, precision="tf32")
    return out


@triton.jit
def _softmax(x, out, width, filled: tl.constexpr, block: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, block)
    mask = lane < width
    place = row * width + lane
    value = (tl.load(x + place, mask=mask, other=0.0) if filled else tl.load(x + place, mask=mask)).to(tl.float32)
    exponential = tl.exp(value - tl.max(value, 0))
    tl.store(out + place, (exponential / tl.sum(exponential, 0)), mask=mask)


def _rows(x, dim, filled):
    rows = x.movedim(dim, -1).contiguous()
    out = torch.empty_like(rows)
    if rows.numel():
        width = rows.shape[-1]
        _softmax[(rows.numel() // width,)](rows, out, width, filled, triton.next_power_of_2(width))
    return out.movedim(-1, dim)


@fault("F1", "triton#9838")
@implementation("softmax", paradigm="triton", dtypes=("float32", "float16", "bfloat16"))
def wrong_padded_lanes_counted(x, *, dim):
    """Lanes past the end of a row enter the sum as exp(0 - max)."""
    return _rows(x, dim, True)


@fault("F2", "intel-xpu-backend-for-triton#1125")
@implementation("softmax", paradigm="triton", dtypes=("float32", "float16", "bfloat16"))
def wrong_lanes_undefined(x, *, dim):
    """Lanes past the end of a row hold what the device likes."""
    return _rows(x, dim, False)
