"""dequant_gemm in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.torch import precision


@implementation("dequant_gemm", paradigm="torch")
def eager(
    a: torch.Tensor, packed: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor, *, bits: int, group_size: int
) -> torch.Tensor:
    """Return ``a`` times the weights, which are unpacked and scaled in float32 and rounded to the dtype of ``a``."""
    codes = packed
    if bits == 4:
        codes = torch.stack([packed & 15, packed >> 4], 1).reshape(2 * packed.shape[0], packed.shape[1])
    scale, zero = (x.repeat_interleave(group_size, 0) for x in (scales.float(), zeros.float()))
    weights = ((codes.float() - zero) * scale).to(a.dtype)
    with precision("highest"):
        return torch.matmul(a, weights)
