"""Implementations of the catalogue as machines to ask: the sums and products of kernels as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch

from kernels.registry import Implementation
from platforms.profile.machine import Machine, Unable
from platforms.profile.tensors import to_numbers, to_tensor


class CatalogueMachine(Machine):
    """What one implementation makes of its operation, or the first one of each that a paradigm has."""

    def __init__(self, name: str, implementations: Iterable[Implementation], device: str) -> None:
        self.name = name
        self._device = device
        self._first: dict[str, Implementation] = {}
        for one in implementations:
            self._first.setdefault(one.operation, one)

    def elementwise(self, function: str, dtype: str, *operands: np.ndarray) -> np.ndarray:
        return self._called(function, dtype, *operands)

    def convert(self, x: np.ndarray, source: str, target: str) -> np.ndarray:
        return self._called("cast", source, x, dtype=target)

    def sums(self, x: np.ndarray, dtype: str) -> np.ndarray:
        return self._called("sum", dtype, x, dim=1)

    def product(self, a: np.ndarray, b: np.ndarray, dtype: str) -> np.ndarray:
        return self._called("gemm", dtype, a, b)

    def _called(self, operation: str, kind: str, *operands: np.ndarray, **parameters: Any) -> np.ndarray:
        one = self._first.get(operation)
        if one is None:
            raise Unable(f"{self.name} has no {operation}")
        if one.dtypes is not None and kind not in one.dtypes:
            raise Unable(f"{one.id} is written for {', '.join(one.dtypes)}, not {kind}")
        tensors = [to_tensor(x, kind, self._device) for x in operands]
        return to_numbers(_tried(lambda: one.function(*tensors, **parameters)))


def _tried(call: Callable[[], torch.Tensor]) -> torch.Tensor:
    try:
        return call()
    except Exception as error:  # whatever it is, it is why there is no answer
        raise Unable(f"{type(error).__name__}: {error}".splitlines()[0][:200]) from None
