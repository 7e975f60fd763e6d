"""dequant_gemm in NineToothed: a program computes one tile, and dequantizes the weights that it multiplies by.

Operands are viewed group by group, so that a program has one row of scales and zeros at a time. Where a byte holds two
weights, the even columns of a meet the low halves, the odd ones the high halves: two products, and nothing is unpacked
in memory.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import ninetoothed
import ninetoothed.language as ntl
import torch
from ninetoothed import Symbol, Tensor

from kernels import implementation
from kernels.toolchains.ninetoothed import near, parts, power_of_2

_K = Symbol("BLOCK_K", constexpr=True)

ROWS, COLUMNS = 32, 64
"""The tile of a program."""

SHALLOWEST, DEEPEST = 16, 64
"""How far a program goes along a group at a time: matrix units take no less, and registers hold no more."""


def arrangement(*tensors: Tensor, k: Any = _K) -> tuple[Tensor, ...]:
    """Return tiles of the result and, for each, what it needs along groups and the steps within one.

    ``tensors`` are one or two of a (m, groups, size), then packed (groups, size, n), scales and zeros (groups, n), and
    the result (m, n).
    """
    *lefts, packed, scales, zeros, out = tensors
    tiles = out.tile((ROWS, COLUMNS))
    codes = packed.tile((1, k, COLUMNS)).tile((-1, -1, 1)).squeeze(0).expand((tiles.shape[0], -1))
    codes.dtype = codes.dtype.squeeze(2)
    codes.dtype.dtype = codes.dtype.dtype.squeeze(0)
    arranged = (_left(a, k, tiles) for a in lefts)
    return *arranged, codes, _shared(scales, tiles), _shared(zeros, tiles), tiles


def _left(a: Tensor, k: Any, tiles: Tensor) -> Tensor:
    left = a.tile((ROWS, 1, k)).tile((1, -1, -1)).squeeze(2).expand((-1, tiles.shape[1]))
    left.dtype = left.dtype.squeeze(0)
    left.dtype.dtype = left.dtype.dtype.squeeze(1)
    return left


def _shared(values: Tensor, tiles: Tensor) -> Tensor:
    rows = values.tile((1, COLUMNS)).tile((-1, 1)).expand((tiles.shape[0], -1))
    rows.dtype = rows.dtype.squeeze(1)
    return rows


def whole_bytes(a, packed, scales, zeros, out):
    total = ntl.zeros(out.shape, ntl.float32)
    for group in range(a.shape[0]):
        zero = ntl.cast(zeros[group], ntl.int32)
        scale = ntl.cast(scales[group], ntl.float32)
        for step in range(a.shape[1]):
            left = a[group, step]
            codes = ntl.cast(packed[group, step], ntl.int32)
            # Beyond a group an infinite scale would make NaN of the zeros that are read there.
            inside = packed[group, step].offsets(1)[:, None] < packed.source.shape[1]
            weights = ntl.where(inside, ntl.cast(codes - zero, ntl.float32) * scale, 0.0)
            total = ntl.dot(left, ntl.cast(weights, left.dtype), total, input_precision="ieee")
    out = total


def halves(even, odd, packed, scales, zeros, out):
    total = ntl.zeros(out.shape, ntl.float32)
    for group in range(even.shape[0]):
        zero = ntl.cast(zeros[group], ntl.int32)
        scale = ntl.cast(scales[group], ntl.float32)
        for step in range(even.shape[1]):
            low_left = even[group, step]
            high_left = odd[group, step]
            codes = ntl.cast(packed[group, step], ntl.int32)
            inside = packed[group, step].offsets(1)[:, None] < packed.source.shape[1]
            low = ntl.where(inside, ntl.cast((codes & 15) - zero, ntl.float32) * scale, 0.0)
            high = ntl.where(inside, ntl.cast((codes >> 4) - zero, ntl.float32) * scale, 0.0)
            total = ntl.dot(low_left, ntl.cast(low, low_left.dtype), total, input_precision="ieee")
            total = ntl.dot(high_left, ntl.cast(high, high_left.dtype), total, input_precision="ieee")
    out = total


@functools.cache
def _kernel(application: Callable[..., Any], operands: int) -> Any:
    operand = functools.partial(Tensor, other=0)
    tensors = (*(operand(3) for _ in range(operands)), operand(2), operand(2), Tensor(2))
    return ninetoothed.make(arrangement, application, tensors, num_stages=2)


@implementation("dequant_gemm", paradigm="ninetoothed")
def tiled(
    a: torch.Tensor, packed: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor, *, bits: int, group_size: int
) -> torch.Tensor:
    """Return ``a`` times the weights, unpacked and scaled tile by tile and rounded to the dtype of ``a``."""
    out = torch.empty((a.shape[0], packed.shape[1]), dtype=a.dtype, device=a.device)
    if not a.shape[1]:
        return out.zero_()
    if out.numel():
        size = group_size * bits // 8
        a, scales, zeros = near(a), near(scales), near(zeros)
        lefts = [left.unflatten(1, (-1, size)) for left in ([a] if bits == 8 else [a[:, 0::2], a[:, 1::2]])]
        codes = near(packed).unflatten(0, (-1, size))
        depth = min(max(power_of_2(size), SHALLOWEST), DEEPEST)
        kernel = _kernel(whole_bytes if bits == 8 else halves, len(lefts) + 1)
        for *rows, target in parts(*lefts, out):
            kernel(*rows, codes, scales, zeros, target, BLOCK_K=depth)
    return out
