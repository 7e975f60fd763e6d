"""fp8_gemm compiled by Inductor: the conversions, and the scales in one pass with the rounding."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.inductor import strictly_compiled
from kernels.toolchains.torch import precision


def _scaled(a: torch.Tensor, b: torch.Tensor, scale_a: torch.Tensor, scale_b: torch.Tensor) -> torch.Tensor:
    return (torch.matmul(a.float(), b.float()) * scale_a[:, None] * scale_b).to(torch.bfloat16)


_compiled = strictly_compiled(_scaled)


@implementation("fp8_gemm", paradigm="inductor")
def compiled(a: torch.Tensor, b: torch.Tensor, scale_a: torch.Tensor, scale_b: torch.Tensor) -> torch.Tensor:
    """Return the scaled product of ``a`` and ``b``, which are made float32 first."""
    with precision("highest"):
        return _compiled(a, b, scale_a, scale_b)
