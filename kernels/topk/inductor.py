"""topk compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.inductor import strictly_compiled
from kernels.topk.torch import eager

_topk = strictly_compiled(eager)


@implementation("topk", paradigm="inductor")
def compiled(x: torch.Tensor, *, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the ``k`` largest elements of each row of ``x`` and their indices."""
    return _topk(x, k=k)
