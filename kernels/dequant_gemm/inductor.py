"""dequant_gemm compiled by Inductor: weights are unpacked and scaled in compiled code, then multiplied."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.inductor import strictly_compiled
from kernels.toolchains.torch import precision


def _multiplied(
    a: torch.Tensor, packed: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor, *, bits: int, group_size: int
) -> torch.Tensor:
    codes = packed
    if bits == 4:
        codes = torch.stack([packed & 15, packed >> 4], 1).reshape(2 * packed.shape[0], packed.shape[1])
    groups, n = scales.shape
    weights = (codes.float().reshape(groups, group_size, n) - zeros.float()[:, None]) * scales.float()[:, None]
    return torch.matmul(a, weights.reshape(groups * group_size, n).to(a.dtype))


_compiled = strictly_compiled(_multiplied)


@implementation("dequant_gemm", paradigm="inductor")
def compiled(
    a: torch.Tensor, packed: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor, *, bits: int, group_size: int
) -> torch.Tensor:
    """Return ``a`` times the weights, which are unpacked and scaled in float32 and rounded to the dtype of ``a``."""
    with precision("highest"):
        return _compiled(a, packed, scales, zeros, bits=bits, group_size=group_size)
