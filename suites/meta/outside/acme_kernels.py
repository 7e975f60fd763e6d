"""A kernel in a third party's own paradigm."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.native import NativeSource

SOURCE = NativeSource(__file__, "acme")


@implementation("relu", paradigm="acme", dtypes=("float32",))
def flat(x: torch.Tensor) -> torch.Tensor:
    """Return the larger of ``x`` and 0, contiguous."""
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    SOURCE.call("rectified", x, out)
    return out
