"""embedding compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.embedding.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_embedding = strictly_compiled(eager)


@implementation("embedding", paradigm="inductor")
def compiled(table: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Return the rows of ``table`` that ``index`` names."""
    return _embedding(table, index)
