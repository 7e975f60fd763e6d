"""Is a case line the whole case, and is a wrong one refused with one clear message?"""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.case import Case, CaseError, TensorSpec
from kernels.registry import load
from kernels.strategies import cases

OPERATIONS = load().operations

LINE = '{"operation":"softmax","dtype":"float32","dims":{"x":[3,17]},"params":{"dim":-1},"seed":5}'


@given(st.sampled_from(sorted(OPERATIONS)).flatmap(lambda name: cases(OPERATIONS[name], 4096)))
def test_a_drawn_case_survives_its_line(case: Case) -> None:
    assert Case.parse(case.line) == case
    assert "\n" not in case.line


@given(st.sampled_from(sorted(OPERATIONS)).flatmap(lambda name: cases(OPERATIONS[name], 4096)))
def test_a_drawn_case_is_one_of_its_operation(case: Case) -> None:
    operation = OPERATIONS[case.operation]
    operation.check(case)
    for shape in operation.shapes(case).values():
        size = 1
        for length in shape:
            size *= length
        assert size <= 4096


def test_defaults_are_left_out_of_the_line() -> None:
    case = Case("relu", "float16", {"x": [4]}, tensors={"x": TensorSpec()}, seed=1)
    assert case.line == '{"operation":"relu","dtype":"float16","dims":{"x":[4]},"seed":1}'
    assert Case.parse(case.line).spec("x") == TensorSpec("normal", "contiguous")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "one line of JSON"),
        ("[1]", "a JSON object"),
        (LINE.replace('"seed"', '"sede"'), "unknown field 'sede'"),
        (LINE.replace("float32", "float31"), "unknown dtype 'float31'; there are float64, float32"),
        (LINE.replace(":5}", ":-5}"), "'seed' must be an integer of 0 or more"),
        (LINE.replace("[3,17]", "[3,-17]"), "'dims.x' must be an integer of 0 or more"),
        (LINE.replace('"dims":{"x":[3,17]},', ""), "lacks 'dims'"),
        (LINE[:-1] + ',"tensors":{"x":{"layout":"sideways"}}}', "unknown word 'sideways'"),
        (LINE[:-1] + ',"tensors":{"x":{"colour":"red"}}}', 'takes "regime" and "layout"'),
    ],
)
def test_a_malformed_line_is_one_clear_error(line: str, says: str) -> None:
    with pytest.raises(CaseError, match=r".") as caught:
        Case.parse(line)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"params": {}}, "takes the params ['dim'], not []"),
        ({"params": {"dim": 7}}, "an axis of the shape [3, 17], not 7"),
        ({"dims": {}}, "softmax needs dims.x, a list of integers"),
        ({"dtype": "int32"}, "softmax is not defined for int32"),
        ({"tensors": {"y": {"regime": "normal"}}}, "has no tensor 'y'"),
        ({"tensors": {"x": {"regime": "odd"}}}, "float32 has no regime 'odd'; it has normal, shifted"),
    ],
)
def test_a_case_that_does_not_fit_its_operation_is_refused(changes: dict[str, object], says: str) -> None:
    case = Case.parse(json.dumps({**json.loads(LINE), **changes}))
    with pytest.raises(CaseError, match=r".") as caught:
        OPERATIONS["softmax"].check(case)
    assert says in str(caught.value)
