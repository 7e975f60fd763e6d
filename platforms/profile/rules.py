"""What answers are held against: what contracts ask of every machine, unless its files declare otherwise.

A topic without a rule is open: what comes out is recorded and compared between platforms, and not judged. An answer of
"unknown" breaks a rule only where it is sure that the right answer is none of those that fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from golden.dtypes import dtype_of
from golden.precision import Precision
from platforms.profile.answer import UNKNOWN, Answer
from platforms.profile.operands import AS_THEY_ARE, named

_Part = tuple[str, str, Mapping[str, Any]]
"""What an answer says of one operation of several, or as a whole: its name or "", the answer, its evidence."""

_RIGHT: dict[str, tuple[str, ...]] = {
    "subnormal operands": ("kept",),
    "subnormal results of conversions": ("kept",),
    "rounding of conversions": ("nearest even",),
    "maximum with NaN": ("NaN",),
    "minimum with NaN": ("NaN",),
}
"""The right answers of topics that have the same for every machine."""

_EXACT = {
    "subnormal results": (("subtract",), "kept"),
    "rounding of arithmetic": (("add", "subtract", "multiply"), "nearest even"),
}
"""The same of some operations alone: products and quotients may flush results, and quotients be off by some ULP."""


def broken(answer: Answer, accepted: Mapping[str, Sequence[str]], ways: Sequence[Precision] = ()) -> str:
    """Return which rule ``answer`` breaks, in a sentence; "" if none.

    ``accepted`` are answers that are declared, by topic, or by topic and operation, such as ``"subnormal operands,
    sqrt"``; ``ways`` the precisions that an implementation may have for the dtype that is asked about, the contract's
    own among them.
    """
    wrong = [
        f"{f'{name}: ' if name else ''}{found}, and should be {' or '.join(right)}"
        for (name, found, evidence), right in _held(answer, accepted.get(answer.topic, ()), ways)
        if found not in (*right, *accepted.get(f"{answer.topic}, {name}", ())) and _sure(found, evidence, right)
    ]
    return f"{answer.topic}, {answer.subject}: {'; '.join(wrong)}" if wrong else ""


def _held(
    answer: Answer, accepted: Sequence[str], ways: Sequence[Precision]
) -> Iterator[tuple[_Part, tuple[str, ...]]]:
    """Yield the parts of ``answer`` that a rule holds of, each with what it may be."""
    whole = ("", answer.answer, answer.evidence)
    if answer.topic in _RIGHT:
        yield from ((part, (*_RIGHT[answer.topic], *accepted)) for part in _parts(answer))
    elif answer.topic in _EXACT:
        names, right = _EXACT[answer.topic]
        yield from ((part, (right, *accepted)) for part in _parts(answer) if part[0] in names)
    elif answer.topic == "overflow of conversions":
        yield from ((part, (*right, *accepted)) for part, right in _beyond(answer))
    elif answer.topic.startswith("error of "):
        yield whole, _accurate(answer, accepted)
    for topic, rule in _OF_WAYS.items():
        if answer.topic.startswith(topic):
            yield whole, (*rule(answer, ways), *accepted)


def _parts(answer: Answer) -> Iterator[_Part]:
    """Yield what an answer says of each operation that it stands for, or of all at once."""
    single = {name: one for name, one in answer.evidence.items() if isinstance(one, Mapping) and "answer" in one}
    if single:
        yield from ((name, one["answer"], one) for name, one in single.items())
    else:
        yield "", answer.answer, answer.evidence


def _sure(found: str, evidence: Mapping[str, Any], right: Sequence[str]) -> bool:
    """Whether what was ``found`` is none of what is ``right``, rather than one of several answers that fit."""
    fits = evidence.get("fits", {})
    return found != UNKNOWN or (bool(fits) and all(fits.get(name, 0) < evidence["points"] for name in right))


def _beyond(answer: Answer) -> Iterator[tuple[_Part, tuple[str, ...]]]:
    """Yield what becomes of numbers beyond the range of a conversion, and of an infinity where that differs."""
    narrow = dtype_of(answer.subject.rpartition(" ")[2]).itemsize == 1
    finite, _, infinite = answer.answer.partition("; of an infinity, ")
    yield ("", finite, answer.evidence), ("the largest number",) if narrow else ("an infinity",)
    if infinite:
        yield ("of an infinity", infinite, {}), ("an infinity", *(["the largest number", "NaN"] if narrow else []))


def _accurate(answer: Answer, accepted: Sequence[str]) -> tuple[str, ...]:
    """Return the answer itself where a function is as accurate as contracts ask, or as is accepted; else what would do.

    What is accepted of an error is a number of ULP, such as "0.6 ULP".
    """
    most = max((float(number.split()[0]) for number in accepted), default=0.0)
    right = answer.evidence["within"] or float(answer.evidence["ulp"]) <= most
    return (answer.answer,) if right else (answer.evidence["allowed"],)


def _operands(answer: Answer, ways: Sequence[Precision]) -> tuple[str, ...]:
    return (AS_THEY_ARE, *(named(*way.operands) for way in ways if way.operands))


def _held_in(answer: Answer, ways: Sequence[Precision]) -> tuple[str, ...]:
    """Return the answer itself where a sum has the bits that one of ``ways`` has, else what would do."""
    least = min(way.significand for way in ways)
    found = [one["bits"] for one in answer.evidence.get("found", ())]
    return (answer.answer,) if all(bits >= least for bits in found) else (f"{least} bits or more",)


def _subnormals(answer: Answer, ways: Sequence[Precision]) -> tuple[str, ...]:
    return ("kept", "flushed") if any(way.flushed == answer.subject for way in ways) else ("kept",)


def _overflow(answer: Answer, ways: Sequence[Precision]) -> tuple[str, ...]:
    narrow = any((way.accumulator.dtype if way.accumulator else way.compute) == answer.subject for way in ways)
    return ("does not overflow", *(["overflows"] if narrow or dtype_of(answer.subject).emax > 100 else []))


_OF_WAYS: dict[str, Callable[[Answer, Sequence[Precision]], tuple[str, ...]]] = {
    "subnormal terms of sums": _subnormals,
    "subnormal operands of products": _subnormals,
    "subnormal results of products": _subnormals,
    "operands of products": _operands,
    "accumulator of ": _held_in,
    "alignment of ": _held_in,
    "intermediate overflow of ": _overflow,
}
"""Rules that go by what an implementation declares, by how their topics begin."""
