"""shift_right(x, y): x divided by two to the power of y and rounded down, elementwise."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from golden.case import Case
from golden.dtypes import dtype_of
from kernels.elementwise import Broadcast


class ShiftRight(Broadcast):
    """The arithmetic shift, which fills in the sign: exact. The two are broadcast against each other."""

    name = "shift_right"
    dtypes = ("int64", "int32", "int8", "uint8")
    policies: ClassVar = {"wide shifts": "not a valid input: y is 0 or more, and less than the bits of x"}

    def limits(self, case: Case, tensor: str) -> tuple[int, int] | None:
        return (0, 8 * dtype_of(case.dtype).itemsize) if tensor == "y" else None

    def reference(self, x: Any, y: Any) -> Any:
        return np.right_shift(x, y)
