"""rms_norm in Triton: a program takes a long row or several short ones, a piece of a long row, or a row whole."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import (
    LONGEST_BLOCK,
    ROW_SIZES,
    TILE,
    along,
    covering,
    inner_sizes,
    offsets,
    row_block,
    wide,
    wide_in_torch,
)

# A number that is an argument reaches a kernel as float32, which is too little for float64: it must be a constant.


@triton.jit
def _write(target, inside, start, length, normal, weight, weight_step, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    """Write one block of normalized rows, scaled."""
    column = start + tl.arange(0, BLOCK).to(tl.int64)[None, :]
    scale = tl.load(weight + column * weight_step, mask=column < length, other=0).to(WIDE)
    tl.store(target + column, normal * scale, mask=inside & (column < length))


@triton.jit(do_not_specialize=ROW_SIZES)
def _two_pass(
    x, weight, out, rows, length, size1, size2, size3, x0, x1, x2, x3, step, weight_step,
    EPS: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    source, inside = x + offsets(row, size1, size2, size3, x0, x1, x2, x3), row < rows
    squares = tl.zeros((ROWS, 1), WIDE)
    for start in range(0, length, BLOCK):
        block = row_block(source, inside, start, length, step, 0, BLOCK, WIDE)
        squares += tl.sum(block * block, 1, keep_dims=True)
    scale = 1 / tl.sqrt(squares / length + EPS)
    for start in range(0, length, BLOCK):
        normal = row_block(source, inside, start, length, step, 0, BLOCK, WIDE) * scale
        _write(out + row * length, inside, start, length, normal, weight, weight_step, BLOCK, WIDE)


@triton.jit(do_not_specialize=ROW_SIZES)
def _one_block(
    x, weight, out, rows, length, size1, size2, size3, x0, x1, x2, x3, step, weight_step,
    EPS: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    inside = row < rows
    block = row_block(x + offsets(row, size1, size2, size3, x0, x1, x2, x3), inside, 0, length, step, 0, BLOCK, WIDE)
    scale = 1 / tl.sqrt(tl.sum(block * block, 1, keep_dims=True) / length + EPS)
    _write(out + row * length, inside, 0, length, block * scale, weight, weight_step, BLOCK, WIDE)


@triton.jit(do_not_specialize=ROW_SIZES)
def _lane_by_lane(
    x, weight, out, rows, length, size1, size2, size3, x0, x1, x2, x3, step, weight_step,
    EPS: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    source, inside = x + offsets(row, size1, size2, size3, x0, x1, x2, x3), row < rows
    squares = tl.zeros((ROWS, BLOCK), WIDE)
    for start in range(0, length, BLOCK):
        block = row_block(source, inside, start, length, step, 0, BLOCK, WIDE)
        squares += block * block
    scale = 1 / tl.sqrt(tl.sum(squares, 1, keep_dims=True) / length + EPS)
    for start in range(0, length, BLOCK):
        normal = row_block(source, inside, start, length, step, 0, BLOCK, WIDE) * scale
        _write(out + row * length, inside, start, length, normal, weight, weight_step, BLOCK, WIDE)


@triton.jit
def _squares_of_piece(
    x, parts, rows, length, size1, size2, size3, x0, x1, x2, x3, step, pieces,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr, ATOMIC: tl.constexpr,
):  # fmt: skip
    """Store the sum of squares of one piece of each row in ``parts`` (rows, pieces), or add it to ``parts`` (rows)."""
    program = tl.program_id(0).to(tl.int64)
    row, piece = program // pieces * ROWS + tl.arange(0, ROWS)[:, None], program % pieces
    source, inside = x + offsets(row, size1, size2, size3, x0, x1, x2, x3), row < rows
    block = row_block(source, inside, piece * BLOCK, length, step, 0, BLOCK, WIDE)
    squares = tl.sum(block * block, 1, keep_dims=True)
    if ATOMIC:
        tl.atomic_add(parts + row, squares, mask=inside, sem="relaxed")
    else:
        tl.store(parts + row * pieces + piece, squares, mask=inside)


@triton.jit
def _write_piece(
    x, weight, parts, out, rows, length, size1, size2, size3, x0, x1, x2, x3, step, weight_step, pieces, count,
    EPS: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, COUNT: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Write one piece of each normalized row, whose sum of squares is that of its ``count`` parts, up to COUNT."""
    program = tl.program_id(0).to(tl.int64)
    row, piece = program // pieces * ROWS + tl.arange(0, ROWS)[:, None], program % pieces
    source, inside = x + offsets(row, size1, size2, size3, x0, x1, x2, x3), row < rows
    part = tl.arange(0, COUNT)[None, :]
    squares = tl.load(parts + row * count + part, mask=inside & (part < count), other=0)
    scale = 1 / tl.sqrt(tl.sum(squares, 1, keep_dims=True) / length + EPS)
    normal = row_block(source, inside, piece * BLOCK, length, step, 0, BLOCK, WIDE) * scale
    _write(out + row * length, inside, piece * BLOCK, length, normal, weight, weight_step, BLOCK, WIDE)


def _launch(kernel: Any, x: torch.Tensor, weight: torch.Tensor, eps: float, block: int) -> torch.Tensor:
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if not out.numel():
        return out
    rows, together = out.numel() // x.shape[-1], max(1, TILE // block)
    kernel[(triton.cdiv(rows, together),)](
        x, weight, out, rows, x.shape[-1], *inner_sizes(x.shape[:-1]), *along(x, -1), weight.stride(0),
        EPS=eps, ROWS=together, BLOCK=block, WIDE=wide(x.dtype),
    )  # fmt: skip
    return out


def _in_pieces(x: torch.Tensor, weight: torch.Tensor, eps: float, *, atomic: bool) -> torch.Tensor:
    """Return ``x`` normalized by a program for each piece of a row, once for its squares and once to write it."""
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if not out.numel():
        return out
    length, block = x.shape[-1], covering(x.shape[-1])
    rows, pieces, together = out.numel() // length, triton.cdiv(length, block), max(1, TILE // block)
    make, count = (torch.zeros, 1) if atomic else (torch.empty, pieces)
    parts = make((rows, count), dtype=wide_in_torch(x.dtype), device=x.device)
    grid = (triton.cdiv(rows, together) * pieces,)
    source = (rows, length, *inner_sizes(x.shape[:-1]), *along(x, -1))
    constants = {"ROWS": together, "BLOCK": block, "WIDE": wide(x.dtype)}
    _squares_of_piece[grid](x, parts, *source, pieces, ATOMIC=atomic, **constants)
    _write_piece[grid](
        x, weight, parts, out, *source, weight.stride(0), pieces, count,
        EPS=eps, COUNT=triton.next_power_of_2(count), **constants,
    )  # fmt: skip
    return out


@implementation("rms_norm", paradigm="triton", batch_invariant=True)
def two_pass(x: torch.Tensor, weight: torch.Tensor, *, eps: float) -> torch.Tensor:
    """Return ``x`` normalized along its last axis: a pass for the squares, and one to write."""
    return _launch(_two_pass, x, weight, eps, covering(x.shape[-1]))


@implementation(
    "rms_norm",
    paradigm="triton",
    optimizes="two_pass",
    technique="independent partial sums",
    batch_invariant=True,
)
def vectorized(x: torch.Tensor, weight: torch.Tensor, *, eps: float) -> torch.Tensor:
    """Return ``x`` normalized along its last axis: each lane adds up its own squares, and lanes are summed once."""
    return _launch(_lane_by_lane, x, weight, eps, covering(x.shape[-1]))


@implementation(
    "rms_norm", paradigm="triton", optimizes="two_pass", technique="row kept in registers", batch_invariant=True
)
def one_block(x: torch.Tensor, weight: torch.Tensor, *, eps: float) -> torch.Tensor:
    """Return ``x`` normalized along its last axis: a row of up to :data:`LONGEST_BLOCK` elements is read once."""
    if x.shape[-1] > LONGEST_BLOCK:
        return two_pass(x, weight, eps=eps)
    return _launch(_one_block, x, weight, eps, triton.next_power_of_2(x.shape[-1]))


@implementation("rms_norm", paradigm="triton", optimizes="vectorized", technique="long rows split among programs")
def two_stage(x: torch.Tensor, weight: torch.Tensor, *, eps: float) -> torch.Tensor:
    """Return the same by a program for each piece of a row: all squares first, then all is written."""
    return _in_pieces(x, weight, eps, atomic=False)


@implementation(
    "rms_norm",
    paradigm="triton",
    optimizes="two_stage",
    technique="atomic additions, in no fixed order",
    numerics="flushed",
    deterministic=False,
)
def atomics(x: torch.Tensor, weight: torch.Tensor, *, eps: float) -> torch.Tensor:
    """Return the same; the squares of a row's pieces are added up in memory, so the order is open."""
    return _in_pieces(x, weight, eps, atomic=True)
