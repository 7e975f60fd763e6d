"""What a platform's profile says of causes: those that its probes have measured, in the words of their answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from golden.case import Case
from golden.causes import Cause
from golden.dtypes import dtype_of
from golden.emulation import FORMATS, Emulation, MatrixUnit, Rounding, Sums
from golden.followed import Accumulator, Followed
from golden.orders import order_of
from kernels.operation import Operation
from platforms.profile.trees import from_brackets

Answers = Sequence[Mapping[str, str]]
"""Answers of a profile: each with ``machine``, ``topic``, ``subject`` and ``answer``."""

_MODES = {
    "nearest even": "nearest",
    "nearest away": "away",
    "truncated": "truncated",
    "toward zero": "truncated",
}
_ORDER = re.compile(
    r"(?:blocks of (?P<chunk>\d+), each )?(?:(?P<width>\d+) at a time|(?P<all>all at once)|sequential)"
    r"(?:, then sequential)?"
)
_BITS = re.compile(r"(?P<bits>\d+) bits, (?P<mode>.+)")
_JOINED = "; 24 bits, nearest even"
_HALF = FORMATS["float16"][0]


def measured(answers: Answers, operation: Operation, implementation: str, dtype: str) -> list[Cause]:
    """Return the causes that ``answers`` name for tensors of ``dtype``, with those words as their evidence.

    Of sums and matrix products counts what was asked of the implementation itself; products of other operations are
    taken to be added up as by the first matrix product of their paradigm. Numbers are taken and stored as in all of it.
    """
    _, paradigm, _ = implementation.split("/")
    of_paradigm = (one["machine"] for one in answers if one["machine"].startswith(f"gemm/{paradigm}/"))
    alone = operation.name == "gemm"  # its formula is the product, and is written in one way
    products = implementation if alone else next(of_paradigm, "")
    ways = (False,) if alone else (False, True)
    found = [
        *(_of_products(_Told(answers, products, dtype), dtype, ways) if operation.multiplies_matrices else ()),
        *_of_sums(_Told(answers, implementation, dtype)),
        *_of_numbers(_Told(answers, paradigm, dtype), dtype),
    ]
    return [one for one in found if one.changes]


def measured_at(told: Mapping[str, str], implementation: str, case: Case) -> list[Cause]:
    """Return the causes in how products of the very shape of ``case`` are added up, as measured of the implementation.

    ``told`` is what :func:`platforms.profile.shaped.order_at` found. Of how sums of sums are rounded nothing is known
    where there is only the last; both ways are causes then.
    """
    inner = _accumulator(told.get("taken in", "")) or _accumulator(told.get("joined", ""))
    if "tree" not in told or inner is None:
        return []
    outer = _accumulator(told["joined"])
    kept = _BITS.fullmatch(told["aligned"])
    evidence = f"{implementation} at {' x '.join(str(size) for size in case.dims.values())}: {_heard(told)}"
    return [
        Cause("matrix products added", str(unit), Emulation(unit=unit), evidence)
        for last in ([outer] if outer else dict.fromkeys((Accumulator(), inner)))
        for unit in [
            Followed(from_brackets(told["tree"]), inner, last, int(kept["bits"]) if kept else None, told["words"])
        ]
    ]


def _accumulator(answer: str) -> Accumulator | None:
    """Return the accumulator that an answer tells; None where it tells of none, of several, or of no rounding."""
    found = _BITS.fullmatch(answer)
    return Accumulator(int(found["bits"]), _MODES[found["mode"]]) if found and found["mode"] in _MODES else None


def _heard(told: Mapping[str, str]) -> str:
    parts = (f"{topic} {told[topic]}" for topic in ("taken in", "aligned", "joined") if told[topic] != "none")
    return "; ".join([told["words"], *parts])


class _Told:
    """What one machine was found to do with tensors of one dtype."""

    def __init__(self, answers: Answers, machine: str, dtype: str) -> None:
        mine = [one for one in answers if one["machine"] == machine]
        self._answers = {one["topic"]: one["answer"] for one in mine if one["subject"] == dtype}
        self.conversions = {one["subject"]: one["answer"] for one in mine if one["topic"] == "rounding of conversions"}
        self._machine = machine

    def __call__(self, topic: str) -> str:
        return self._answers.get(topic, "")

    def cause(self, what: str, how: object, emulation: Emulation, *topics: str) -> Cause:
        """Return a cause whose evidence are the answers on ``topics``."""
        return Cause(what, str(how), emulation, self.evidence(*((topic, self(topic)) for topic in topics)))

    def evidence(self, *said: tuple[str, str]) -> str:
        return f"{self._machine}: {', '.join(f'{topic} ({answer})' for topic, answer in said)}"


def _of_products(told: _Told, dtype: str, ways: Sequence[bool]) -> Iterator[Cause]:
    """Yield the causes in products; ``ways`` says whether formulas are written otherwise, one after the other."""
    taken, what = told("operands of products"), "operands of matrix products"
    name, _, mode = taken.partition(", ")
    if name in FORMATS and mode in _MODES:
        rounding = Rounding(name, _MODES[mode])
        for otherwise in ways:
            how = f"{rounding}{', the formula written otherwise' if otherwise else ''}"
            yield told.cause(what, how, Emulation(operands=rounding, otherwise=otherwise), "operands of products")
    if told("subnormal operands of products") == "flushed":
        rounding = Rounding(dtype, flushed=True)
        yield told.cause(what, rounding, Emulation(operands=rounding), "subnormal operands of products")
    order, accumulator, alignment = (
        told(topic) for topic in ("order of products", "accumulator of products", "alignment of products added at once")
    )
    steps, kept = _ORDER.fullmatch(order), _BITS.fullmatch(alignment)
    held = _BITS.fullmatch(accumulator.removesuffix(_JOINED) if steps and steps["chunk"] else accumulator)
    topics = ["order of products", "accumulator of products"]
    if kept and steps and held and held["mode"] in _MODES:
        width, chunk = _steps(steps)
        unit = MatrixUnit(width, int(kept["bits"]), int(held["bits"]), chunk)
        topics.append("alignment of products added at once")
        yield told.cause("matrix products added", unit, Emulation(unit=unit), *topics)
    elif sums := _sums(order, accumulator):
        yield told.cause("sums", sums, Emulation(sums=sums), *topics)


def _of_sums(told: _Told) -> Iterator[Cause]:
    if sums := _sums(told("order of sums"), told("accumulator of sums")):
        yield told.cause("sums", sums, Emulation(sums=sums), "order of sums", "accumulator of sums")


def _sums(order: str, accumulator: str) -> Sums | None:
    """Return the sums in an order by an accumulator, as answers say; None for what cannot be followed.

    That is an accumulator wider than float32, and an order in which several terms meet at once inside of others.
    """
    held = _BITS.fullmatch(accumulator)
    if not held or held["mode"] not in _MODES or int(held["bits"]) > FORMATS["float32"][0]:
        return None
    bits = int(held["bits"])
    kind = Sums(bits, _MODES[held["mode"]], "float16" if bits == _HALF else "float32")
    if steps := _ORDER.fullmatch(order):
        width, chunk = _steps(steps)
        return kind._replace(width=width, chunk=chunk)
    structure = order_of(order)
    return kind._replace(order=structure) if structure else None


def _steps(found: re.Match[str]) -> tuple[int, int | None]:
    """Return how many terms are added at a time, and after how many an outer accumulator takes them over."""
    chunk = int(found["chunk"]) if found["chunk"] else None
    return (chunk or 1) if found["all"] else int(found["width"] or 1), chunk


def _of_numbers(told: _Told, dtype: str) -> Iterator[Cause]:
    flushed = Rounding(dtype, flushed=True) if dtype_of(dtype).is_float else None
    if flushed and told("subnormal operands") == "flushed":
        yield told.cause("inputs", flushed, Emulation(inputs=flushed), "subnormal operands")
    if flushed and told("subnormal results") == "flushed":
        yield told.cause("results", flushed, Emulation(result=(flushed,)), "subnormal results")
    for subject, answer in told.conversions.items():
        source, _, target = subject.partition(" to ")
        mode, _, way = answer.partition(", through ")
        # Narrow tensors are computed in float32, and only casts have a format of their own to come from.
        if dtype not in (source, target) or (target == dtype and source != "float32"):
            continue
        if mode not in _MODES or (mode == "nearest even" and not way):
            continue
        last = Rounding(target, _MODES[mode])
        emulation = Emulation(result=(Rounding(way), last) if way else (last,))
        evidence = told.evidence((f"rounding of {subject}", answer))
        yield Cause("results", f"rounded twice, to {way} first" if way else str(last), emulation, evidence)
