"""Elementwise operations of C++ and CUDA C++ as a machine to ask: what compilers and their libraries make of them."""

from __future__ import annotations

import numpy as np
import torch

from golden.dtypes import dtype_of
from kernels.toolchains.cuda import CudaSource
from kernels.toolchains.cxx.source import Source
from platforms.profile.machine import Machine, Unable
from platforms.profile.tensors import to_numbers, to_tensor

OF_FLOATS = (
    *("add", "subtract", "multiply", "divide", "multiply_add", "maximum", "minimum"),
    *("sqrt", "rsqrt", "exp", "exp2", "log", "tanh", "erf", "sin", "cos"),
)
"""In the order of ``enum OfFloats`` of the source. ``maximum`` is C++'s ``fmax``."""

OF_INTEGERS = ("floor_divide", "remainder", "shift_left", "shift_right")
"""In the order of ``enum OfIntegers`` of the source. ``floor_divide`` is C++'s ``/``."""

SOURCES: dict[str, Source | CudaSource] = {"cpp": Source(__file__), "cuda": CudaSource(__file__, ".cpp")}
"""The source as each paradigm compiles it."""


class CompiledMachine(Machine):
    """What C++ or CUDA C++, one of :data:`SOURCES`, makes of single operations on ``device``."""

    def __init__(self, paradigm: str, device: str) -> None:
        self.name = paradigm
        self._source = SOURCES[paradigm]
        self._device = device

    def elementwise(self, function: str, dtype: str, *operands: np.ndarray) -> np.ndarray:
        known = OF_FLOATS if dtype_of(dtype).is_float else OF_INTEGERS
        if function not in known:
            return super().elementwise(function, dtype, *operands)
        x, y, z = (to_tensor(one, dtype, self._device) for one in (*operands, operands[0], operands[0])[:3])
        return self._called("elementwise", x, y, z, torch.empty_like(x), integers=(known.index(function),))

    def convert(self, x: np.ndarray, source: str, target: str) -> np.ndarray:
        out = torch.empty(x.shape, dtype=getattr(torch, target), device=self._device)
        return self._called("convert", to_tensor(x, source, self._device), out)

    def _called(self, name: str, *tensors: torch.Tensor, integers: tuple[int, ...] = ()) -> np.ndarray:
        try:
            self._source.call(name, *tensors, integers=integers)
        except Exception as error:  # a compiler, an emulator, a dtype that has no number: whatever it is, it is why
            raise Unable(f"{type(error).__name__}: {error}".splitlines()[0][:200]) from None
        return to_numbers(tensors[-1])
