"""What may be the cause of a difference: one idea each, as the step of a computation that a machine takes otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from golden.dtypes import dtype_of
from golden.emulation import APPROXIMATIONS, AS_PROMISED, FORMATS, WHOLE, Emulation, MatrixUnit, Rounding, Sums
from golden.orders import lanes
from golden.rounding import MODES

NARROW = ("tf32", "bfloat16", "float16")
"""Formats that float32 is rounded to by machines that are in a hurry."""

WIDTHS = (1, 4, 8, 16)
"""How many products a unit adds at a time."""

ALIGNED = (24, 25, 26)
"""Bits to which matrix units align the products that they add at once."""

ALIGNED_WIDTHS = (4, 8, 16, 32)
"""How many products such units add at once."""

LANES = (4, 8, 16)
"""Lanes of vectors, each of which keeps a running sum: term i goes to lane i modulo their number."""

FEWER_BITS = (14, 13)
"""Significand bits of accumulators that are none of the formats'."""


@dataclass(frozen=True)
class Cause:
    """One cause: ``what`` is done ``how``, in words, and the steps that it changes.

    ``evidence`` is what was measured of a platform and says that it does so; "" where nothing was.
    """

    what: str
    how: str
    emulation: Emulation
    evidence: str = ""

    @property
    def name(self) -> str:
        return f"{self.what} {self.how}"

    @property
    def changes(self) -> dict[str, object]:
        """The steps that are changed, by name."""
        pairs = zip(Emulation._fields, self.emulation, AS_PROMISED, strict=True)
        return {name: mine for name, mine, usual in pairs if mine != usual}


def causes(dtype: str, stored: Sequence[str]) -> list[Cause]:
    """Return every cause that may be tried for tensors of ``dtype`` and results that are ``stored`` in these dtypes."""
    if not dtype_of(dtype).is_float:
        return list(_of_whole_numbers())
    floats = [name for name in dict.fromkeys(stored) if dtype_of(name).is_float]
    return [
        *_of_steps(dtype),
        *(Cause("computed with", name, Emulation(approximation=name)) for name in APPROXIMATIONS),
        *(cause for result in floats for cause in _of_storing(result)),
        *_of_whole_numbers(),
        *(Cause("sums", str(sums), Emulation(sums=sums)) for sums in _accumulators(dtype)),
        *(Cause("matrix products added", str(unit), Emulation(unit=unit)) for unit in _units(dtype)),
    ]


def together(several: Sequence[Cause]) -> Emulation | None:
    """Return the emulation of ``several`` causes at once; None where two change the same step."""
    changes: dict[str, object] = {}
    for cause in several:
        if changes.keys() & cause.changes.keys():
            return None
        changes |= cause.changes
    return AS_PROMISED._replace(**changes)  # type: ignore[arg-type]


def _of_steps(dtype: str) -> Iterator[Cause]:
    for step, what in (("operands", "operands of matrix products"), ("inputs", "inputs")):
        for rounding in (Rounding(dtype, flushed=True), *_roundings(dtype)):
            yield Cause(what, str(rounding), Emulation(**{step: rounding}))  # type: ignore[arg-type]
    # Narrow tensors are computed in float32, so that what is between may be rounded to the tensors' own format too.
    steps = {
        "computed": "computed operands of matrix products",
        "kept": "results kept between passes",
        "functions": "results of functions",
    }
    for step, what in steps.items():
        for rounding in _roundings(dtype if dtype == "float64" else "float32"):
            yield Cause(what, str(rounding), Emulation(**{step: rounding}))  # type: ignore[arg-type]


def _roundings(dtype: str) -> Iterator[Rounding]:
    """Yield the roundings of ``dtype`` to formats of fewer bits."""
    for name in ("float32",) if dtype == "float64" else NARROW:
        if FORMATS[name][0] < FORMATS[dtype][0]:
            yield from (Rounding(name, mode) for mode in MODES)


def _of_storing(dtype: str) -> Iterator[Cause]:
    for last in (Rounding(dtype, "truncated"), Rounding(dtype, "away"), Rounding(dtype, flushed=True)):
        yield Cause("results", str(last), Emulation(result=(last,)))
    for between in ("float32", *NARROW):
        if FORMATS[between][0] > FORMATS[dtype][0]:
            twice = (Rounding(between), Rounding(dtype))
            yield Cause("results", f"rounded twice, to {between} first", Emulation(result=twice))
        elif FORMATS[between][0] < FORMATS[dtype][0]:
            yield from (
                Cause("results", str(rounding), Emulation(result=(rounding, Rounding(dtype))))
                for rounding in (Rounding(between), Rounding(between, "truncated"))
            )


def _of_whole_numbers() -> Iterator[Cause]:
    yield from (Cause("rounded to whole numbers", name, Emulation(whole=name)) for name in WHOLE)


def _accumulators(dtype: str) -> Iterator[Sums]:
    if dtype == "float64":
        yield Sums(24)
        return
    yield from (Sums(11, mode, "float16", width) for mode in ("nearest", "truncated") for width in WIDTHS)
    yield from (Sums(8, "nearest", "bfloat16", width) for width in WIDTHS)
    yield from (Sums(24, "truncated", width=width) for width in WIDTHS)
    yield from (Sums(bits, mode) for bits in FEWER_BITS for mode in ("nearest", "truncated"))
    yield from (Sums(24, fused=fused) for fused in (True, False))
    yield from (Sums(24, order=lanes(count, across)) for count in LANES for across in ("pairwise", "sequential"))
    yield from (Sums(11, "nearest", "float16", chunk=chunk) for chunk in (16, 32, 64, 128))
    yield from (Sums(11, "nearest", "float16", fused=False), Sums(8, "nearest", "bfloat16", fused=False))


def _units(dtype: str) -> Iterator[MatrixUnit]:
    if dtype == "float64":
        return
    kept = FEWER_BITS if dtype_of(dtype).itemsize == 1 else ALIGNED
    yield from (MatrixUnit(width, bits, min(bits, 24)) for width in ALIGNED_WIDTHS for bits in kept)
