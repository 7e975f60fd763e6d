"""dequant_gemm in portable C++: weights dequantized wherever they are multiplied, or a row of them once."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.cxx.source import Source

SOURCE = Source(__file__)


def _product(kernel: str, a: torch.Tensor, *weights: torch.Tensor, bits: int, group_size: int) -> torch.Tensor:
    out = torch.empty((a.shape[0], weights[0].shape[1]), dtype=a.dtype, device=a.device)
    if out.numel():
        SOURCE.call(kernel, a, *weights, out, integers=(bits, group_size))
    return out


@implementation("dequant_gemm", paradigm="cpp")
def naive(
    a: torch.Tensor, packed: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor, *, bits: int, group_size: int
) -> torch.Tensor:
    """Return ``a`` times the weights, each dequantized in float32 in the innermost loop."""
    return _product("naive", a, packed, scales, zeros, bits=bits, group_size=group_size)


@implementation("dequant_gemm", paradigm="cpp", optimizes="naive", technique="weights dequantized once a row")
def row_once(
    a: torch.Tensor, packed: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor, *, bits: int, group_size: int
) -> torch.Tensor:
    """Return ``a`` times the weights, a row of which is dequantized once for all rows of ``a``."""
    return _product("row_once", a, packed, scales, zeros, bits=bits, group_size=group_size)
