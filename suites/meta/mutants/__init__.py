"""Kernels that are wrong on purpose, each in one way, to show that the suite notices. Never loaded unless asked for.

Each says with :func:`fault` which class of faults it stands for, and where such a fault was met. A correct twin, the
same kernel without the fault, is registered beside it, or is what the catalogue has of its operation and paradigm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernels.registry import Implementation

FOLDER = Path(__file__).parent
"""Where they are."""

CLASSES: Mapping[str, str] = {
    "F1": "padding takes part: lanes beyond a row enter its reduction",
    "F2": "a masked load without a value for what is masked",
    "F3": "rows that are masked as a whole, and maxima of none",
    "F4": "NaN dropped by a maximum, or taken for a place",
    "F5": "NaN dropped by a clamp",
    "F6": "strides forgotten by one of several loads",
    "F7": "storage walked as if it were contiguous",
    "F8": "a first call that differs from the second, or a configuration that is wrong",
    "F9": "offsets of 32 bits",
    "F10": "empty segments, gaps, and what is not written",
    "F11": "truncated division for floored",
    "F12": "sign extension, shifts and packed halves",
    "F13": "no clamp before a narrowing cast",
    "F14": "float8 decoded wrongly: subnormals, NaN",
    "F15": "an accumulator too narrow",
    "F16": "operands cut to fewer bits",
    "F17": "a carry between blocks of a scan, or its order",
    "F18": "a number of lanes that is taken for fixed",
    "F19": "ties",
    "F20": "special values of a selection: signed zeros, infinities",
    "F21": "empty axes",
    "F22": "grids beyond 65535",
    "F23": "a step after a rounding error",
    "F24": "bfloat16 rounded wrongly",
    "F25": "blocks at the ends, or between them",
    "F26": "pipelined loops: a tile too few, or one twice",
    "F27": "a barrier missing",
    "F28": "results that differ from call to call",
    "F29": "two stores to one place, or a part that is left as it was",
    "F30": "a branch that drops part of the work",
    "F31": "programs that run twice",
    "F32": "hangs",
    "F33": "graphs bound to the first call's data",
    "F34": "collectives: what ranks disagree on",
    "formula": "another function than the contract's, of nearly the same values",
    "overflow": "intermediates that leave the range where the result does not",
    "cancellation": "a difference of sums that are almost equal",
    "bounds": "accesses beyond a tensor, or between its rows",
    "inputs": "inputs that are written to",
    "index": "the wrong row, head, group or page: values that are right elsewhere",
    "form": "a result of another shape, dtype or kind than was promised",
    "ending": "a process that ends, or a legal input that is refused",
    "recompiling": "a kernel that is compiled anew for every call",
    "streams": "work on another stream than the caller's, or not waited for",
    "batch": "rows that depend on how many there are, where that is declared not to be",
    "honesty": "results remembered instead of computed, or computed by something else",
}
"""What mutants stand for: the classes F1 to F34 of faults that were reported, and named ones that these do not hold."""

UNSHOWN: Mapping[str, str] = {
    "F23": "no result is right on both sides of a step: contracts keep inputs away from it or leave it open",
    "F34": "needs several ranks: `collectives.py` there, held to `suites/test_collectives.py`",
}
"""Why a class needs no mutant here."""


@dataclass(frozen=True)
class Fault:
    """What a mutant stands for: a class of faults, and the report (repository#number) or the words for where it is."""

    kind: str
    report: str


_STATED: dict[Callable[..., Any], Fault] = {}


def fault(kind: str, report: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that says what a mutant stands for, to be put above ``implementation``.

    Raises ValueError for a class that is none of :data:`CLASSES`, or without a report.
    """
    if kind not in CLASSES or not report:
        raise ValueError(f"a fault is of one of {', '.join(CLASSES)} and names a report, not {kind!r}, {report!r}")

    def state(function: Callable[..., Any]) -> Callable[..., Any]:
        _STATED[function] = Fault(kind, report)
        return function

    return state


def faults(implementations: Mapping[str, Implementation]) -> dict[str, Fault]:
    """Return what those of ``implementations`` that are mutants stand for, by their ids."""
    return {name: _STATED[one.function] for name, one in implementations.items() if one.function in _STATED}
