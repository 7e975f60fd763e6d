"""quantize_int8(x, scale): x / scale as the nearest of the numbers that int8 has, with a scale for each row."""

from __future__ import annotations

from typing import Any, ClassVar

from golden import enclosure
from golden.case import Case
from kernels.quantization import RowScaled, quotient


class QuantizeInt8(RowScaled):
    """x / scale, computed in float32, rounded to the nearest whole number, ties to even, and held in -128 to 127.

    ``scale`` is float32 and has the shape of x without its last axis. Where the quotient is too near to the middle of
    two numbers, either is right.
    """

    name = "quantize_int8"
    policies: ClassVar = {
        "NaN": "open",
        "inf": "saturates",
        "overflow": "saturates",
        "division": "exact by powers of two; elsewhere the reciprocal may be multiplied by instead",
        "scale of 0": "open",
    }

    def output_dtype(self, case: Case) -> str:
        return "int8"

    def reference(self, x: Any, scale: Any) -> Any:
        whole = enclosure.nearest_integer(quotient(x, scale))
        return enclosure.minimum(enclosure.maximum(whole, -128), 127)
