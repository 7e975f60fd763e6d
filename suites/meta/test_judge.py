"""Does the judge accept every good computation, and refuse each kind of bad one, on cases that nobody picked by hand?

The computations here are NumPy's, in float32 and less, so that what is good and what is bad about them is known.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.case import Case, TensorSpec
from golden.dtypes import DTYPES, decode, encode
from golden.enclosure import Enclosure
from golden.enclosure.array import column
from golden.inputs import make_inputs
from golden.judge import Golden, joined, judge, seal
from golden.numerics import relaxed
from golden.precision import Operands, Precision
from golden.rounding import round_significand
from golden.teeth import bite
from kernels.registry import load
from suites.goldens import Goldens

OPERATIONS = load().operations
ORDINARY = st.sampled_from(["normal", "shifted", "positive", "cancelling", "integers", "wide"])


def sealed(operation: str, case: Case, precision: Precision | None = None) -> tuple[Golden, dict[str, np.ndarray]]:
    contract = OPERATIONS[operation]
    precision = precision or contract.precision(case.dtype)
    inputs = make_inputs(case, contract.forms(case))
    values = {name: decode(array, case.dtype) for name, array in inputs.items()}
    enclosed = {name: Enclosure(value, precision) for name, value in values.items()}
    with np.errstate(all="ignore"):
        return seal(contract.call(contract.reference, enclosed, case), case.dtype), values


def gemm_case(dtype: str, sizes: tuple[int, int, int], regimes: tuple[str, str], seed: int = 0) -> Case:
    tensors = {name: TensorSpec(regime) for name, regime in zip("ab", regimes, strict=True)}
    return Case("gemm", dtype, dict(zip("mnk", sizes, strict=True)), tensors=tensors, seed=seed)


def dot32(a: np.ndarray, b: np.ndarray, accumulator: type = np.float32) -> np.ndarray:
    """Sum products one after another in a narrow accumulator, as a plain kernel does."""
    total: np.ndarray = np.zeros((a.shape[0], b.shape[1]), accumulator)
    with np.errstate(over="ignore", invalid="ignore"):
        for k in range(a.shape[1]):
            total = (total + (a[:, k : k + 1] * b[k]).astype(accumulator)).astype(accumulator)
    return total.astype(np.float64)


def single(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float32)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@given(st.tuples(*[st.integers(1, 40)] * 2, st.integers(1, 300)), ORDINARY, ORDINARY, st.integers(0, 999))
def test_products_summed_in_float32_are_within(
    dtype: str, sizes: tuple[int, int, int], left: str, right: str, seed: int
) -> None:
    case = gemm_case(dtype, sizes, (left, right), seed)
    golden, values = sealed("gemm", case)
    for output in (dot32(values["a"], values["b"]), single(values["a"]) @ single(values["b"])):
        verdict = judge(golden, encode(output, dtype))
        assert verdict.passes, verdict


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@given(st.integers(1, 20), st.integers(1, 300), ORDINARY, st.integers(0, 999))
def test_softmax_computed_in_float32_is_within(dtype: str, rows: int, length: int, regime: str, seed: int) -> None:
    case = Case("softmax", dtype, {"x": [rows, length]}, {"dim": -1}, {"x": TensorSpec(regime)}, seed)
    golden, values = sealed("softmax", case)
    x = single(values["x"])
    exponentials = np.exp2((x - x.max(1, keepdims=True)) * np.float32(np.log2(np.e)))
    verdict = judge(golden, encode((exponentials / exponentials.sum(1, keepdims=True)).astype(np.float64), dtype))
    assert verdict.passes, verdict


@pytest.mark.parametrize("k", [64, 257, 1024, 2048])
@pytest.mark.parametrize("regime", ["normal", "positive"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_every_classic_fault_of_a_product_is_refused(dtype: str, regime: str, k: int) -> None:
    case = gemm_case(dtype, (32, 32, k), (regime, regime))
    golden, values = sealed("gemm", case)
    a, b = values["a"], values["b"]
    faults = {
        "zeros": np.zeros((32, 32)),
        "one k dropped": a[:, :-1] @ b[:-1],
        "rows of b permuted": a @ np.roll(b, 1, 0),
        "operands of the next lower precision": round_significand(a, 11 if dtype == "float32" else 4)
        @ round_significand(b, 11 if dtype == "float32" else 4),
        "float16 accumulator": dot32(a, b, np.float16),
    }
    if dtype == "bfloat16":  # 8 bits of result cannot tell an accumulator of 11 when few terms are summed
        del faults["float16 accumulator"]
    for fault, output in faults.items():
        assert not judge(golden, encode(output, dtype)).passes, fault


def test_a_result_on_a_grid_must_be_exact() -> None:
    case = gemm_case("float32", (4, 4, 64), ("integers", "integers"))
    golden, values = sealed("gemm", case)
    exact = values["a"] @ values["b"]
    assert judge(golden, encode(exact, "float32")).status == "exact"
    exact[1, 2] = np.nextafter(np.float32(exact[1, 2]), np.float32(np.inf))
    verdict = judge(golden, encode(exact, "float32"))
    assert verdict.status == "wrong"
    assert "1 of 16 elements, worst at [1, 2]" in verdict.detail


def test_errors_near_the_end_of_the_range_have_a_mean() -> None:
    """Of both signs: partial sums that overflow to both sides would add up to NaN, which no record takes."""
    golden = seal(Enclosure(np.full(64, 2.0**53), Precision(compute="exact")), "float64")
    verdict = judge(golden, np.where(np.arange(64) % 2, -1.7e308, 1.7e308))
    assert verdict.status == "wrong"
    assert verdict.rms_ulp == np.inf
    assert verdict.bias_ulp == 0.0


def test_a_biased_error_between_the_lines_is_a_drift() -> None:
    """A truncating accumulator: below n*u, which no correct sum exceeds, above 6*sqrt(n)*u, the line of good ones."""
    case = gemm_case("float32", (2, 2, 4096), ("positive", "positive"))
    golden, values = sealed("gemm", case)
    total = np.zeros((2, 2))
    for k in range(4096):
        total = round_significand(total + values["a"][:, k : k + 1] * values["b"][k], 24, "truncated")
    verdict = judge(golden, encode(total, "float32"))
    assert verdict.status == "drift"
    assert verdict.share is not None
    assert verdict.hard_share is not None
    assert verdict.bias_ulp is not None
    assert verdict.share > 1 > verdict.hard_share
    assert verdict.bias_ulp < -100


@pytest.mark.parametrize("mode", ["nearest", "away", "truncated"])
def test_tf32_fails_undeclared_and_passes_declared(mode: str) -> None:
    case = gemm_case("float32", (16, 16, 128), ("normal", "normal"))
    _, values = sealed("gemm", case)
    a, b = (round_significand(values[name], 11, mode) for name in "ab")
    output = encode((single(a) @ single(b)).astype(np.float64), "float32")
    assert judge(sealed("gemm", case)[0], output).status == "wrong"
    declared = relaxed(OPERATIONS["gemm"].precision("float32"), "tf32", "float32")
    verdicts = {
        precision.operands.mode if precision.operands else "": judge(sealed("gemm", case, precision)[0], output).status
        for precision in declared
    }
    assert verdicts[mode] == "within"
    assert verdicts["nearest" if mode == "truncated" else "truncated"] == "wrong"


def test_tf32_has_fewer_subnormal_numbers_too() -> None:
    """What an H200's tensor core returned for this case: its operands were cut to multiples of 2**-136."""
    case = Case("gemm", "float32", {"m": 1, "n": 1, "k": 3}, tensors={"a": TensorSpec("subnormal")})
    output = encode(np.array([[5.76104291e-38]]), "float32")
    truncated = relaxed(OPERATIONS["gemm"].precision("float32"), "tf32", "float32")[2]
    assert truncated.operands == Operands(11, "truncated")
    assert judge(sealed("gemm", case, truncated)[0], output).passes


def test_a_product_below_the_last_subnormal_bit_may_be_truncated() -> None:
    """An H200's tensor core again: 23287.86 units of 2**-149 came back as 23287, though the product has 22 bits."""
    tensors = {"a": TensorSpec("subnormal"), "b": TensorSpec("wide")}
    case = Case("gemm", "float32", {"m": 1, "n": 1, "k": 1}, tensors=tensors, seed=8404)
    truncated = relaxed(OPERATIONS["gemm"].precision("float32"), "tf32", "float32")[2]
    golden, _ = sealed("gemm", case, truncated)
    assert golden.value[0, 0] / 2.0**-149 == pytest.approx(-23287.859375)
    assert judge(golden, np.array([[-23287 * 2.0**-149]], np.float32)).passes
    assert not judge(golden, np.array([[-23280 * 2.0**-149]], np.float32)).passes


def test_a_subnormal_operand_of_tf32_is_lined_up_as_if_it_were_normal() -> None:
    """An H200's tensor core lost 1.8 units of this sum's last place: the larger term has a subnormal factor."""
    tensors = {"a": TensorSpec("wide"), "b": TensorSpec("subnormal")}
    case = Case("gemm", "float32", {"m": 2, "n": 7, "k": 2}, tensors=tensors, seed=0)
    truncated = relaxed(OPERATIONS["gemm"].precision("float32"), "tf32", "float32")[2]
    golden, _ = sealed("gemm", case, truncated)
    output = golden.nominal.copy()
    output[1, 5] = -1.27025366e-34
    assert judge(golden, output).status != "wrong"
    output[1, 5] = -1.2704e-34
    assert judge(golden, output).status == "wrong"


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_an_addition_must_be_rounded_to_nearest(dtype: str) -> None:
    case = Case("add", dtype, {"x": [999], "y": [999]})
    golden, values = sealed("add", case)
    total = values["x"] + values["y"]
    assert judge(golden, encode(total, dtype)).status == "exact"
    bits = DTYPES[dtype].precision
    if bits < 53:
        truncated = judge(golden, encode(round_significand(total, bits, "truncated"), dtype))
        assert truncated.status == "wrong"
        assert truncated.share == pytest.approx(2, rel=0.1)


def test_a_selection_must_be_exact_at_a_power_of_two() -> None:
    """Half a unit of the binade of 1 is a whole one of the binade below: a tolerance of half a ULP lets it pass."""
    case = Case("relu", "float32", {"x": [1]})
    one = Enclosure(np.array([1.0]), Precision(compute="exact"))
    golden = seal(one, case.dtype)
    assert judge(golden, np.array([1.0], np.float32)).status == "exact"
    assert judge(golden, np.array([1 - 2.0**-24], np.float32)).status == "wrong"


def test_special_values() -> None:
    enclosed = Enclosure(np.array([np.nan, np.inf, -np.inf, 0.0, 1.0]), Precision(compute="exact"))
    golden = seal(enclosed, "float32")

    def status(*numbers: float) -> str:
        return judge(golden, np.array(numbers, np.float32)).status

    assert status(np.nan, np.inf, -np.inf, -0.0, 1) == "exact"
    assert status(0, np.inf, -np.inf, 0, 1) == "wrong"
    assert status(np.nan, 3.4e38, -np.inf, 0, 1) == "wrong"
    assert status(np.nan, np.inf, np.inf, 0, 1) == "wrong"
    assert status(np.nan, np.inf, -np.inf, np.nan, 1) == "wrong"
    assert status(np.nan, np.inf, -np.inf, 0, np.inf) == "wrong"


def test_overflow_is_judged_by_the_same_bounds() -> None:
    """65520 is where float16 begins to round to infinity: just above it either may be right for an inexact sum."""
    inexact = Enclosure(
        np.array([65521.0, 65000.0]), Precision(), errors=column(1, hard=4.0, bias=4.0) + np.zeros((4, 2))
    )
    golden = seal(inexact, "float16")
    assert judge(golden, np.array([np.inf, 64992.0], np.float16)).passes
    assert judge(golden, np.array([65504.0, 64992.0], np.float16)).passes
    assert judge(golden, np.array([np.inf, np.inf], np.float16)).status == "wrong"
    assert judge(golden, np.array([-np.inf, 64992.0], np.float16)).status == "wrong"


def test_nan_and_infinity_in_a_product_follow_the_policy() -> None:
    precision = Precision(compute="float32")
    a = Enclosure(np.array([[np.inf, 1.0], [0.0, 2.0], [np.nan, 1.0], [1.0, np.inf]]), precision)
    b = Enclosure(np.array([[1.0, 0.0, -1.0], [1.0, 1.0, np.inf]]), precision)
    product = OPERATIONS["gemm"].reference(a, b).value
    expected = [[np.inf, np.nan, np.nan], [2, 2, np.inf], [np.nan] * 3, [np.inf, np.inf, np.inf]]
    assert np.array_equal(product, expected, equal_nan=True)


def test_where_the_order_decides_about_overflow_the_element_is_open() -> None:
    case = gemm_case("bfloat16", (2, 2, 64), ("large", "normal"))
    golden, _ = sealed("gemm", case)
    assert golden.open == 4
    verdict = judge(golden, encode(np.full((2, 2), np.nan), "bfloat16"))
    assert (verdict.open, verdict.elements) == (4, 4)


def test_parts_of_a_result_have_the_bounds_that_they_have_alone() -> None:
    """Where exact parts, whose bounds are made when they are asked for, come before one that is not exact."""
    x = (np.pi * np.arange(1.0, 25.0)).reshape(6, 4)
    once = [seal(Enclosure(part, Precision(compute="exact")), "float32") for part in (x[:2], np.rint(x[2:4]))]
    computed = seal(Enclosure(x[4:], Precision()) * 3.0, "float32")
    assert [part.rounded_once for part in (*once, computed)] == [True, True, False]
    whole = joined(iter([*once, computed]), (6, 4), 0)
    for name in ("value", "hard", "drift", "nominal"):
        parts = np.concatenate([np.broadcast_to(getattr(part, name), (2, 4)) for part in (*once, computed)])
        np.testing.assert_array_equal(getattr(whole, name), parts)
    assert np.count_nonzero(whole.hard) == 16
    np.testing.assert_allclose(whole.noise, ((once[0].noise ** 2 + computed.noise**2) / 2) ** 0.5)
    exact = joined(iter(once), (4, 4), 0)
    assert exact.rounded_once
    np.testing.assert_array_equal(exact.hard, whole.hard[:4])
    assert judge(exact, exact.nominal).share == judge(once[0], once[0].nominal).share
    assert judge(exact, np.nextafter(exact.nominal, np.float32(0))).status == "wrong"


def test_integers_must_be_equal() -> None:
    golden = seal(np.array([127 + 1, -5]), "int8")
    assert judge(golden, np.array([-128, -5], np.int8)).status == "exact"
    assert judge(golden, np.array([127, -5], np.int8)).status == "wrong"


def test_teeth_tell_what_the_bound_would_accept() -> None:
    contract = OPERATIONS["softmax"]
    case = Case("softmax", "bfloat16", {"x": [4, 33]}, {"dim": -1})
    golden, values = sealed("softmax", case)

    def plain(changed: Mapping[str, np.ndarray]) -> np.ndarray:
        return contract.call(contract.reference, changed, case)

    teeth = bite(golden, values, plain, reduced_axes={"x": -1}, neutral=-np.inf)
    assert set(teeth.refused) == {"zeros", "last dropped", "permuted", "lower inputs", "tile unwritten"}
    wide = np.full((4, 33), 2.0)
    loose = Golden(**{**vars(golden), "drift": wide, "hard": wide, "noise": 1.0, "bias": 1.0})
    loosely = bite(loose, values, plain, reduced_axes={"x": -1}, neutral=-np.inf)
    assert loosely.refused == ()
    assert loosely.vacuous
    assert set(loosely.accepted) == set(teeth.refused)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_what_leaves_the_formula_as_it_is_is_no_corruption(dtype: str) -> None:
    """A last element that takes no part, and a plain formula that rounds elsewhere than golden does."""
    x = np.arange(1.0, 41.0) / 3
    golden = seal(Enclosure(x[:32], Precision(compute=dtype)) * 3.0 / 7.0, dtype)

    def off_by_a_unit(changed: Mapping[str, np.ndarray]) -> np.ndarray:
        return changed["x"][:32] * 3.0 / 7.0 * (1 + 2 * DTYPES[dtype].unit)

    teeth = bite(golden, {"x": x}, off_by_a_unit, reduced_axes={"x": 0}, neutral=0.0)
    assert teeth.accepted == ()
    assert set(teeth.refused) == {"zeros", "permuted", "lower inputs", "tile unwritten"}


@pytest.mark.parametrize("length", [2, 3, 4])
def test_merged_means_are_within_the_bounds_that_grant_running_ones(length: int) -> None:
    """Means merged by rounded weights: on short rows they err by more than a sum and a division can."""
    case = Case("var_mean", "float32", {"x": [2**16, length]}, {"dim": -1})
    standard = Goldens().of(OPERATIONS["var_mean"], case)
    x = standard.inputs["x"].astype(np.float32)
    mean = x[:, 0]
    for count in range(1, length):
        mean = x[:, count] + (mean - x[:, count]) * np.float32(count / (count + 1))
    assert judge(standard.goldens["mean"], mean).passes
    of_sums = length * 2.0**-24 * np.abs(standard.inputs["x"]).mean(1)
    assert length != 3 or np.any(np.abs(mean - standard.inputs["x"].mean(1)) > of_sums)
