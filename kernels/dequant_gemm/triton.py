"""dequant_gemm in Triton: a program computes one tile, and dequantizes the weights that it multiplies by."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation

ROWS, COLUMNS, DEPTH = 32, 64, 32
"""The tile of a program, and how far it goes along k at a time."""


@triton.jit
def _tiled(
    a, packed, scales, zeros, out, m, n, k, group, a_row, a_step, packed_row, packed_step,
    scales_row, scales_step, zeros_row, zeros_step,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, HALVES: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * M + tl.arange(0, M)[:, None]
    column = tl.program_id(1).to(tl.int64) * N + tl.arange(0, N)[None, :]
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
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
    tl.store(out + row * n + column, total, mask=(row < m) & (column < n))


@implementation("dequant_gemm", paradigm="triton")
def tiled(
    a: torch.Tensor, packed: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor, *, bits: int, group_size: int
) -> torch.Tensor:
    """Return ``a`` times the weights, unpacked and scaled tile by tile and rounded to the dtype of ``a``."""
    (m, k), n = a.shape, packed.shape[1]
    out = torch.empty((m, n), dtype=a.dtype, device=a.device)
    if out.numel():
        _tiled[(triton.cdiv(m, ROWS), triton.cdiv(n, COLUMNS))](
            a, packed, scales, zeros, out, m, n, k, group_size,
            *a.stride(), *packed.stride(), *scales.stride(), *zeros.stride(),
            M=ROWS, N=COLUMNS, K=DEPTH, HALVES=bits == 4,
        )  # fmt: skip
    return out
