"""dequant_gemm in Triton: a program computes one tile, and dequantizes the weights that it multiplies by.

A batch of few rows has few tiles, and what counts is how fast weights are read: by programs that share the sum over k,
and in the order in which matrix units take them, so that nothing moves between threads to be unpacked.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton_products import add_slices, multiprocessors

ROWS, COLUMNS, DEPTH = 32, 64, 32
"""The tile of a program, and how far it goes along k at a time."""

FEW, WARPS, VECTOR = 16, 4, 8
"""Rows of a program that unpacks in registers, the fewest that matrix units take; its warps; and the columns that a
thread reads at once."""

DEPTHS = (64, 32)
"""Rows of packed weights at a time, of one group; matrix units take no fewer."""

_POWERS = {"float16": 0x64006400, "bfloat16": 0x43004300}
"""A power of two in both halves of a word, 1024 or 128, the last bit of which counts as 1."""

PROGRAMS = 4
"""Programs that each multiprocessor gets where a sum is split."""


@triton.jit
def _tiled(
    a, packed, scales, zeros, out, m, n, k, group, chunk, a_row, a_step, packed_row, packed_step,
    scales_row, scales_step, zeros_row, zeros_step,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, HALVES: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * M + tl.arange(0, M)[:, None]
    column = tl.program_id(1).to(tl.int64) * N + tl.arange(0, N)[None, :]
    begin = tl.program_id(2) * chunk
    total = tl.zeros((M, N), tl.float32)
    for start in range(begin, tl.minimum(begin + chunk, k), K):
        across = (start + tl.arange(0, K)).to(tl.int64)[None, :]
        down = (start + tl.arange(0, K)).to(tl.int64)[:, None]
        inside = (down < k) & (column < n)
        left = tl.load(a + row * a_row + across * a_step, mask=(row < m) & (across < k), other=0.0)
        if HALVES:
            codes = tl.load(packed + down // 2 * packed_row + column * packed_step, mask=inside, other=0).to(tl.int32)
            codes = (codes >> (down % 2 * 4).to(tl.int32)) & 15
        else:
            codes = tl.load(packed + down * packed_row + column * packed_step, mask=inside, other=0).to(tl.int32)
        shared = down // group
        zero = tl.load(zeros + shared * zeros_row + column * zeros_step, mask=inside, other=0).to(tl.int32)
        scale = tl.load(scales + shared * scales_row + column * scales_step, mask=inside, other=0.0).to(tl.float32)
        weights = ((codes - zero).to(tl.float32) * scale).to(left.dtype)
        total = tl.dot(left, weights, total, input_precision="ieee", out_dtype=tl.float32)
    target = out + tl.program_id(2).to(tl.int64) * m * n + row * n + column
    tl.store(target, total, mask=(row < m) & (column < n))


@triton.jit
def _halves(pairs, SHIFT: tl.constexpr, MASK, MAGIC, zero, scale, K: tl.constexpr, N: tl.constexpr):
    """Return the weights (K, N) in halves of bytes, those SHIFT bits up, of ``pairs`` (4, 8, warps, h, i, v): words
    that hold the bytes of rows 2 * i and 2 * i + 1.
    """
    # The bits of a code, put at the end of those of a power of two, are that power plus the code.
    words = ((pairs >> SHIFT) & MASK) | MAGIC
    # In this order ptxas computes two by two what lies in one word.
    odd = ((words >> 16).to(tl.uint16).to(scale.dtype, bitcast=True) - zero) * scale
    even = (words.to(tl.uint16).to(scale.dtype, bitcast=True) - zero) * scale
    return tl.join(even, odd).permute(3, 0, 4, 6, 5, 2, 1).reshape(K, N)


@triton.jit
def _unpacked(
    a, packed, scales, zeros, out, m, n, rows, shared_rows, chunk, a_row, a_step, packed_row, packed_step,
    scales_row, scales_step, zeros_row, zeros_step, MASK, MAGIC,
    M: tl.constexpr, K: tl.constexpr, WARPS: tl.constexpr, VECTOR: tl.constexpr, HALVES: tl.constexpr,
):  # fmt: skip
    """Add up ``chunk`` of the ``rows`` of packed weights times their columns of ``a``.

    A tile of weights has axes (4, 8, warps, K / 4, VECTOR): lanes, of which four have rows and eight have columns,
    warps, and what a thread holds. Matrix units take it like that; columns are put in order where they are stored.
    """
    N: tl.constexpr = 8 * WARPS * VECTOR
    HELD: tl.constexpr = 8 if HALVES else 4
    first, begin = tl.program_id(1) * N, tl.program_id(2) * chunk
    row = (tl.program_id(0).to(tl.int64) * M + tl.arange(0, M))[:, None]
    four = tl.arange(0, 4)[:, None, None, None, None]
    eight = tl.arange(0, 8)[None, :, None, None, None]
    warp = tl.arange(0, WARPS)[None, None, :, None, None]
    held = tl.arange(0, K // 4)[None, None, None, :, None]
    vector = tl.arange(0, VECTOR)[None, None, None, None, :]
    column = first + (warp * 8 + eight) * VECTOR + vector
    down = held // HELD * (4 * HELD) + four * HELD + held % HELD
    codes_at = packed + (begin + down).to(tl.int64) * packed_row + column.to(tl.int64) * packed_step
    # All four lanes read them, so that they lie like the weights.
    each = tl.broadcast_to(column, (4, 8, WARPS, 1, VECTOR)).to(tl.int64)
    scales_at, zeros_at = scales + each * scales_step, zeros + each * zeros_step
    PER: tl.constexpr = 2 if HALVES else 1
    left_at = a + row * a_row + (begin + tl.arange(0, K)).to(tl.int64)[None, :] * (PER * a_step)
    total = tl.zeros((M, N), tl.float32)
    for start in range(begin, tl.minimum(begin + chunk, rows), K):
        shared = (start // shared_rows).to(tl.int64)
        codes = tl.load(codes_at, mask=column < n, other=0)
        scale = tl.load(scales_at + shared * scales_row, mask=column < n, other=0.0)
        zero = tl.load(zeros_at + shared * zeros_row, mask=column < n, other=0)
        left = tl.load(left_at, mask=row < m, other=0.0)
        if HALVES:
            scale = scale.reshape(4, 8, WARPS, 1, 1, VECTOR)
            power = (zero.to(tl.uint16) | MAGIC.to(tl.uint16)).to(scale.dtype, bitcast=True)
            power = power.reshape(4, 8, WARPS, 1, 1, VECTOR)
            grouped = codes.reshape(4, 8, WARPS, K // 4 // HELD, HELD // 2, 2, VECTOR).permute(0, 1, 2, 3, 4, 6, 5)
            even, odd = tl.split(grouped)
            pairs = even.to(tl.int32) | (odd.to(tl.int32) << 16)
            total = tl.dot(left, _halves(pairs, 0, MASK, MAGIC, power, scale, K, N), total)
            right = tl.load(left_at + a_step, mask=row < m, other=0.0)
            total = tl.dot(right, _halves(pairs, 4, MASK, MAGIC, power, scale, K, N), total)
        else:
            weights = (codes.to(tl.int32) - zero.to(tl.int32)).to(tl.float32) * scale.to(tl.float32)
            grouped = weights.to(scale.dtype).reshape(4, 8, WARPS, K // 4 // HELD, HELD, VECTOR)
            total = tl.dot(left, grouped.permute(3, 0, 4, 5, 2, 1).reshape(K, N), total)
        codes_at += packed_row * K
        left_at += a_step * (PER * K)
    turned = tl.arange(0, N)
    turned = first + (turned // 8 % WARPS * 8 + turned % 8) * VECTOR + turned // (8 * WARPS)
    target = out + tl.program_id(2).to(tl.int64) * m * n + row * n + turned[None, :]
    tl.store(target, total, mask=(row < m) & (turned < n)[None, :])


def _chunk(length: int, depth: int, programs: int, a: torch.Tensor) -> int:
    """Return how much of a sum over ``length`` one of its slices takes, a multiple of ``depth``.

    Each slice has so many ``programs``, and all of them together as many as keep the device of ``a`` busy.
    """
    slices = max(1, PROGRAMS * multiprocessors(a) // programs)
    return depth * max(1, triton.cdiv(length, depth * slices))


def _tile(
    a: torch.Tensor,
    packed: torch.Tensor,
    scales: torch.Tensor,
    zeros: torch.Tensor,
    out: torch.Tensor,
    bits: int,
    group_size: int,
    chunk: int,
) -> None:
    """Fill ``out`` (slices, m, n), each slice with the sum over ``chunk`` steps of k."""
    if out.numel():
        slices, m, n = out.shape
        _tiled[(triton.cdiv(m, ROWS), triton.cdiv(n, COLUMNS), slices)](
            a, packed, scales, zeros, out, m, n, a.shape[1], group_size, chunk,
            *a.stride(), *packed.stride(), *scales.stride(), *zeros.stride(),
            M=ROWS, N=COLUMNS, K=DEPTH, HALVES=bits == 4,
        )  # fmt: skip


@implementation("dequant_gemm", paradigm="triton")
def tiled(
    a: torch.Tensor, packed: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor, *, bits: int, group_size: int
) -> torch.Tensor:
    """Return ``a`` times the weights, unpacked and scaled tile by tile and rounded to the dtype of ``a``."""
    out = torch.empty((a.shape[0], packed.shape[1]), dtype=a.dtype, device=a.device)
    _tile(a, packed, scales, zeros, out[None], bits, group_size, a.shape[1])
    return out


@implementation("dequant_gemm", paradigm="triton", optimizes="tiled", technique="split-K")
def split_k(
    a: torch.Tensor, packed: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor, *, bits: int, group_size: int
) -> torch.Tensor:
    """Return the same; slices of k are multiplied in parallel into a wide workspace and summed in a fixed order."""
    (m, k), n = a.shape, packed.shape[1]
    out = torch.empty((m, n), dtype=a.dtype, device=a.device)
    chunk = _chunk(k, DEPTH, max(1, triton.cdiv(m, ROWS) * triton.cdiv(n, COLUMNS)), a)
    partial = torch.empty((max(1, triton.cdiv(k, chunk)), m, n), dtype=torch.float32, device=a.device)
    _tile(a, packed, scales, zeros, partial, bits, group_size, chunk)
    add_slices(partial, out)
    return out


@implementation(
    "dequant_gemm",
    paradigm="triton",
    optimizes="split_k",
    technique="weights unpacked in registers",
    dtypes=tuple(_POWERS),
)
def in_registers(
    a: torch.Tensor, packed: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor, *, bits: int, group_size: int
) -> torch.Tensor:
    """Return the same by threads that read the weights which they hand to matrix units, and unpack them in between.

    Where a group is no whole number of :data:`DEPTHS` of packed weights, it is :func:`split_k`.
    """
    depth = next((depth for depth in DEPTHS if group_size * bits // 8 % depth == 0), None)
    if depth is None:
        return split_k(a, packed, scales, zeros, bits=bits, group_size=group_size)
    m, (rows, n) = a.shape[0], packed.shape
    out = torch.empty((m, n), dtype=a.dtype, device=a.device)
    tiles = triton.cdiv(m, FEW), triton.cdiv(n, 8 * WARPS * VECTOR)
    chunk = _chunk(rows, depth, max(1, tiles[0] * tiles[1]), a)
    partial = torch.empty((max(1, triton.cdiv(rows, chunk)), m, n), dtype=torch.float32, device=a.device)
    if out.numel():
        grid = (*tiles, partial.shape[0])
        _unpacked[grid](
            a, packed, scales, zeros, partial, m, n, rows, group_size * bits // 8, chunk,
            *a.stride(), *packed.stride(), *scales.stride(), *zeros.stride(),
            0x000F000F, _POWERS[str(a.dtype).removeprefix("torch.")],
            M=FEW, K=depth, WARPS=WARPS, VECTOR=VECTOR, HALVES=bits == 4, num_warps=WARPS, num_stages=1,
        )  # fmt: skip
        add_slices(partial, out)
    return out
