"""One architecture held against another: what becomes there of the kernels that are launched here, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from platforms.targets.architecture import ARCHITECTURES
from platforms.targets.audit import Audit
from platforms.targets.reading import COMPILES, DOES_NOT_COMPILE, DOES_NOT_FIT, NOT_KNOWN, Reading

_UNITS = {"cuda": "tensor cores", "hip": "matrix cores"}
"""What vendors call the units that multiply matrices, by the backend that compiles for them."""


class Sentence(NamedTuple):
    """What is different, with the number that it begins with, or None: those that differ in it are told as one."""

    text: str
    amount: int | None = None


def contrast(here: Reading, there: Reading) -> Iterator[Sentence]:
    """Yield what is different of one kernel between the architectures of its two readings."""
    ends = f"{here.target}, not {there.target}"
    if NOT_KNOWN in (here.verdict, there.verdict):
        unknown = here if here.verdict == NOT_KNOWN else there
        yield Sentence(f"nobody knows of {unknown.target}: {unknown.unfinished}")
    elif DOES_NOT_COMPILE in (here.verdict, there.verdict):
        if here.verdict != there.verdict:
            compiles, refused = (there, here) if here.error else (here, there)
            yield Sentence(f"compiles for {compiles.target}, not for {refused.target}: {refused.error}")
    else:
        if here.verdict == COMPILES and there.verdict == DOES_NOT_FIT:
            for overrun in there.overruns:
                taken, what = overrun.split(" ", 1)
                what, limit = what.split(", of ")
                yield Sentence(f"{what}: fits {ends} ({limit})", int(taken))
        yield from _of_code(here, there)


def _of_code(here: Reading, there: Reading) -> Iterator[Sentence]:
    if here.dots and here.matrix != there.matrix:
        yield Sentence(f"{_products(here)} on {here.target}, {_products(there)} on {there.target}")
    if here.widened != there.widened:
        yield Sentence(f"operands of 8 bits {_width(here)} on {here.target}, {_width(there)} on {there.target}")
    if bool(here.spills) != bool(there.spills):
        some, none = (here, there) if here.spills else (there, here)
        yield Sentence(f"register spills on {some.target}, none on {none.target}", some.spills)
    if bool(here.copies) != bool(there.copies):
        some, none = (here, there) if here.copies else (there, here)
        yield Sentence(f"asynchronous copies ({', '.join(some.copies)}) on {some.target}, none on {none.target}")


def _products(one: Reading) -> str:
    units = _UNITS[ARCHITECTURES[one.target].backend]
    return f"{units} ({', '.join(one.matrix)})" if one.matrix else "plain FMA"


def _width(one: Reading) -> str:
    return f"widened to {one.widened}" if one.widened else "as they are"


def told(audit: Audit, here: str, there: str) -> Iterator[str]:
    """Yield what changes from one architecture to another, each with the implementations and dtypes that it is true of.

    What is launched ``here`` is looked at, also where ``there`` something else would be launched.
    """
    one, other = ARCHITECTURES[here], ARCHITECTURES[there]
    if one.lanes != other.lanes:
        yield f"{one.lanes} lanes a wave on {here}, {other.lanes} on {there}"
    users: dict[str, dict[str, None]] = {}
    amounts: dict[str, set[int]] = {}
    for use in audit.uses:
        readings = audit.compiled[use.key].readings
        if here in use.targets and {here, there} <= set(readings):
            said = list(contrast(readings[here], readings[there]))
            if there not in use.targets:
                said.append(Sentence(f"other configurations are launched on {there}"))
            for text, amount in said:
                users.setdefault(text, {})[f"{use.implementation} {use.dtype}"] = None
                amounts.setdefault(text, set()).update([amount] if amount is not None else [])
    for text, names in sorted(users.items(), key=lambda pair: (pair[0].startswith("nobody"), -len(pair[1]))):
        yield f"{_range(amounts[text])}{text}: {', '.join(names)}"


def _range(amounts: set[int]) -> str:
    if not amounts:
        return ""
    return f"{min(amounts)} " if len(amounts) == 1 else f"{min(amounts)} to {max(amounts)} "
