"""Do the statistical eyes see what a largest error does not show, and leave good computations alone?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from golden.case import Case, TensorSpec
from golden.dtypes import encode
from golden.judge import judge, judge_all
from golden.moments import LEAST, moments
from golden.rounding import round_significand
from suites.goldens import Goldens
from suites.meta.test_judge import OPERATIONS, gemm_case, sealed


def accumulated(a: np.ndarray, b: np.ndarray, mode: str, product: str = "nearest") -> np.ndarray:
    """Sum products one after another with 24 bits, rounding products and sums as the modes say."""
    total = np.zeros((a.shape[0], b.shape[1]))
    for k in range(a.shape[1]):
        term = round_significand(a[:, k : k + 1] * b[k], 24, product)
        total = round_significand(total + term, 24, mode)
    return total


@pytest.mark.parametrize("regime", ["normal", "positive", "shifted", "cancelling", "wide"])
@pytest.mark.parametrize("k", [4, 16, 64, 300])
def test_sums_rounded_to_nearest_have_no_bias_to_speak_of(regime: str, k: int) -> None:
    case = gemm_case("float32", (48, 48, k), (regime, regime))
    golden, values = sealed("gemm", case)
    verdict = judge(golden, encode(accumulated(values["a"], values["b"], "nearest"), "float32"))
    assert verdict.passes, verdict
    assert verdict.deviations is not None
    assert abs(verdict.deviations) < 5
    assert verdict.rms_share is not None
    assert verdict.rms_share < 0.9


@pytest.mark.parametrize("k", [16, 24, 32])
def test_a_sum_rounded_toward_zero_is_biased_where_no_error_is_too_large(k: int) -> None:
    case = gemm_case("float32", (48, 48, k), ("positive", "positive"))
    golden, values = sealed("gemm", case)
    verdict = judge(golden, encode(accumulated(values["a"], values["b"], "truncated"), "float32"))
    assert verdict.share is not None
    assert verdict.deviations is not None
    assert verdict.share <= 1
    assert verdict.status == "drift"
    assert verdict.deviations < -7.1
    assert "biased: results are " in verdict.detail


def test_rounding_toward_zero_shows_in_magnitudes_where_signs_cancel() -> None:
    case = gemm_case("float32", (48, 48, 24), ("normal", "normal"))
    golden, values = sealed("gemm", case)
    verdict = judge(golden, encode(accumulated(values["a"], values["b"], "truncated"), "float32"))
    assert verdict.status == "drift"
    assert "biased: results are smaller" in verdict.detail


def test_a_multiplication_that_truncates_is_biased() -> None:
    case = gemm_case("float32", (48, 48, 8), ("positive", "positive"))
    golden, values = sealed("gemm", case)
    verdict = judge(golden, encode(accumulated(values["a"], values["b"], "nearest", "truncated"), "float32"))
    assert verdict.share is not None
    assert verdict.share <= 1
    assert verdict.status == "drift"
    assert verdict.deviations is not None
    assert verdict.deviations < -7.1


def test_a_table_with_one_wrong_entry_is_too_large_on_average() -> None:
    """A twentieth of the elements near their bound, with either sign: no bias, and no error that is too large."""
    generator = np.random.Generator(np.random.Philox(1))
    shares = generator.normal(size=4000) / 12
    wrong = np.where(np.arange(4000) % 20 == 0, generator.choice([-0.99, 0.99], 4000), shares)
    values = np.arange(4000.0)
    good = moments(shares, values, 0 * values, noise=1 / 6, bias=0.0)
    bad = moments(wrong, values, 0 * values, noise=1 / 6, bias=0.0)
    assert good is not None
    assert bad is not None
    assert not good.suspicious
    assert not bad.biased
    assert bad.rms_share > 1


def test_a_function_may_lean_to_one_side_as_far_as_its_bound() -> None:
    """Every exponential 2 ULP too large: OpenCL grants 3, so that it is no fault, but five are."""
    case = Case("exp", "float32", {"x": [5000]}, tensors={"x": TensorSpec("positive")})
    golden, values = sealed("exp", case)
    exact = np.exp(values["x"])
    for ulps, status in ((2, "within"), (40, "wrong")):
        assert judge(golden, encode(exact * (1 + ulps * 2.0**-23), "float32")).status == status


def test_repeated_values_are_no_evidence() -> None:
    """One rounding error, seen in every row of an expanded tensor, is one and not a thousand."""
    shares, values = np.full(5000, 0.9), np.tile(np.arange(8.0), 625)
    assert moments(shares, values, 0 * values, noise=1 / 6, bias=0.0) is None
    found = moments(np.full(5000, 0.9), np.arange(5000.0), np.zeros(5000), noise=1 / 6, bias=0.0)
    assert found is not None
    assert found.biased


def test_errors_of_one_operand_are_one_error() -> None:
    values = np.linspace(1, 2, 1000)
    shares = np.full(1000, 0.2)
    few, many = np.repeat(np.arange(10), 100), np.repeat(np.arange(100), 10)
    assert moments(shares, values, shares * 0, noise=0.5, bias=0.0, shared=[many, few]) is None
    found = moments(shares, values, shares * 0, noise=0.5, bias=0.0, shared=[many])
    assert found is not None
    assert found.deviations == pytest.approx(10)  # of a hundred means that are all alike, each of one deviation


def test_terms_that_a_sum_absorbs_are_no_bias() -> None:
    case = gemm_case("float32", (8000, 2, 150), ("shifted", "wide"))
    standard = Goldens().of(OPERATIONS["gemm"], case)
    output = encode(accumulated(standard.inputs["a"], standard.inputs["b"], "nearest"), "float32")
    assert judge_all(standard.goldens, [output]).passes
    unaware = {name: replace(golden, shared=()) for name, golden in standard.goldens.items()}
    assert "below the true ones" in judge_all(unaware, [output]).detail


def test_too_few_elements_say_nothing() -> None:
    assert moments(np.full(LEAST - 1, 0.9), np.arange(LEAST - 1.0), np.zeros(LEAST - 1), noise=0.1, bias=0.0) is None


def test_chance_accuses_nobody() -> None:
    """Ten thousand outputs of good noise: none is biased, none too large; with half a deviation of bias all are."""
    generator = np.random.Generator(np.random.Philox(2))
    values = np.arange(400.0)
    for offset, expected in ((0.0, 0), (0.5, 1000)):
        found = [
            moments(generator.uniform(-1, 1, 400) / 2 + offset * 0.5, values, 0 * values, noise=0.5 * 3**-0.5, bias=0.0)
            for _ in range(1000)
        ]
        assert sum(one is not None and one.suspicious for one in found) == expected
