"""quantize_fp8(x, scale, *, format): x / scale in a float8 format, saturated, with a scale for each row."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, CaseError
from golden.dtypes import dtype_of
from kernels.quantization import RowScaled, quotient

FORMATS = {"e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}


class QuantizeFp8(RowScaled):
    """x / scale, computed in float32, held within the largest numbers of the format, and rounded to nearest even.

    ``scale`` is float32 and has the shape of x without its last axis; ``format`` is "e4m3" or "e5m2" of the OCP 8-bit
    floating point specification (2023). Where the quotient is too near to the middle of two numbers, either is right.
    """

    name = "quantize_fp8"
    policies: ClassVar = {
        "NaN": "stays NaN",
        "inf": "saturates, in both formats",
        "overflow": "saturates",
        "subnormals": "of the format are kept",
        "division": "exact by powers of two; elsewhere the reciprocal may be multiplied by instead",
        "scale of 0": "open",
        "signed zero": "open: the sign of a zero result",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        if case.params.get("format") not in FORMATS:
            raise CaseError(f"quantize_fp8 needs params.format, one of {tuple(FORMATS)}, not {case.params}")
        return super().shapes(case)

    def output_dtype(self, case: Case) -> str:
        return FORMATS[case.params["format"]]

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        formats = st.sampled_from(tuple(FORMATS))
        return st.tuples(super().dims(budget), formats).map(lambda both: (both[0][0], {"format": both[1]}))

    def reference(self, x: Any, scale: Any, *, format: str) -> Any:
        dtype = FORMATS[format]
        largest = dtype_of(dtype).largest
        held = enclosure.minimum(enclosure.maximum(quotient(x, scale), -largest), largest)
        return enclosure.nearest_in(held, dtype)
