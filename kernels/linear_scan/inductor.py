"""linear_scan compiled by Inductor: one step over many elements, which Python repeats.

A loop over the elements of a row would be unrolled, and compiled anew for every length.
"""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.linear_scan.torch import doubled, step
from kernels.toolchains.inductor import strictly_compiled

_step = strictly_compiled(step)


@implementation("linear_scan", paradigm="inductor")
def doubling(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return the states by compiled steps over twice as many elements each time."""
    return doubled(a, b, lambda a, b, reach: _step(a, b, reach=reach))
