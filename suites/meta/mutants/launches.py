"""Triton kernels launched wrongly: programs that run twice, grids that end, masks, carries, configurations."""

import torch
import triton
import triton.language as tl

from kernels import implementation
from suites.meta.mutants import fault

FLOATS = ("float32", "float16")


@triton.jit
def _sum_rows(x, out, rows, length, BLOCK: tl.constexpr, FAULT: tl.constexpr):
    """Add a row up, in blocks, with one fault or none."""
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((), tl.float32)
    for start in range(0, length, BLOCK):
        column = start + tl.arange(0, BLOCK)
        inside = column < length
        if FAULT == "column by its block":
            inside = tl.arange(0, BLOCK) < length
        total += tl.sum(tl.load(x + row * length + column, mask=inside, other=0).to(tl.float32), 0)
        if FAULT == "blocks in a narrow sum":
            total = total.to(tl.float16).to(tl.float32)
    tl.store(out + row, total)


def _summed(x, dim, fault_name="", most=None):
    rows = x.movedim(dim, -1).contiguous()
    out = torch.empty(rows.shape[:-1], dtype=x.dtype, device=x.device)
    programs = out.numel() if most is None else min(out.numel(), most)
    if programs:
        _sum_rows[(programs,)](rows, out, out.numel(), rows.shape[-1], 64, fault_name)
    return out


@implementation("sum", paradigm="triton", dtypes=FLOATS)
def rows_in_blocks(x, *, dim):
    """Rows added up as they should be: the twin of those that follow."""
    return _summed(x, dim)


@fault("F2", "intel-xpu-backend-for-triton#1125")
@implementation("sum", paradigm="triton", dtypes=FLOATS)
def wrong_mask_of_the_first_block(x, *, dim):
    """Masks every block by its own columns, so that the last one reads into the next row."""
    return _summed(x, dim, "column by its block")


@fault("F15", "aotriton#179")
@implementation("sum", paradigm="triton", dtypes=FLOATS)
def wrong_sum_of_blocks_in_float16(x, *, dim):
    """Carries the sum from block to block in float16."""
    return _summed(x, dim, "blocks in a narrow sum")


@fault("F22", "flashinfer#3125")
@implementation("sum", paradigm="triton", dtypes=FLOATS)
def wrong_grid_of_256(x, *, dim):
    """Has one program for each of 256 rows, as many as were tried."""
    return _summed(x, dim, most=256)


@triton.jit
def _add(x, y, out, count, BLOCK: tl.constexpr, FAULT: tl.constexpr):
    program = tl.program_id(0)
    index = program * BLOCK + tl.arange(0, BLOCK)
    if FAULT == "second half of the first program":
        inside = (index < count) & ((program > 0) | (index < BLOCK // 2))
    else:
        inside = index < count
    left, right = tl.load(x + index, mask=inside, other=0), tl.load(y + index, mask=inside, other=0)
    if FAULT == "twice":
        tl.atomic_add(out + index, left + right, mask=inside)
    else:
        tl.store(out + index, left + right, mask=inside)


def _added(x, y, fault_name="", block=32):
    x, y = (tensor.contiguous() for tensor in torch.broadcast_tensors(x, y))
    out = (torch.zeros if fault_name == "twice" else torch.empty)(x.shape, dtype=x.dtype, device=x.device)
    if out.numel():
        programs = triton.cdiv(out.numel(), block)
        for _ in range(1 + (fault_name == "twice" and programs > 40)):
            _add[(programs,)](x, y, out, out.numel(), block, fault_name)
    return out


@implementation("add", paradigm="triton", dtypes=FLOATS)
def in_blocks_of_32(x, y):
    """Two tensors added as they should be: the twin of those that follow."""
    return _added(x, y)


@fault("F30", "triton#11153")
@implementation("add", paradigm="triton", dtypes=FLOATS)
def wrong_half_of_the_first_program(x, y):
    """The first program leaves half of its block unwritten."""
    return _added(x, y, "second half of the first program")


@fault("F31", "libtriton_jit#51")
@implementation("add", paradigm="triton", dtypes=("float32",))
def wrong_programs_run_again(x, y):
    """Adds atomically into zeros, and beyond 40 programs all of them run again."""
    return _added(x, y, "twice")


@fault("F8", "triton#6547")
@implementation("add", paradigm="triton", dtypes=FLOATS)
def wrong_block_of_the_last_call(x, y):
    """Launches as many programs as the block of the call before would need."""
    global _block
    block, _block = _block, 64 if x.numel() > 100 else 32
    x, y = (tensor.contiguous() for tensor in torch.broadcast_tensors(x, y))
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if out.numel():
        _add[(triton.cdiv(out.numel(), block),)](x, y, out, out.numel(), _block, "")
    return out


_block = 32


@triton.jit
def _clamp(x, out, count, low, high, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + index, mask=index < count, other=0)
    tl.store(out + index, tl.minimum(tl.maximum(value, low), high).to(value.dtype), mask=index < count)


@fault("F5", "tilelang#3024")
@implementation("clamp", paradigm="triton", dtypes=FLOATS)
def wrong_numbers_for_nan(x, *, min, max):
    """tl.minimum and tl.maximum drop NaN unless they are told not to."""
    x = x.contiguous()
    out = torch.empty_like(x)
    low, high = -float("inf") if min is None else float(min), float("inf") if max is None else float(max)
    if out.numel():
        _clamp[(triton.cdiv(out.numel(), 64),)](x, out, out.numel(), low, high, 64)
    return out


@triton.jit
def _transpose(x, out, high, wide, TILE: tl.constexpr, FAULT: tl.constexpr):
    row = tl.program_id(0) * TILE + tl.arange(0, TILE)[:, None]
    column = tl.program_id(1) * TILE + tl.arange(0, TILE)[None, :]
    inside = (row < high) & (column < wide)
    tile = tl.load(x + row * wide + column, mask=inside, other=0)
    if FAULT:  # the pitch of the result is that of the input
        inside = inside & (column * wide + row < high * wide)
        tl.store(out + column * wide + row, tile, mask=inside)
    else:
        tl.store(out + column * high + row, tile, mask=inside)


def _transposed(x, wrong):
    matrices = x.contiguous().flatten(0, -3) if x.ndim > 2 else x.contiguous()[None]
    out = torch.empty(*x.shape[:-2], x.shape[-1], x.shape[-2], dtype=x.dtype, device=x.device)
    if out.numel():
        for matrix, result in zip(matrices, out.view(-1, *out.shape[-2:]), strict=True):
            grid = tuple(triton.cdiv(size, 16) for size in matrix.shape)
            _transpose[grid](matrix, result, *matrix.shape, 16, wrong)
    return out


@implementation("transpose", paradigm="triton", dtypes=FLOATS)
def tiles_of_16(x):
    """Matrices transposed as they should be: the twin of the next."""
    return _transposed(x, False)


@fault("F6", "LightLLM#1467")
@implementation("transpose", paradigm="triton", dtypes=FLOATS)
def wrong_pitch_of_the_result(x):
    """Stores by the pitch of the input, which is right for square matrices."""
    return _transposed(x, True)


@triton.jit
def _scan(x, out, length, BLOCK: tl.constexpr, FAULT: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    before = tl.zeros((), tl.float32)
    for start in range(0, length, BLOCK):
        column = start + tl.arange(0, BLOCK)
        block = tl.load(x + row * length + column, mask=column < length, other=0).to(tl.float32)
        tl.store(out + row * length + column, tl.cumsum(block, 0) + before, mask=column < length)
        total = tl.sum(block, 0)
        before = total if FAULT else before + total


def _scanned(x, dim, reverse, wrong):
    rows = (x.flip(dim) if reverse else x).movedim(dim, -1).contiguous()
    out = torch.empty_like(rows)
    if out.numel():
        _scan[(out.numel() // rows.shape[-1],)](rows, out, rows.shape[-1], 32, wrong)
    out = out.movedim(-1, dim)
    return (out.flip(dim) if reverse else out).contiguous()


@implementation("cumsum", paradigm="triton", dtypes=FLOATS)
def blocks_of_32(x, *, dim, reverse):
    """Rows scanned as they should be: the twin of the next."""
    return _scanned(x, dim, reverse, False)


@fault("F17", "ROCm/triton#947")
@implementation("cumsum", paradigm="triton", dtypes=FLOATS)
def wrong_carry_of_one_block(x, *, dim, reverse):
    """Carries the sum of the block before alone."""
    return _scanned(x, dim, reverse, True)


@triton.jit
def _divide(x, y, out, count, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    left = tl.load(x + index, mask=index < count, other=0)
    right = tl.load(y + index, mask=index < count, other=1)
    tl.store(out + index, left // tl.where(right == 0, 1, right), mask=index < count)


@fault("F11", "triton#619")
@implementation("floor_divide", paradigm="triton", dtypes=("int32",))
def wrong_truncated_division(x, y):
    """Triton's // truncates as C's / does."""
    x, y = (tensor.contiguous() for tensor in torch.broadcast_tensors(x, y))
    out = torch.empty_like(x)
    if out.numel():
        _divide[(triton.cdiv(out.numel(), 64),)](x, y, out, out.numel(), 64)
    return out


@triton.jit
def _norm(x, weight, out, length, eps, BLOCK: tl.constexpr, FAULT: tl.constexpr):
    row, column = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    inside = column < length
    value = tl.load(x + row * length + column, mask=inside, other=0).to(tl.float32)
    mean = tl.sum(value, 0) / length
    away = value - mean
    if not FAULT:
        away = tl.where(inside, away, 0.0)
    root = 1 / tl.sqrt_rn(tl.sum(away * away, 0) / length + eps)
    tl.store(out + row * length + column, away * root * tl.load(weight + column, mask=inside, other=0), mask=inside)


@fault("F1", "triton#9838")
@implementation("layer_norm", paradigm="triton", dtypes=FLOATS)
def wrong_lanes_in_the_variance(x, weight, bias, *, eps):
    """Lanes beyond a row are as far from the mean as zero is."""
    rows, weight = x.contiguous(), weight.contiguous()
    out = torch.empty(x.shape, dtype=torch.float32, device=x.device)
    if out.numel():
        n = x.shape[-1]
        _norm[(x.numel() // n,)](rows, weight, out, n, eps, triton.next_power_of_2(n), True)
    return (out + bias).to(x.dtype)
