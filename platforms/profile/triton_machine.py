"""Triton's elementwise operations as a machine to ask: one small kernel a dtype, which is told the operation.

A kernel for each question would take minutes to compile.

Importing this needs Triton.
"""

from __future__ import annotations

import numpy as np
import torch
import triton
import triton.language as tl

from golden.dtypes import dtype_of
from kernels.toolchains.triton import tanh
from platforms.profile.machine import Machine, Unable
from platforms.profile.tensors import to_numbers, to_tensor

_BLOCK = 1024
_ARITHMETIC = ("add", "subtract", "multiply", "divide", "maximum", "minimum")
_FUNCTIONS = ("sqrt", "rsqrt", "exp", "exp2", "log", "tanh", "erf", "sin", "cos")
_OF_FLOATS = (*_ARITHMETIC, *_FUNCTIONS)
_OF_INTEGERS = ("floor_divide", "remainder", "shift_left", "shift_right")
_WITH_FUNCTIONS = ("float32", "float64")


@triton.jit(do_not_specialize=["function", "count"])
def _of_floats(x, y, out, function, count, WITH_FUNCTIONS: tl.constexpr, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    a = tl.load(x + index, mask=inside, other=1)
    b = tl.load(y + index, mask=inside, other=1)
    result = a + b
    if function == 1:
        result = a - b
    elif function == 2:
        result = a * b
    elif function == 3:
        result = (a / b).to(a.dtype)
    elif function == 4:
        result = tl.maximum(a, b).to(a.dtype)
    elif function == 5:
        result = tl.minimum(a, b).to(a.dtype)
    if WITH_FUNCTIONS:
        if function == 6:
            result = tl.sqrt(a)
        elif function == 7:
            result = tl.rsqrt(a)
        elif function == 8:
            result = tl.exp(a)
        elif function == 9:
            result = tl.exp2(a)
        elif function == 10:
            result = tl.log(a)
        elif function == 11:
            result = tanh(a)
        elif function == 12:
            result = tl.erf(a)
        elif function == 13:
            result = tl.sin(a)
        elif function == 14:
            result = tl.cos(a)
    tl.store(out + index, result, mask=inside)


@triton.jit(do_not_specialize=["count"])
def _multiply_add(x, y, z, out, count, BLOCK: tl.constexpr):
    # By itself: beside other products, a compiler might find reasons to keep this one apart.
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    a = tl.load(x + index, mask=inside, other=1)
    b = tl.load(y + index, mask=inside, other=1)
    c = tl.load(z + index, mask=inside, other=1)
    tl.store(out + index, a * b + c, mask=inside)


@triton.jit(do_not_specialize=["function", "count"])
def _of_integers(x, y, out, function, count, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    a = tl.load(x + index, mask=inside, other=1)
    b = tl.load(y + index, mask=inside, other=1)
    result = a // b
    if function == 1:
        result = a % b
    elif function == 2:
        result = a << b
    elif function == 3:
        result = a >> b
    tl.store(out + index, result, mask=inside)


@triton.jit(do_not_specialize=["count"])
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
        tensors = [to_tensor(one, dtype, self._device) for one in operands]
        out = torch.empty_like(tensors[0])
        if function == "multiply_add":
            return _launched(_multiply_add, *tensors, out)
        x, y = tensors[0], tensors[-1]
        if not dtype_of(dtype).is_float and function in _OF_INTEGERS:
            return _launched(_of_integers, x, y, out, _OF_INTEGERS.index(function))
        wide = dtype in _WITH_FUNCTIONS
        if function in (_OF_FLOATS if wide else _ARITHMETIC):
            return _launched(_of_floats, x, y, out, _OF_FLOATS.index(function), WITH_FUNCTIONS=wide)
        return super().elementwise(function, dtype, *operands)

    def convert(self, x: np.ndarray, source: str, target: str) -> np.ndarray:
        out = torch.empty(x.shape, dtype=getattr(torch, target), device=self._device)
        return _launched(_convert, to_tensor(x, source, self._device), out)


def _launched(kernel: object, *arguments: torch.Tensor | int, **constants: bool) -> np.ndarray:
    out = next(one for one in reversed(arguments) if isinstance(one, torch.Tensor))
    try:
        kernel[(triton.cdiv(out.numel(), _BLOCK),)](*arguments, out.numel(), BLOCK=_BLOCK, **constants)  # type: ignore[index]
    except Exception as error:  # a compiler has many ways to say that there is no such operation
        raise Unable(f"{type(error).__name__}: {(str(error).splitlines() or [''])[-1]}"[:200]) from None
    return to_numbers(out)
