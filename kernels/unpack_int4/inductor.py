"""unpack_int4 compiled by Inductor."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.inductor import strictly_compiled
from kernels.unpack_int4.torch import eager

_unpack_int4 = strictly_compiled(eager)


@implementation("unpack_int4", paradigm="inductor")
def compiled(packed: torch.Tensor) -> torch.Tensor:
    """Return the signed halves of the bytes of ``packed`` as int8, contiguous."""
    return _unpack_int4(packed)
