"""dequant_gemm in CUDA C++: a thread for each element, and tiles of dequantized weights in shared memory."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.cuda import CudaSource

SOURCE = CudaSource(__file__)


def _product(kernel: str, a: torch.Tensor, *weights: torch.Tensor, bits: int, group_size: int) -> torch.Tensor:
    out = torch.empty((a.shape[0], weights[0].shape[1]), dtype=a.dtype, device=a.device)
    if out.numel():
        SOURCE.call(kernel, a, *weights, out, integers=(bits, group_size))
    return out


@implementation("dequant_gemm", paradigm="cuda")
def naive(
    a: torch.Tensor, packed: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor, *, bits: int, group_size: int
) -> torch.Tensor:
    """Return ``a`` times the weights; each thread dequantizes a column of them in float32."""
    return _product("naive", a, packed, scales, zeros, bits=bits, group_size=group_size)


@implementation("dequant_gemm", paradigm="cuda", optimizes="naive", technique="dequantized tiles in shared memory")
def tiled(
    a: torch.Tensor, packed: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor, *, bits: int, group_size: int
) -> torch.Tensor:
    """Return ``a`` times the weights; each weight is dequantized once a block."""
    return _product("tiled", a, packed, scales, zeros, bits=bits, group_size=group_size)
