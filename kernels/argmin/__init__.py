"""argmin(x, *, dim): where along an axis the smallest element is."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from golden import enclosure
from golden.case import Case
from golden.dtypes import FLOATS
from kernels.along import Selection


class Argmin(Selection):
    """The index along ``dim``, which the result does not have, of the smallest element: int64."""

    name = "argmin"
    also_drawn: ClassVar = {"x": ("highest",)}
    dtypes = (*FLOATS, "int64")
    neutral = float("inf")
    policies: ClassVar = {
        "ties": "of equal elements the first; zeros of both signs are equal",
        "NaN": "counts as the smallest of all; of several the first",
        "empty": "an axis of length 0 is not a valid input",
    }

    def output_dtype(self, case: Case) -> str:
        return "int64"

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        known = super().regimes(dtype, tensor)
        return (*known, "masked_above") if "masked" in known else known

    def reference(self, x: Any, *, dim: int) -> Any:
        return np.argmin(enclosure.numbers(x), axis=dim)
