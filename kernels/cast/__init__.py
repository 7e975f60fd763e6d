"""cast(x, *, dtype): the same numbers in another dtype, as near as it can hold them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, CaseError
from golden.dtypes import FLOAT8S, FLOATS, DType, decode, dtype_of, encode
from golden.precision import Precision
from kernels.elementwise import Elementwise

TARGETS = (*FLOATS, *FLOAT8S, "int32", "int8")


class Cast(Elementwise):
    """Into a floating dtype rounded to nearest even, into an integer one truncated; integers among them wrap around.

    Everything is exact, bit for bit, but for what the policies leave open.
    """

    name = "cast"
    dtypes = (*FLOATS, *FLOAT8S, "int64", "int32", "int8")
    policies: ClassVar = {
        "NaN": "stays NaN; open: what it is as an integer",
        "overflow": "becomes an infinity; integers wrap around when they become other integers",
        "overflow of float8": "open: saturated, or an infinity, or NaN where there is none",
        "float to integer overflow": "open",
        "double rounding": "open: where a way into a dtype narrower than float32 through float32 shows",
        "subnormals": "are kept",
        "signed zero": "open: the sign of a zero result",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        if case.params.get("dtype") not in TARGETS:
            raise CaseError(f"cast needs params.dtype, one of {TARGETS}, not {case.params.get('dtype')!r}")
        return super().shapes(case)

    def output_dtype(self, case: Case) -> str:
        return str(case.params["dtype"])

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        targets = st.sampled_from(TARGETS)
        return st.tuples(super().dims(budget), targets).map(lambda both: (both[0][0], {"dtype": both[1]}))

    def precision(self, dtype: str) -> Precision:
        return Precision(compute="exact")

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        known = super().regimes(dtype, tensor)
        return (*known, "halves") if dtype_of(dtype).is_float else known

    def reference(self, x: Any, *, dtype: str) -> Any:
        numbers, kind = enclosure.numbers(x), dtype_of(dtype)
        if kind.is_float:
            return _floats(x, numbers, kind)
        return _rounded(numbers, dtype) if numbers.dtype == np.int64 else _integers(x, numbers, kind)


def _floats(x: Any, numbers: np.ndarray, kind: DType) -> np.ma.MaskedArray:
    once, through = _rounded(numbers, kind.name), _rounded(_rounded(numbers, "float32"), kind.name)
    open_ = (once != through) & ~np.isnan(once) if kind.unit > dtype_of("float32").unit else np.zeros(once.shape, bool)
    if kind.name in FLOAT8S:
        open_ |= ~np.isfinite(once) & ~np.isnan(numbers)
    return np.ma.masked_array(enclosure.numbers(enclosure.nearest_in(x, kind.name)), open_)


def _integers(x: Any, numbers: np.ndarray, kind: DType) -> np.ma.MaskedArray:
    whole, ends = enclosure.numbers(enclosure.toward_zero(x)), np.iinfo(kind.storage)
    inside = (whole >= float(ends.min)) & (whole < float(ends.max) + 1)  # NaN is neither
    return np.ma.masked_array(np.where(inside, whole, 0.0).astype(np.int64), ~inside)


def _rounded(numbers: np.ndarray, dtype: str) -> np.ndarray:
    return decode(encode(numbers, dtype), dtype)
