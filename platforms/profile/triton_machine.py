"""Triton's elementwise operations as a machine to ask: one small kernel, compiled for each question.

Importing this needs Triton.
"""

from __future__ import annotations

import numpy as np
import torch
import triton
import triton.language as tl

from kernels.toolchains.triton import tanh
from platforms.profile.machine import Machine, Unable
from platforms.profile.tensors import to_numbers, to_tensor

_BLOCK = 1024
_KNOWN = (
    *("add", "subtract", "multiply", "divide", "multiply_add", "maximum", "minimum"),
    *("floor_divide", "remainder", "shift_left", "shift_right"),
    *("sqrt", "rsqrt", "exp", "exp2", "log", "tanh", "erf", "sin", "cos"),
)


@triton.jit
def _elementwise(x, y, z, out, count, FUNCTION: tl.constexpr, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    a = tl.load(x + index, mask=inside, other=1)
    b = tl.load(y + index, mask=inside, other=1)
    c = tl.load(z + index, mask=inside, other=1)
    if FUNCTION == "add":
        result = a + b
    elif FUNCTION == "subtract":
        result = a - b
    elif FUNCTION == "multiply":
        result = a * b
    elif FUNCTION == "divide":
        result = a / b
    elif FUNCTION == "multiply_add":
        result = a * b + c
    elif FUNCTION == "maximum":
        result = tl.maximum(a, b)
    elif FUNCTION == "minimum":
        result = tl.minimum(a, b)
    elif FUNCTION == "floor_divide":
        result = a // b
    elif FUNCTION == "remainder":
        result = a % b
    elif FUNCTION == "shift_left":
        result = a << b
    elif FUNCTION == "shift_right":
        result = a >> b
    elif FUNCTION == "sqrt":
        result = tl.sqrt(a)
    elif FUNCTION == "rsqrt":
        result = tl.rsqrt(a)
    elif FUNCTION == "exp":
        result = tl.exp(a)
    elif FUNCTION == "exp2":
        result = tl.exp2(a)
    elif FUNCTION == "log":
        result = tl.log(a)
    elif FUNCTION == "tanh":
        result = tanh(a)
    elif FUNCTION == "erf":
        result = tl.erf(a)
    elif FUNCTION == "sin":
        result = tl.sin(a)
    else:
        tl.static_assert(FUNCTION == "cos")
        result = tl.cos(a)
    tl.store(out + index, result, mask=inside)


@triton.jit
def _convert(x, out, count, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    tl.store(out + index, tl.load(x + index, mask=inside, other=0).to(out.dtype.element_ty), mask=inside)


class TritonMachine(Machine):
    """What Triton makes of single operations on ``device``: a device of its own, or the CPU for its interpreter.

    The hyperbolic tangent, which Triton lacks, is the one that the catalogue's kernels share.
    """

    def __init__(self, device: str) -> None:
        self.name = "triton"
        self._device = device

    def elementwise(self, function: str, dtype: str, *operands: np.ndarray) -> np.ndarray:
        if function not in _KNOWN:
            return super().elementwise(function, dtype, *operands)
        x, y, z = (to_tensor(one, dtype, self._device) for one in (*operands, operands[0], operands[0])[:3])
        out = torch.empty_like(x)
        return self._launched(_elementwise, x, y, z, out, FUNCTION=function)

    def convert(self, x: np.ndarray, source: str, target: str) -> np.ndarray:
        out = torch.empty(x.shape, dtype=getattr(torch, target), device=self._device)
        return self._launched(_convert, to_tensor(x, source, self._device), out)

    def _launched(self, kernel: object, *tensors: torch.Tensor, **constants: str) -> np.ndarray:
        out = tensors[-1]
        try:
            kernel[(triton.cdiv(out.numel(), _BLOCK),)](*tensors, out.numel(), BLOCK=_BLOCK, **constants)  # type: ignore[index]
        except Exception as error:  # a compiler has many ways to say that there is no such operation
            raise Unable(f"{type(error).__name__}: {(str(error).splitlines() or [''])[-1]}"[:200]) from None
        return to_numbers(out)
