"""argmax(x, *, dim): where along an axis the largest element is."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from golden import enclosure
from golden.case import Case
from golden.dtypes import FLOATS
from kernels.along import Selection


class Argmax(Selection):
    """The index along ``dim``, which the result does not have, of the largest element: int64."""

    name = "argmax"
    also_drawn: ClassVar = {"x": ("lowest",)}
    dtypes = (*FLOATS, "int64")
    neutral = float("-inf")
    policies: ClassVar = {
        "ties": "of equal elements the first; zeros of both signs are equal",
        "NaN": "counts as the largest of all; of several the first",
        "empty": "an axis of length 0 is not a valid input",
    }

    def output_dtype(self, case: Case) -> str:
        return "int64"

    def reference(self, x: Any, *, dim: int) -> Any:
        return np.argmax(enclosure.numbers(x), axis=dim)
