"""floor_divide(x, y): the quotient of two integers, rounded down, elementwise."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from golden.dtypes import INTEGERS, dtype_of
from kernels.elementwise import Broadcast

SMALLEST = [np.iinfo(dtype_of(dtype).storage).min for dtype in INTEGERS if dtype.startswith("int")]
"""The smallest integers of all dtypes: divided by -1 they overflow, if they are of theirs."""


class FloorDivide(Broadcast):
    """Exact, of integers; the two are broadcast against each other."""

    name = "floor_divide"
    dtypes = ("int64", "int32", "int8", "uint8")
    policies: ClassVar = {
        "rounding": "toward minus infinity, as in Python",
        "division by zero": "open, and nothing that ends the process",
        "overflow": "open: the smallest integer and -1",
    }

    def reference(self, x: Any, y: Any) -> Any:
        open_ = (y == 0) | ((y == -1) & np.isin(x, SMALLEST))
        return np.ma.masked_array(np.floor_divide(x, np.where(open_, 1, y)), open_)
