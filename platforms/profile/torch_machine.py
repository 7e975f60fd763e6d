"""PyTorch's own elementwise operations on a device, as a machine to ask."""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np
import torch

from platforms.profile.machine import Machine, Unable
from platforms.profile.tensors import to_numbers, to_tensor

_FUNCTIONS: dict[str, Callable[..., torch.Tensor]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "multiply_add": lambda a, b, c: a * b + c,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "shift_left": operator.lshift,
    "shift_right": operator.rshift,
    **{name: getattr(torch, name) for name in ("sqrt", "rsqrt", "exp", "exp2", "log", "tanh", "erf", "sin", "cos")},
}


class TorchMachine(Machine):
    """What PyTorch makes of single operations, eagerly, on ``device``."""

    def __init__(self, device: str) -> None:
        self.name = "torch"
        self._device = device

    def elementwise(self, function: str, dtype: str, *operands: np.ndarray) -> np.ndarray:
        if function not in _FUNCTIONS:
            return super().elementwise(function, dtype, *operands)
        return _tried(lambda: _FUNCTIONS[function](*(to_tensor(x, dtype, self._device) for x in operands)))

    def convert(self, x: np.ndarray, source: str, target: str) -> np.ndarray:
        return _tried(lambda: to_tensor(x, source, self._device).to(getattr(torch, target)))


def _tried(compute: Callable[[], torch.Tensor]) -> np.ndarray:
    try:
        return to_numbers(compute())
    except (RuntimeError, TypeError) as error:  # PyTorch's ways to say that it has no such kernel
        raise Unable(str(error).splitlines()[0][:200]) from None
