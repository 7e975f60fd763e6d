"""unpack_int4 in plain PyTorch."""

from __future__ import annotations

import torch

from kernels import implementation


@implementation("unpack_int4", paradigm="torch")
def eager(packed: torch.Tensor) -> torch.Tensor:
    """Return the signed halves of the bytes of ``packed`` as int8, the lower one first."""
    bytes_ = packed.view(torch.int8)
    # Shifted up, the lower half brings its sign down again.
    return torch.stack([(bytes_ << 4) >> 4, bytes_ >> 4], -1).flatten(-2)
