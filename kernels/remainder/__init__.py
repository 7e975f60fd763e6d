"""remainder(x, y): what is left of x when it is divided by y, with the sign of y, elementwise."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from kernels.elementwise import Broadcast
from kernels.floor_divide import SMALLEST


class Remainder(Broadcast):
    """Exact, of integers; the two are broadcast against each other."""

    name = "remainder"
    dtypes = ("int64", "int32", "int8", "uint8")
    policies: ClassVar = {
        "sign": "that of y, as in Python: x is y * floor(x / y) plus the remainder",
        "division by zero": "open, and nothing that ends the process",
        "overflow": "open: the smallest integer and -1",
    }

    def reference(self, x: Any, y: Any) -> Any:
        open_ = (y == 0) | ((y == -1) & np.isin(x, SMALLEST))
        return np.ma.masked_array(np.remainder(x, np.where(open_, 1, y)), open_)
