"""grouped_gemm in plain PyTorch: a product for each group."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.torch import precision


@implementation("grouped_gemm", paradigm="torch")
def eager(x: torch.Tensor, w: torch.Tensor, group_sizes: torch.Tensor) -> torch.Tensor:
    """Return the products of the groups of rows of ``x`` with their matrices, whose sizes the host waits for."""
    groups = torch.split(x, group_sizes.tolist())
    with precision("highest"):
        return torch.cat([torch.matmul(rows, matrix) for rows, matrix in zip(groups, w, strict=True)])
