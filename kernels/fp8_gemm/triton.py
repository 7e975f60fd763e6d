"""fp8_gemm in Triton: numbers of 8 bits made float16, which holds them all, or multiplied as they are.

Units that multiply 8 bits add with about 13, which the rungs that use them declare.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton_products import GROUP, Tile, fitting, place

TILES = (
    Tile(128, 128, 128, warps=8, stages=3),
    Tile(128, 128, 64, warps=8, stages=3),
    Tile(64, 64, 64, warps=4, stages=2),
)


@triton.jit
def _scaled(
    a, b, scale_a, scale_b, out, m, n, k, a_row, a_inner, b_inner, b_column, a_step, b_step,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
    GROUP: tl.constexpr, EVEN_K: tl.constexpr, WIDENED: tl.constexpr,
):  # fmt: skip
    """Write one tile; operands are made float16 before they are multiplied if ``WIDENED``."""
    tile_row, tile_column = place(tl.program_id(0), m, n, M, N, GROUP)
    row = tile_row.to(tl.int64) * M + tl.arange(0, M)
    column = tile_column.to(tl.int64) * N + tl.arange(0, N)
    inner = tl.arange(0, K)
    left = a + (row % m)[:, None] * a_row + inner.to(tl.int64)[None, :] * a_inner
    right = b + inner.to(tl.int64)[:, None] * b_inner + (column % n)[None, :] * b_column
    left_step, right_step = tl.cast(a_inner, tl.int64) * K, tl.cast(b_inner, tl.int64) * K
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        if EVEN_K:
            x, y = tl.load(left), tl.load(right)
        else:
            x = tl.load(left, mask=inner[None, :] < k - start, other=0.0)
            y = tl.load(right, mask=inner[:, None] < k - start, other=0.0)
        if WIDENED:
            x, y = x.to(tl.float16), y.to(tl.float16)
        total = tl.dot(x, y, total, out_dtype=tl.float32)
        left += left_step
        right += right_step
    total *= tl.load(scale_a + row * a_step, mask=row < m, other=0.0)[:, None]
    total *= tl.load(scale_b + column * b_step, mask=column < n, other=0.0)[None, :]
    target = out + row[:, None] * n + column[None, :]
    tl.store(target, total, mask=(row[:, None] < m) & (column[None, :] < n))


def _launch(
    a: torch.Tensor, b: torch.Tensor, scale_a: torch.Tensor, scale_b: torch.Tensor, *, widened: bool
) -> torch.Tensor:
    (m, k), n = a.shape, b.shape[1]
    out = torch.empty((m, n), dtype=torch.bfloat16, device=a.device)
    if out.numel():
        tile = fitting(TILES, a)[0]
        _scaled[(triton.cdiv(m, tile.m) * triton.cdiv(n, tile.n),)](
            a, b, scale_a, scale_b, out, m, n, k, *a.stride(), *b.stride(), scale_a.stride(0), scale_b.stride(0),
            M=tile.m, N=tile.n, K=tile.k, GROUP=GROUP, EVEN_K=k % tile.k == 0, WIDENED=widened,
            num_warps=tile.warps, num_stages=tile.stages,
        )  # fmt: skip
    return out


@implementation("fp8_gemm", paradigm="triton")
def widened(a: torch.Tensor, b: torch.Tensor, scale_a: torch.Tensor, scale_b: torch.Tensor) -> torch.Tensor:
    """Return the scaled product of ``a`` and ``b``, multiplied as float16 and accumulated in float32."""
    return _launch(a, b, scale_a, scale_b, widened=True)


@implementation(
    "fp8_gemm", paradigm="triton", optimizes="widened", technique="8-bit matrix units", numerics="accumulator13"
)
def native(a: torch.Tensor, b: torch.Tensor, scale_a: torch.Tensor, scale_b: torch.Tensor) -> torch.Tensor:
    """Return the same by units that multiply 8 bits, where the device has them, and add with about 13."""
    return _launch(a, b, scale_a, scale_b, widened=False)
