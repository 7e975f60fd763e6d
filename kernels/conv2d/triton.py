"""conv2d in Triton: as a matrix product whose left operand is never written, but found in the image (implicit GEMM).

Rows of the product are positions of all images, columns are outputs, and what is summed are channels and taps.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import wide

TILES = {
    torch.float64: (32, 32, 16),
    torch.float32: (64, 64, 32),
    torch.float16: (64, 64, 32),
    torch.bfloat16: (64, 64, 32),
}
"""Positions, outputs, and how far a program goes along the sum at a time."""

WARPS = 4


@triton.jit
def _implicit(
    x, weight, out, positions, outputs, terms, high, wide, height, width, taps_h, taps_w, channels, stride, padding,
    x0, x1, x2, x3, w0, w1, w2, w3,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TAPS_FIRST: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Write one tile. What is summed is in the order of ``weight``, or with channels innermost if ``TAPS_FIRST``."""
    across = tl.cdiv(outputs, N)
    position = (tl.program_id(0) // across).to(tl.int64) * M + tl.arange(0, M)
    output = (tl.program_id(0) % across).to(tl.int64) * N + tl.arange(0, N)
    image, left = position // (high * wide), position % (high * wide)
    top, before = left // wide * stride - padding, left % wide * stride - padding
    total = tl.zeros((M, N), WIDE)
    for start in range(0, terms, K):
        term = start + tl.arange(0, K)
        if TAPS_FIRST:
            channel, tap = term % channels, term // channels
        else:
            channel, tap = term // (taps_h * taps_w), term % (taps_h * taps_w)
        down, right = tap // taps_w, tap % taps_w
        row, column = top[:, None] + down[None, :], before[:, None] + right[None, :]
        channel, down, right = channel.to(tl.int64), down.to(tl.int64), right.to(tl.int64)
        seen = (row >= 0) & (row < height) & (column >= 0) & (column < width)
        pixels = tl.load(
            x + image[:, None] * x0 + channel[None, :] * x1 + row * x2 + column * x3,
            mask=seen & (position < positions)[:, None] & (term < terms)[None, :],
            other=0.0,
        )
        kernels = tl.load(
            weight + output[None, :] * w0 + channel[:, None] * w1 + down[:, None] * w2 + right[:, None] * w3,
            mask=(output < outputs)[None, :] & (term < terms)[:, None],
            other=0.0,
        )
        total = tl.dot(pixels, kernels, total, input_precision="ieee", out_dtype=WIDE)
    target = out + image[:, None] * outputs * high * wide + output[None, :] * high * wide + left[:, None]
    tl.store(target, total, mask=(position < positions)[:, None] & (output < outputs)[None, :])


def _launch(x: torch.Tensor, weight: torch.Tensor, stride: int, padding: int, *, taps_first: bool) -> torch.Tensor:
    images, channels, height, width = x.shape
    outputs, _, taps_h, taps_w = weight.shape
    high, across = (height + 2 * padding - taps_h) // stride + 1, (width + 2 * padding - taps_w) // stride + 1
    out = torch.empty((images, outputs, high, across), dtype=x.dtype, device=x.device)
    if out.numel():
        m, n, k = TILES[x.dtype]
        positions, terms = images * high * across, channels * taps_h * taps_w
        _implicit[(triton.cdiv(positions, m) * triton.cdiv(outputs, n),)](
            x, weight, out, positions, outputs, terms, high, across, height, width, taps_h, taps_w, channels,
            stride, padding, *x.stride(), *weight.stride(),
            M=m, N=n, K=k, TAPS_FIRST=taps_first, WIDE=wide(x.dtype), num_warps=WARPS,
        )  # fmt: skip
    return out


@implementation("conv2d", paradigm="triton")
def implicit(x: torch.Tensor, weight: torch.Tensor, *, stride: int, padding: int) -> torch.Tensor:
    """Return the convolution of ``x`` with ``weight``, summed in the order of the weights."""
    return _launch(x, weight, stride, padding, taps_first=False)


@implementation("conv2d", paradigm="triton", optimizes="implicit", technique="channels innermost")
def channels_innermost(x: torch.Tensor, weight: torch.Tensor, *, stride: int, padding: int) -> torch.Tensor:
    """Return the same, from copies whose channels are contiguous, so that neighbouring lanes read neighbours."""
    x, weight = (tensor.contiguous(memory_format=torch.channels_last) for tensor in (x, weight))
    return _launch(x, weight, stride, padding, taps_first=True)
