"""scatter_add compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.scatter_add.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_scatter_add = strictly_compiled(eager)


@implementation("scatter_add", paradigm="inductor")
def compiled(x: torch.Tensor, index: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
    """Return ``x`` with the rows of ``src`` added to those that ``index`` names."""
    return _scatter_add(x, index, src)
