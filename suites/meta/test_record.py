"""A record refuses to contradict itself, and comes back from its line of strict JSON as it went in."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reports.record import VERDICTS, Record, RecordError, outcome, passes

CASE = '{"operation":"softmax","dtype":"float32","dims":{"x":[3,17]},"seed":0}'
FIELDS: dict[str, Any] = {
    "suite": "equivalence",
    "case": CASE,
    "operation": "softmax",
    "dtype": "float32",
    "implementation": "softmax/triton/online",
    "platform": "cpu",
    "verdict": "within",
}
TEETH = ("zeros", "last dropped", "permuted")


def figures(least: float = 0.0, most: float | None = None) -> st.SearchStrategy[float | None]:
    return st.none() | st.floats(min_value=least, max_value=most, allow_nan=False)


@st.composite
def records(draw: st.DrawFn) -> Record:
    """Any consistent record."""
    verdict = draw(st.sampled_from(VERDICTS))
    passing = verdict in ("exact", "within")
    output = verdict not in ("unsupported", "crashed", "hung")
    elements = draw(st.integers(0, 2**40))
    refused = draw(st.lists(st.sampled_from(TEETH), unique=True))
    return Record(
        **{**FIELDS, "verdict": verdict},
        elements=elements,
        open=draw(st.integers(0, elements)),
        max_ulp=draw(figures()) if output else None,
        share=draw(figures(most=1.0 if passing else None)) if output else None,
        hard_share=draw(figures(most=1.0 if passing or verdict == "drift" else None)) if output else None,
        rms_ulp=draw(figures()) if output else None,
        bias_ulp=draw(figures(least=-math.inf)) if output else None,
        seconds=draw(st.none() | st.floats(0, 1e6)),
        message=draw(st.text(st.characters(exclude_categories=()))),
        accounted=draw(st.text()) if verdict == "drift" else "",
        refused=tuple(refused),
        accepted=tuple(name for name in TEETH if name not in refused and draw(st.booleans())),
        digest=draw(st.text("0123456789abcdef")),
    )


def refuse_constant(token: str) -> None:
    raise AssertionError(f"{token} is not strict JSON")


@settings(deadline=None)
@given(record=records())
def test_round_trip(record: Record) -> None:
    line = record.to_json()
    assert line.isascii()
    assert line.isprintable()
    value = json.loads(line, parse_constant=refuse_constant)
    order = [name for name in Record.__dataclass_fields__ if name in value]
    assert list(value) == order
    assert Record.from_json(line) == record
    assert Record.from_json(line).to_json() == line


def test_defaults_are_left_out() -> None:
    assert json.loads(Record(**FIELDS).to_json()) == FIELDS


def test_the_line_of_a_record() -> None:
    record = Record(**{**FIELDS, "case": "{}", "verdict": "wrong"}, max_ulp=math.inf, share=3, refused=("zeros",))
    assert record.to_json() == (
        '{"suite":"equivalence","case":"{}","operation":"softmax","dtype":"float32",'
        '"implementation":"softmax/triton/online","platform":"cpu","verdict":"wrong",'
        '"max_ulp":"inf","share":3.0,"refused":["zeros"]}'
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"suite": ""}, "suite is ''"),
        ({"case": "{}\n"}, "case is '{}\\n'; it must be one line"),
        ({"platform": "my machine"}, "platform is 'my machine'; it must be one word"),
        ({"verdict": "good"}, "verdict is 'good'; it must be one of exact, within, drift"),
        (
            {"implementation": "softmax/triton"},
            "implementation is 'softmax/triton'; it must be operation/paradigm/name",
        ),
        ({"implementation": "softmax/a/b/c"}, "implementation is 'softmax/a/b/c'"),
        ({"implementation": "gemm/triton/online"}, "of the record's own operation, softmax/"),
        ({"elements": -1}, "elements is -1; it must be an integer of 0 or more"),
        ({"elements": True}, "elements is True"),
        ({"elements": 3, "open": 4}, "open is 4; it must be an integer from 0 to elements = 3"),
        ({"seconds": math.nan}, "seconds is nan; it must be a number of 0 or more"),
        ({"seconds": -0.5}, "seconds is -0.5"),
        ({"seconds": math.inf}, "seconds is inf; it must be finite"),
        ({"share": math.nan}, "share is nan"),
        ({"max_ulp": "3"}, "max_ulp is '3'"),
        ({"rms_ulp": -1.0}, "rms_ulp is -1.0"),
        ({"bias_ulp": math.nan}, "bias_ulp is nan; it must be a number, or None"),
        ({"hard_share": 10**400}, "hard_share is 1000"),
        ({"share": 1.5}, "share is 1.5; it must be at most 1, because the verdict is 'within'"),
        ({"verdict": "drift", "hard_share": 1.5}, "hard_share is 1.5; it must be at most 1"),
        ({"verdict": "crashed", "share": 0.5}, "share is 0.5; it must be None, because 'crashed' leaves no output"),
        ({"accounted": "tf32"}, "accounted is 'tf32'; it must be empty, because the verdict is 'within'"),
        ({"message": None}, "message is None; it must be a text"),
        ({"refused": "zeros"}, "refused is 'zeros'; it must be a tuple of names"),
        ({"refused": ("zeros", "zeros")}, "refused is ('zeros', 'zeros')"),
        ({"refused": ("zeros",), "accepted": ("zeros",)}, "accepted is ['zeros']; it must be disjoint from refused"),
    ],
)
def test_a_contradiction_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(RecordError) as caught:
        Record(**{**FIELDS, **changes})
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "one line of strict JSON"),
        ("[]", "a JSON object, not []"),
        (Record(**FIELDS).to_json()[:-1], "one line of strict JSON"),
        (json.dumps({**FIELDS, "share": math.nan}), "NaN is not strict JSON"),
        (json.dumps({**FIELDS, "verdict": "wrong", "share": math.inf}), "Infinity is not strict JSON"),
        (json.dumps({**FIELDS, "share": "large"}), 'share is \'large\'; it must be a number, "inf" or "-inf"'),
        (json.dumps({**FIELDS, "colour": 1}), "unknown field 'colour'"),
        (json.dumps({name: FIELDS[name] for name in FIELDS if name not in ("case", "suite")}), "lacks suite, case"),
        (json.dumps(FIELDS)[:-1] + ', "suite": "again"}', "'suite' is there twice"),
        ("[" * 100_000, "one line of strict JSON"),
        (json.dumps({**FIELDS, "elements": 1.5}), "elements is 1.5"),
    ],
)
def test_a_malformed_line_is_refused(line: str, said: str) -> None:
    with pytest.raises(RecordError) as caught:
        Record.from_json(line)
    assert said in str(caught.value)


def test_outcomes() -> None:
    outcomes = {verdict: outcome(Record(**{**FIELDS, "verdict": verdict})) for verdict in VERDICTS}
    assert outcomes == {
        "exact": "pass",
        "within": "pass",
        "drift": "fail",
        "vacuous": "none",
        "unsupported": "none",
        "recompiled": "fail",
        "inconsistent": "fail",
        "wrong": "fail",
        "dishonest": "fail",
        "undefined": "fail",
        "unwritten": "fail",
        "out of bounds": "fail",
        "input changed": "fail",
        "conflict": "fail",
        "crashed": "fail",
        "hung": "fail",
    }


def test_a_drift_passes_once_accounted_for() -> None:
    drift = Record(**{**FIELDS, "verdict": "drift"}, share=3.0)
    explained = Record(**{**FIELDS, "verdict": "drift"}, share=3.0, accounted="declared numerics: tf32")
    assert not passes(drift)
    assert passes(explained)
    assert outcome(explained) == "pass"
