"""Is golden's arithmetic what plain fractions say, within the radius that it claims?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.case import Case, TensorSpec
from golden.dtypes import decode
from golden.exact import matmul, quantum_exponent, two_sum
from golden.inputs import make_inputs

FINITE = st.floats(-1e150, 1e150, allow_nan=False)
REGIMES = ["normal", "positive", "integers", "wide", "cancelling", "subnormal", "large"]


@given(FINITE, FINITE)
def test_two_sum_loses_nothing(a: float, b: float) -> None:
    total, lost = two_sum(np.float64(a), np.float64(b))
    assert Fraction(float(total)) + Fraction(float(lost)) == Fraction(a) + Fraction(b)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_every_element_is_a_multiple_of_the_quantum_and_of_no_larger_one(numbers: list[float]) -> None:
    exponent = quantum_exponent(np.array(numbers))
    whole = [Fraction(number) for number in numbers if number]
    if exponent is None:
        assert not whole
        return
    unit = Fraction(2) ** exponent
    assert all((number / unit).denominator == 1 for number in whole)
    assert any((number / (2 * unit)).denominator != 1 for number in whole)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@given(
    st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 70)),
    st.sampled_from(REGIMES),
    st.sampled_from(REGIMES),
    st.integers(0, 1000),
)
def test_a_product_is_within_its_radius_of_the_fractions(
    dtype: str, sizes: tuple[int, int, int], left: str, right: str, seed: int
) -> None:
    m, n, k = sizes
    case = Case("gemm", dtype, {}, tensors={"a": TensorSpec(left), "b": TensorSpec(right)}, seed=seed)
    inputs = make_inputs(case, {"a": (m, k), "b": (k, n)})
    a, b = decode(inputs["a"], dtype), decode(inputs["b"], dtype)
    if dtype == "float64":  # keep the products in float64's own range
        a, b = (np.ldexp(x, -np.frexp(np.abs(x).max())[1]) for x in (a, b))
    value, tail, radius = matmul(a, b)
    for i in range(m):
        for j in range(n):
            true = sum(Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a[i], b[:, j], strict=True))
            got = Fraction(float(value[i, j])) + Fraction(float(tail[i, j]))
            assert abs(got - true) <= Fraction(float(radius[i, j]))
            if left not in ("wide", "large") and right not in ("wide", "large") and dtype != "float64":
                assert got == true


def test_the_radius_is_small_beside_the_bounds_that_it_serves() -> None:
    case = Case("gemm", "float32", {}, tensors={"a": TensorSpec("normal"), "b": TensorSpec("normal")})
    inputs = make_inputs(case, {"a": (8, 2000), "b": (2000, 8)})
    _, _, radius = matmul(*(decode(inputs[name], "float32") for name in "ab"))
    assert radius.max() < 2.0**-80


def test_batches_and_empty_operands() -> None:
    a, b = np.arange(24.0).reshape(2, 3, 4), np.arange(40.0).reshape(2, 4, 5)
    assert np.array_equal(matmul(a, b)[0], np.matmul(a, b))
    assert np.array_equal(matmul(np.zeros((2, 0)), np.zeros((0, 3)))[0], np.zeros((2, 3)))
