"""Is a machine held to what contracts ask of it, no more and no less, unless it declares otherwise?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pytest

from golden.dtypes import FLOATS
from golden.numerics import relaxed
from golden.precision import Precision
from platforms.paradigm import PARADIGMS
from platforms.profile.answer import UNABLE, Answer
from platforms.profile.conversions import conversions
from platforms.profile.extremes import extremes
from platforms.profile.functions import functions
from platforms.profile.machine import Machine
from platforms.profile.operands import all_operands
from platforms.profile.questions import profile, reductions
from platforms.profile.rounding import rounding
from platforms.profile.rules import broken
from platforms.profile.subnormals import subnormals
from platforms.profile.trees import sequential
from suites.meta.simulated import Accumulation, Simulated


def summed(**made: Any) -> dict[str, Any]:
    """Return what makes a machine's sums and products."""
    how = Accumulation(sequential(16), **made)
    return {"accumulation": {"sums": how, "products": how}}


FLOAT8 = {"overflow of conversions": ("an infinity", "NaN")}
"""What is declared of a machine whose conversions do not saturate."""


def findings(
    probe: Callable[[Machine], Iterator[Answer]],
    made: Mapping[str, Any],
    numerics: str = "ieee",
    accepted: Mapping[str, Sequence[str]] = FLOAT8,
) -> list[str]:
    """Return what a machine breaks that is sound but for what is ``made`` of it, under a declaration."""
    found = []
    for answer in probe(Simulated(**{**summed(), **made})):
        precision = Precision("float64" if answer.subject == "float64" else "float32")
        ways = [precision, *relaxed(precision, numerics, answer.subject)] if answer.subject in FLOATS else []
        found += [broken(answer, accepted, ways)] if answer.answer != UNABLE else []
    return list(filter(None, found))


def test_a_machine_that_does_as_contracts_ask_breaks_nothing() -> None:
    assert findings(partial(profile, extent="brief"), summed(bits=53)) == []


@pytest.mark.parametrize(
    ("probe", "made", "said"),
    [
        (extremes, {"with_nan": "the number"}, "maximum with NaN, float32: the number, and should be NaN"),
        (functions, {"off": {"divide": 3}}, r"error of divide, float32: \d\.\d\d ULP, and should be 2\.50 ULP at .*"),
        (functions, {"off": {"tanh": 6}}, r"error of tanh, float64: \d+\.\d\d ULP, and should be 5\.00 ULP at .*"),
        (all_operands, {"operands": (11, "toward zero")}, "operands of products, float32: tf32, truncated, and .*"),
        (
            all_operands,
            {"operands": (9, "nearest even")},
            "operands of products, float32: 9 bits, nearest even, and .*",
        ),
        (
            conversions,
            {"direction": {"conversions": "toward zero"}},
            "rounding of conversions, float32 to float16: toward zero, and should be nearest even",
        ),
        (
            conversions,
            {"overflow": "the largest number"},
            "overflow of conversions, float32 to float16: the largest number, and should be an infinity or .*",
        ),
        (
            rounding,
            {"direction": {"arithmetic": "upward"}},
            "rounding of arithmetic, float32: add: upward, and should be nearest even; sub.*; multiply: [^;]*",
        ),
        (
            subnormals,
            {"flushes": {"operands": ("float32",)}},
            "subnormal operands, float32: add: flushed, and should be kept; multiply: .*; divide: .*; sqrt: .*",
        ),
        (
            subnormals,
            {"flushes": {"operands": ("float32",)}},
            "subnormal operands of products, float32: flushed, and should be kept",
        ),
        (
            subnormals,
            {"flushes": {"results": ("float16",)}},
            "subnormal results, float16: subtract: flushed, and should be kept",
        ),
        (
            reductions,
            summed(bits=23),
            "accumulator of sums, float32: 23 bits, nearest even, and should be 24 bits or more",
        ),
        (reductions, summed(bits=14), "accumulator of products, float16: 14 bits, nearest even, and should be 24 .*"),
        (
            reductions,
            summed(largest=65504.0),
            "intermediate overflow of sums, float16: overflows, and should be does not overflow",
        ),
    ],
)
def test_what_a_machine_breaks_is_named(
    probe: Callable[[Machine], Iterator[Answer]], made: Mapping[str, Any], said: str
) -> None:
    assert any(re.fullmatch(said, one) for one in findings(probe, made))


@pytest.mark.parametrize(
    ("probe", "made", "numerics", "dtype"),
    [
        (all_operands, {"operands": (11, "toward zero")}, "tf32", "float32"),
        (all_operands, {"operands": (11, "nearest even")}, "tf32", "float32"),
        (subnormals, {"flushes": {"operands": ("float32",)}}, "flushed", "float32"),
        (reductions, summed(bits=14), "accumulator14", "float32"),
        (reductions, summed(bits=14, largest=65504.0), "fp16-accumulator", "float16"),
    ],
)
def test_what_an_implementation_declares_is_no_finding(
    probe: Callable[[Machine], Iterator[Answer]], made: Mapping[str, Any], numerics: str, dtype: str
) -> None:
    of_sums = re.compile(f".*(products|sums).*, {dtype}: .*")
    assert any(of_sums.fullmatch(one) for one in findings(probe, made))
    assert not any(of_sums.fullmatch(one) for one in findings(probe, made, numerics))


def test_what_a_paradigm_or_a_platform_declares_is_no_finding() -> None:
    assert findings(extremes, {"with_nan": "the number"}, accepted=PARADIGMS["cuda"].deviations) == []
    assert findings(functions, {"off": {"divide": 3}}, accepted={"error of divide": ("7 ULP",)}) == []
    assert findings(functions, {"off": {"divide": 9}}, accepted={"error of divide": ("7 ULP",)})
    flushed = {"flushes": {"operands": ("float32",)}}
    assert "; sqrt: flushed" in findings(subnormals, flushed)[0]
    (said, *_) = findings(subnormals, flushed, accepted={"subnormal operands, sqrt": ("flushed",)})
    assert "sqrt" not in said


@pytest.mark.parametrize(
    ("conversion", "found", "right"),
    [
        ("float32 to float8_e5m2", "the largest number; of an infinity, an infinity", True),
        ("float32 to float8_e5m2", "NaN; of an infinity, an infinity", False),
        ("float32 to float16", "an infinity; of an infinity, NaN", False),
    ],
)
def test_what_becomes_of_an_infinity_is_held_to_a_rule_of_its_own(conversion: str, found: str, right: bool) -> None:
    assert right is (broken(Answer("overflow of conversions", conversion, found), {}) == "")
