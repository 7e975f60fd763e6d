"""grouped_gemm with the product of a group compiled by Inductor: how many rows a group has is data, not shape."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.inductor import strictly_compiled
from kernels.toolchains.torch import precision

_matmul = strictly_compiled(torch.matmul)


@implementation("grouped_gemm", paradigm="inductor")
def compiled(x: torch.Tensor, w: torch.Tensor, group_sizes: torch.Tensor) -> torch.Tensor:
    """Return the products of the groups of rows of ``x`` with their matrices, one compiled product a group."""
    groups = torch.split(x, group_sizes.tolist())
    with precision("highest"):
        return torch.cat([_matmul(rows, matrix) for rows, matrix in zip(groups, w, strict=True)])
