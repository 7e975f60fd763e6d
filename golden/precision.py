"""How precisely a contract wants a computation done: the units that error bounds are made of."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import NamedTuple

from golden.accuracy import TABLES, Accuracy
from golden.dtypes import DType, dtype_of
from golden.emulation import AS_PROMISED, Emulation


class Operands(NamedTuple):
    """How the operands of a matrix product are rounded before they are multiplied.

    To ``bits`` significand bits by a ``mode`` of :mod:`golden.rounding`. With two ``parts``, what the first rounding
    lost is rounded too and enters the product, all but lost times lost: three products instead of one.
    """

    bits: int
    mode: str = "nearest"
    parts: int = 1


class Accumulator(NamedTuple):
    """What sums and products are added up in, where it is not the dtype of the computation.

    ``bits`` of significand and rounding by ``mode`` at each addition, with the range of ``dtype``. After ``chunk``
    terms (None: never) the sum is added to one in the dtype of the computation, and a new one begins.
    """

    dtype: str = "float32"
    bits: int = 24
    mode: str = "nearest"
    chunk: int | None = None

    @property
    def unit(self) -> float:
        """The largest relative error of one addition."""
        return 2.0 ** (1 - self.bits if self.mode == "truncated" else -self.bits)


@dataclass(frozen=True)
class Precision:
    """The roundings that a correct implementation may make.

    Attributes:
        compute: the dtype whose rounding every arithmetic operation makes, and whose range intermediate results have;
            ``exact`` for operations that make none before the result is rounded.
        functions: the table of :mod:`golden.accuracy` that functions and divisions are held to.
        flushes: functions and divisions may flush subnormal results to zero.
        kept: a dtype that intermediate results may be rounded to, where the formula says so, before they are used.
        fed: the dtype that matrix units are fed with: computed operands of matrix products may be rounded to it first.
        operands: how all operands of matrix products are rounded first; None for not at all.
        accumulator: what matrix products are summed in; None for the dtype of the computation.
        flushed: a dtype whose subnormal numbers matrix products take for zero, as operands and as terms. Sums may take
            those of the dtype of the computation for zero.
        emulated: steps that are not bounded but followed, to see whether an output is what they make.

    Whether a multiplication and the addition after it are fused into one rounding is left to the implementation: a sum
    of n products has n roundings at most either way.
    """

    compute: str = "float32"
    functions: str = "full"
    flushes: bool = True
    kept: str | None = None
    fed: str | None = None
    operands: Operands | None = None
    accumulator: Accumulator | None = None
    flushed: str | None = None
    emulated: Emulation = AS_PROMISED

    @functools.cached_property
    def dtype(self) -> DType | None:
        return None if self.compute == "exact" else dtype_of(self.compute)

    @functools.cached_property
    def doubled(self) -> bool:
        """Whether golden needs more than float64, because the computation itself is held to float64."""
        return self.compute in ("exact", "float64")

    @functools.cached_property
    def unit(self) -> float:
        """Unit roundoff of one arithmetic operation."""
        return self.dtype.unit if self.dtype else 0.0

    @functools.cached_property
    def significand(self) -> int:
        """Bits of the accumulator's significand."""
        if self.accumulator:
            return self.accumulator.bits
        return self.dtype.precision if self.dtype else 53

    @functools.cached_property
    def largest(self) -> float:
        """The largest finite intermediate result."""
        return self.dtype.largest if self.dtype else float("inf")

    @functools.cached_property
    def largest_sum(self) -> float:
        """The largest finite sum of a matrix product."""
        return dtype_of(self.accumulator.dtype).largest if self.accumulator else self.largest

    @functools.cached_property
    def underflow(self) -> float:
        """The absolute error that one underflowing multiplication, division or function may make."""
        if not self.dtype:
            return 0.0
        return self.dtype.smallest_normal if self.flushes else self.dtype.quantum

    def accuracy(self, function: str) -> Accuracy:
        """Return how accurate ``function`` ("divide" for a division) must be."""
        if not self.dtype:
            return Accuracy(0.0)
        # What is said to be computed in a narrow dtype is computed in float32, and rounded to it.
        table = TABLES[self.functions]
        return table[self.compute][function] if self.compute in table else Accuracy(1.0)
