"""How many times as far one place may err as another, by what the profiles of both say of how they compute.

An error grows as the unit of what rounds: of the operands of products, of the accumulator, of functions. Another order
of n terms, or an accumulator that rounds in one direction, makes at most the square root of n of it. Where both compute
alike, only chance is left. What is *unknown* of a place explains nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

CHANCE = 2.0
"""How many times as large an error may come out by chance, of machines that compute alike."""

ROUNDED = 0.5
"""The error in ULP of a result that is merely rounded: ratios to less than it say nothing."""

Answers = Sequence[Mapping[str, str]]
"""Answers of a profile: each with ``machine``, ``topic``, ``subject`` and ``answer``."""

_NAMES = {"tf32": 11, "bfloat16": 8, "float16": 11, "float32": 24}
_PRECISION = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}
_HELD = re.compile(r"(\d+) bits(?: or more)?(?:, ([a-z ]+))?")
_OPERANDS = re.compile(r"(?P<parts>two parts of )?(?:(?P<bits>\d+) bits|(?P<name>[a-z0-9]+)), (?:nearest|truncated).*")
_ERROR = re.compile(r"(?P<ulp>[0-9.e+]+|inf) ULP")
_NEAREST = ("nearest even", "nearest away", "")
_UNTOLD = ("unknown", "failed")


def allowance(there: Answers, here: Answers, implementation: str, terms: float) -> float | None:
    """Return how many times as far as ``there`` an implementation may err ``here``; infinite where numbers get lost.

    ``terms`` is the most that it adds up. What was asked of it counts, and of its paradigm: single operations, sums and
    products. None where the profiles have no question in common that says anything of it.
    """
    mine, theirs = ({_question(one): one["answer"] for one in of} for of in (here, there))
    relevant = [question for question in mine if question in theirs and _is_of(question[0], implementation)]
    if not relevant:
        return None
    factors: dict[str, float] = {}
    for machine, topic, subject in relevant:
        before, after = theirs[machine, topic, subject], mine[machine, topic, subject]
        if before != after and not after.startswith(_UNTOLD):
            kind, factor = _factor(topic, subject, before, after, max(terms, 1.0))
            factors[kind] = max(factors.get(kind, 1.0), factor)
    return CHANCE * math.prod(factors.values())


def _question(one: Mapping[str, str]) -> tuple[str, str, str]:
    return one["machine"], one["topic"], one["subject"]


def _is_of(machine: str, implementation: str) -> bool:
    """Whether what ``machine`` answers says anything of ``implementation``: it itself, or parts of its paradigm."""
    operation, paradigm, _ = implementation.split("/")
    if machine in (implementation, paradigm):
        return True
    asked, _, rest = machine.partition("/")
    return operation not in ("gemm", "sum") and asked in ("gemm", "sum") and rest.startswith(f"{paradigm}/")


def _factor(topic: str, subject: str, before: str, after: str, terms: float) -> tuple[str, float]:
    """Return the kind of a difference in how is computed, and by how much it makes errors larger at most."""
    if topic.startswith("error of "):
        return "functions", _ulp(after) / max(_ulp(before), ROUNDED)
    if topic == "operands of products":
        return "operands", _unit_of_operands(after, subject) / _unit_of_operands(before, subject)
    if topic.startswith(("accumulator of", "alignment of")):
        (unit, directed), (other, was_directed) = _held(after), _held(before)
        if not unit or not other:
            return "accumulator", 1.0  # no such step, at one of the two
        return "accumulator", unit / other * (2 * math.sqrt(terms) if directed and not was_directed else 1.0)
    if topic.startswith("order of"):
        return "order", math.sqrt(terms)
    if topic.startswith("rounding of"):
        return "rounding", 2.0 if after.startswith("nearest") else 2 * math.sqrt(terms)
    if topic.startswith(("subnormal ", "intermediate overflow", "overflow of")):
        return "lost", math.inf if "flushed" in after or "overflows" in after else 1.0
    return "others", 2.0 if topic == "a * b + c" else 1.0


def _ulp(answer: str) -> float:
    found = _ERROR.match(answer)
    return float(found["ulp"]) if found else ROUNDED


def _unit_of_operands(answer: str, dtype: str) -> float:
    found = _OPERANDS.fullmatch(answer)
    if not found:
        return 2.0 ** -_PRECISION.get(dtype, 24)
    bits = int(found["bits"]) if found["bits"] else _NAMES.get(found["name"], 24)
    bits = 2 * bits + 1 if found["parts"] else bits
    return 2.0 ** (1 - bits if "truncated" in answer else -bits)


def _held(answer: str) -> tuple[float, bool]:
    """Return the largest unit of accumulators, 0 for none, and whether one is known to round in one direction."""
    found = [(int(bits), mode) for bits, mode in _HELD.findall(answer)]
    unit = max((2.0**-bits for bits, _ in found), default=0.0)
    return unit, any(mode not in _NEAREST and mode not in _UNTOLD for _, mode in found)
