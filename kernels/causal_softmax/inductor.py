"""causal_softmax compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.causal_softmax.torch import eager
from kernels.toolchains.inductor import strictly_compiled

_causal_softmax = strictly_compiled(eager)


@implementation("causal_softmax", paradigm="inductor")
def compiled(x: torch.Tensor) -> torch.Tensor:
    """Return the softmax of each row over its columns up to the diagonal, contiguous."""
    return _causal_softmax(x)
