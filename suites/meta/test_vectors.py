"""Does this machine make the same inputs and the same golden results as every other one?"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from golden import frozen
from golden.frozen import FrozenError, corpus, nominal_digest, vectors, version, write
from golden.judge import Golden
from kernels.registry import load
from suites.freeze import differences

OPERATIONS = load().operations


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_vectors_come_out_the_same(name: str) -> None:
    found = vectors(name)
    dtypes = {vector.case.dtype for vector in found}
    assert dtypes == set(OPERATIONS[name].dtypes)
    assert list(differences(OPERATIONS[name], found)) == []


def test_little_is_left_out() -> None:
    """Open elements are, and those that lie too close to a rounding boundary: one in 1000 where no formula cancels."""
    for name in ("add", "relu", "exp", "tanh", "gemm", "layer_norm", "cross_entropy"):
        operation = OPERATIONS[name]
        for dtype in ("float32", "float16", "bfloat16"):
            ordinary = [
                vector
                for vector in vectors(name)
                if vector.case.dtype == dtype
                and all(spec.regime in ("normal", "shifted", "positive") for spec in vector.case.tensors.values())
            ]
            elements = sum(form.size for vector in ordinary for form in operation.results(vector.case).values())
            assert sum(len(vector.left_out) for vector in ordinary) <= 0.001 * elements


def test_a_changed_input_or_result_is_noticed() -> None:
    operation = OPERATIONS["softmax"]
    one = next(vector for vector in vectors("softmax") if np.prod(operation.output_shape(vector.case)) > 1)
    changed = [
        frozen.Vector(one.case, "0" * 16, one.nominal, one.left_out),
        frozen.Vector(one.case, one.inputs, "0" * 16, one.left_out),
    ]
    other, another = differences(operation, changed)
    assert "other inputs" in other
    assert "another golden result" in another


def test_an_element_too_close_to_a_boundary_is_left_out() -> None:
    """1 + 2**-24 lies in the middle of two float32 numbers: how it rounds depends on the last bit of golden."""
    value = np.array([1.0, 1 + 2.0**-24, 1 + 2.0**-24 + 2.0**-40])
    nothing = np.zeros(3)
    golden = Golden("float32", value, 0.0, np.full(3, 2.0**-50), nothing, nothing, value.astype(np.float32))
    assert golden.certain().tolist() == [True, False, True]
    assert frozen.uncertain({"out": golden}) == (1,)
    moved = Golden("float32", value, 0.0, 0.0, nothing, nothing, np.array([1, 1 + 2.0**-23, 1 + 2.0**-23], np.float32))
    before, after = {"out": golden}, {"out": moved}
    assert nominal_digest(before, (1,)) == nominal_digest(after, (1,))
    assert nominal_digest(before, ()) != nominal_digest(after, ())
    assert frozen.uncertain({"first": moved, "second": golden}) == (4,)
    assert nominal_digest({"a": moved, "b": golden}, (4,)) == nominal_digest({"a": moved, "b": moved}, (4,))


def test_which_zero_and_which_nan_does_not_count() -> None:
    def digest(*numbers: float) -> str:
        value = np.array(numbers)
        return nominal_digest({"out": Golden("float64", value, 0.0, 0.0, 0 * value, 0 * value, value)}, ())

    assert digest(0.0, np.nan) == digest(-0.0, -np.nan)
    assert digest(0.0, np.nan) != digest(5e-324, np.nan)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text[:-20], "the last line is cut off"),
        (lambda text: text.replace('"format":1', '"format":9'), "line 1: the header must be"),
        (
            lambda text: text.replace('"operation":"relu","dtype":"float32"', '"operation":"add"', 1),
            "line 2: the case lacks",
        ),
        (lambda text: text.replace('"relu","dtype"', '"add","dtype"'), "line 2: a case of add"),
        (lambda text: text.replace('"seed":1', '"seed":-1'), "line 2: 'seed' must be"),
    ],
)
def test_a_damaged_file_is_one_clear_error(tmp_path: Path, damage: object, message: str) -> None:
    line = '{"operation":"relu","dtype":"float32","dims":{"x":[3]},"seed":1}'
    path = write("corpus", "relu", [line], tmp_path)
    assert [case.line for case in corpus("relu", tmp_path)] == [line]
    before = version(tmp_path)
    path.write_text(damage(path.read_text()))  # type: ignore[operator]
    assert version(tmp_path) != before
    with pytest.raises(FrozenError, match=message):
        corpus("relu", tmp_path)


def test_a_damaged_vector_is_one_clear_error(tmp_path: Path) -> None:
    write("vectors", "relu", [json.dumps({"case": {"operation": "relu"}})], tmp_path)
    with pytest.raises(FrozenError, match=r"vectors/relu.jsonl, line 2: not a vector: the case lacks 'dtype'"):
        vectors("relu", tmp_path)
    assert vectors("unheard_of", tmp_path) == []
