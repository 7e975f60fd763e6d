"""swiglu_backward in plain PyTorch."""

from __future__ import annotations

import torch
from torch.nn import functional

from kernels import implementation
from kernels.toolchains.torch import wide


@implementation("swiglu_backward", paradigm="torch")
def eager(grad: torch.Tensor, gate: torch.Tensor, up: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the gradients of ``gate`` and of ``up``, contiguous; narrow types are computed in float32."""
    dtype, grad, gate = grad.dtype, wide(grad), wide(gate)
    of_gate = torch.ops.aten.silu_backward(grad * wide(up), gate)
    return of_gate.to(dtype).contiguous(), (grad * functional.silu(gate)).to(dtype).contiguous()
