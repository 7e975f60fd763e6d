"""max(x, *, dim): the largest element along an axis, and where it is."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from golden import enclosure
from golden.case import Case, Form
from golden.dtypes import FLOATS
from kernels.along import Selection


class Max(Selection):
    """The largest elements along ``dim``, which the results do not have, and their indices."""

    name = "max"
    also_drawn: ClassVar = {"x": ("lowest",)}
    dtypes = (*FLOATS, "int64")
    neutral = float("-inf")
    policies: ClassVar = {
        "ties": "of equal elements the first index; zeros of both signs are equal",
        "NaN": "counts as the largest of all; of several the first index",
        "empty": "an axis of length 0 is not a valid input",
    }

    def results(self, case: Case) -> dict[str, Form]:
        shape = self.output_shape(case)
        return {"values": Form(shape, case.dtype), "indices": Form(shape, "int64")}

    def independent_axis(self, case: Case) -> None:
        return None

    def reference(self, x: Any, *, dim: int) -> Any:
        numbers = enclosure.numbers(x)
        index = np.argmax(numbers, axis=dim)
        return np.take_along_axis(numbers, np.expand_dims(index, dim), dim).squeeze(dim), index
