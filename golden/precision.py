"""How precisely a contract wants a computation done: the units that error bounds are made of."""

from __future__ import annotations

from dataclasses import dataclass, replace

from golden.dtypes import DType, dtype_of
from golden.rounding import MODES

NUMERICS = {
    "ieee": "computed as the contract says",
    "tf32": "float32 operands of matrix products rounded to 11 significand bits",
    "narrow": "intermediate results kept in the tensors' own dtype between passes",
}
"""What an implementation may declare of its arithmetic. It is then judged by that, and the report lists it."""


@dataclass(frozen=True)
class Precision:
    """The roundings that a correct implementation may make.

    ``compute`` is the dtype whose rounding every arithmetic operation makes, and whose range intermediate results
    have; ``exact`` for operations that make none before the result is rounded. Accuracies of functions are in ULP of
    that dtype and follow the OpenCL C specification, 7.4 ("Relative error as ULPs"): division 2.5, exp 3. In float32,
    exp may also lose ``exp_slope`` ULP for each unit of its argument, as the specification's relaxed mode allows
    (3 + floor(2|x|)), because hardware has exp2 and rounds the argument times log2(e).
    ``flushes`` says that functions and divisions may flush subnormal results to zero. ``kept`` names a dtype that
    results of functions are rounded to before they are used again. ``operands`` is how the operands of matrix products
    are rounded first: None, or significand bits and a mode of :mod:`golden.rounding`. ``flushed`` names a dtype whose
    subnormal numbers matrix products take for zero, as operands and as terms.
    """

    compute: str = "float32"
    divide_ulp: float = 2.5
    exp_ulp: float = 3.0
    exp_slope: float = 2.0
    flushes: bool = True
    kept: str | None = None
    operands: tuple[int, str] | None = None
    flushed: str | None = None

    @property
    def dtype(self) -> DType | None:
        return None if self.compute == "exact" else dtype_of(self.compute)

    @property
    def unit(self) -> float:
        """Unit roundoff of one arithmetic operation."""
        return self.dtype.unit if self.dtype else 0.0

    @property
    def kept_unit(self) -> float:
        """Unit roundoff of keeping a function's result; 0 when it is kept as computed."""
        return dtype_of(self.kept).unit if self.kept else 0.0

    @property
    def significand(self) -> int:
        """Bits of the accumulator's significand."""
        return self.dtype.precision if self.dtype else 53

    @property
    def largest(self) -> float:
        """The largest finite intermediate result."""
        return self.dtype.largest if self.dtype else float("inf")

    @property
    def underflow(self) -> float:
        """The absolute error that one underflowing multiplication, division or function may make."""
        if not self.dtype:
            return 0.0
        return self.dtype.smallest_normal if self.flushes else self.dtype.quantum

    def flushing(self, dtype: str) -> Precision:
        """Return this precision with matrix units that have no subnormal numbers, for tensors of ``dtype``."""
        return replace(self, flushed=dtype)

    def declared(self, numerics: str, dtype: str) -> tuple[Precision, ...]:
        """Return this precision as relaxed by what an implementation declares, for tensors of ``dtype``.

        Several where hardware has several ways: an output must fit one of them as a whole. None where the declaration
        changes nothing for this dtype. Raises ValueError for numerics that are not known.
        """
        if numerics not in NUMERICS:
            raise ValueError(f"unknown numerics {numerics!r}; there are {', '.join(NUMERICS)}")
        if numerics == "tf32" and dtype == "float32":
            return tuple(replace(self, operands=(TF32_BITS, mode)) for mode in MODES)
        if numerics == "narrow" and self.dtype and dtype_of(dtype).unit > self.unit:
            return (replace(self, kept=dtype),)
        return ()


TF32_BITS = 11
"""Significand bits of tf32, the leading one counted."""
