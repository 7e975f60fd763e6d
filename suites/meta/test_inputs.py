"""Are the inputs of a case the same bits everywhere, and does each regime hold what it promises?"""

from __future__ import annotations

import numpy as np
import pytest

from golden.case import Case, CaseError, Form, TensorSpec
from golden.dtypes import DTYPES, FLOAT8S, FLOATS, INTEGERS, decode
from golden.inputs import FLOAT_REGIMES, INTEGER_REGIMES, digest, make_inputs, regimes_of
from kernels.registry import load


def values(regime: str, dtype: str, shape: tuple[int, ...] = (64, 33), seed: int = 7) -> np.ndarray:
    case = Case("relu", dtype, {"x": list(shape)}, tensors={"x": TensorSpec(regime)}, seed=seed)
    return decode(make_inputs(case, {"x": shape})["x"], dtype)


def test_inputs_are_bit_identical_to_those_of_every_other_machine() -> None:
    """One digest over every dtype and regime: it was the same on each machine that Portolan has been run on."""
    arrays = {}
    for dtype, regimes in [(d, FLOAT_REGIMES) for d in FLOATS] + [(d, INTEGER_REGIMES) for d in INTEGERS]:
        for regime in regimes:
            case = Case("relu", dtype, {"x": [16, 33]}, tensors={"x": TensorSpec(regime)}, seed=11)
            arrays[f"{dtype} {regime}"] = make_inputs(case, {"x": (16, 33)})["x"]
    assert digest(arrays) == "743be336723391e7"


def test_inputs_of_one_byte_are_bit_identical_to_those_of_every_other_machine() -> None:
    arrays = {}
    for dtype in FLOAT8S:
        for regime in regimes_of(dtype):
            case = Case("relu", dtype, {"x": [16, 33]}, tensors={"x": TensorSpec(regime)}, seed=11)
            arrays[f"{dtype} {regime}"] = make_inputs(case, {"x": (16, 33)})["x"]
    assert digest(arrays) == "29dcd071c25cac98"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            '{"operation":"softmax","dtype":"bfloat16","dims":{"x":[3,17]},"params":{"dim":-1},'
            '"tensors":{"x":{"regime":"shifted","layout":"transposed"}},"seed":5}',
            "83851b512f541298",
        ),
        (
            '{"operation":"gemm","dtype":"float16","dims":{"m":33,"n":17,"k":65},'
            '"tensors":{"a":{"regime":"wide"},"b":{"regime":"cancelling","layout":"offset3"}},"seed":40000}',
            "1287585d8c26be26",
        ),
        (
            '{"operation":"add","dtype":"int64","dims":{"x":[5,1],"y":[4]},"tensors":{"x":{"regime":"full"}},"seed":1}',
            "f3c0810df951b517",
        ),
    ],
)
def test_a_case_line_always_gives_these_inputs(line: str, expected: str) -> None:
    case = Case.parse(line)
    assert digest(make_inputs(case, load().operations[case.operation].forms(case))) == expected


@pytest.mark.parametrize("dtype", [*FLOATS, *FLOAT8S])
def test_each_regime_holds_what_it_promises(dtype: str) -> None:
    kind = DTYPES[dtype]
    assert abs(values("normal", dtype).mean()) < 0.1
    assert abs(values("normal", dtype).std() - 1) < 0.1
    assert abs(values("shifted", dtype).mean() - 3) < 0.1
    assert (values("positive", dtype) > 0).all()
    integers = values("integers", dtype)
    assert set(np.unique(integers)) == set(range(-8, 9))
    assert np.abs(values("large", dtype)).min() > kind.largest / 16
    assert np.isfinite(values("large", dtype)).all()
    assert (np.abs(values("subnormal", dtype)) < 2 * kind.smallest_normal).all()
    assert np.isnan(values("nan", dtype)).any()
    if kind.infinity:
        assert np.isinf(values("inf", dtype)).any()
        assert 0.3 < np.isneginf(values("masked", dtype)).mean() < 0.9
        assert np.isneginf(values("masked", dtype)).all(axis=1).any()
    zeros = values("signed_zero", dtype)
    assert np.signbit(zeros[zeros == 0]).any()
    assert not np.signbit(zeros[zeros == 0]).all()


def test_steps_are_small_positive_numbers() -> None:
    steps = values("steps", "float32")
    assert 0 < steps.min() < 2.0**-14 < 2.0**-8 < steps.max() < 2.0**-7


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_halves_are_half_of_them_no_whole_numbers_and_have_few_bits(dtype: str) -> None:
    halves = values("halves", dtype)
    assert np.array_equal(2 * halves, np.rint(2 * halves))
    assert 0.3 < (halves != np.rint(halves)).mean() < 0.7
    assert 2**11 < np.abs(halves).max() < 2**12


def test_cancelling_neighbours_almost_cancel() -> None:
    x = values("cancelling", "float32")
    pairs = x[:, 0:32:2] + x[:, 1:32:2]
    assert (np.abs(pairs) <= 2.0**-9 * np.abs(x[:, 0:32:2])).all()


def test_layout_changes_no_value_and_an_expanded_axis_repeats_one_slice() -> None:
    def made(text: str) -> np.ndarray:
        case = Case("relu", "float32", {"x": [6, 5]}, tensors={"x": TensorSpec("normal", text)})
        return make_inputs(case, {"x": (6, 5)})["x"]

    assert np.array_equal(made("contiguous"), made("transposed+sliced2"))
    assert (made("expanded0") == made("expanded0")[0]).all()


def test_values_that_a_form_fixes_come_in_every_seed_and_layout() -> None:
    form = Form((2, 3), "int32", values=(0, 3, 3, 10, 11, 12))
    for seed, text in [(0, "contiguous"), (1, "transposed+sliced2+offset3")]:
        case = Case("relu", "float32", {}, tensors={"x": TensorSpec("full", text)}, seed=seed)
        x = make_inputs(case, {"x": form})["x"]
        assert x.dtype == np.int32
        assert x.tolist() == [[0, 3, 3], [10, 11, 12]]


def test_values_that_a_form_fixes_fill_the_shape_and_are_never_repeated() -> None:
    with pytest.raises(ValueError, match=r"3 values do not fill a tensor of shape \(2,\)"):
        Form((2,), "int32", values=(0, 1, 2))
    case = Case("relu", "float32", {}, tensors={"x": TensorSpec(layout="expanded0")})
    with pytest.raises(CaseError, match=r"tensors\.x: its values follow from the case"):
        make_inputs(case, {"x": Form((2,), "int32", values=(0, 1))})


def test_tensors_and_seeds_are_independent() -> None:
    shapes = {"x": (100,), "y": (100,)}
    one, two = (make_inputs(Case("add", "float64", {"x": [100], "y": [100]}, seed=s), shapes) for s in (0, 1))
    for left, right in [(one["x"], one["y"]), (one["x"], two["x"])]:
        assert abs(np.corrcoef(left, right)[0, 1]) < 0.3
