"""histogram compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.histogram.torch import scattered
from kernels.toolchains.inductor import strictly_compiled

_histogram = strictly_compiled(scattered)


@implementation("histogram", paradigm="inductor")
def compiled(index: torch.Tensor, *, bins: int) -> torch.Tensor:
    """Return how often each of the numbers below ``bins`` is in ``index``."""
    return _histogram(index, bins=bins)
