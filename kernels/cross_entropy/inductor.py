"""cross_entropy compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.cross_entropy.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_cross_entropy = strictly_compiled(eager)


@implementation("cross_entropy", paradigm="inductor")
def compiled(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Return the mean loss."""
    return _cross_entropy(logits, target)
