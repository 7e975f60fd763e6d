"""Is golden's arithmetic what plain fractions say, within the radius that it claims?"""

from __future__ import annotations

from fractions import Fraction
from typing import SupportsFloat

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.case import Case, TensorSpec
from golden.doubled import add, divide, multiply, two_product, two_sum
from golden.dtypes import decode
from golden.exact import matmul, quantum_exponent, total, windows
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


def fraction(*parts: SupportsFloat) -> Fraction:
    return sum((Fraction(float(part)) for part in parts), Fraction(0))


@pytest.mark.parametrize("doubled", [True, False])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@given(
    st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 70)),
    st.sampled_from(REGIMES),
    st.sampled_from(REGIMES),
    st.integers(0, 1000),
)
def test_a_product_is_within_its_radius_of_the_fractions(
    dtype: str, doubled: bool, sizes: tuple[int, int, int], left: str, right: str, seed: int
) -> None:
    m, n, k = sizes
    case = Case("gemm", dtype, {}, tensors={"a": TensorSpec(left), "b": TensorSpec(right)}, seed=seed)
    inputs = make_inputs(case, {"a": (m, k), "b": (k, n)})
    a, b = decode(inputs["a"], dtype), decode(inputs["b"], dtype)
    if dtype == "float64":  # keep the products in float64's own range
        a, b = (np.ldexp(x, -np.frexp(np.abs(x).max())[1]) for x in (a, b))
    product = matmul(a, b, doubled=doubled)
    value, tail, radius, above = product.value, product.tail, product.radius, product.magnitude
    for i in range(m):
        for j in range(n):
            terms = [Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a[i], b[:, j], strict=True)]
            away = abs(fraction(value[i, j], tail[i, j]) - sum(terms))
            assert away <= Fraction(float(radius[i, j]))
            size = sum(map(abs, terms))
            assert size <= Fraction(float(above[i, j]))
            assert float(above[i, j]) <= float(size) * (1 + 2.0**-8) + 1e-300
            if {left, right} == {"integers"}:
                assert radius[i, j] == 0


@pytest.mark.parametrize("size", [300, 1100])
def test_a_product_made_of_tiles_is_the_same(size: int) -> None:
    case = Case("gemm", "float32", {}, tensors={"a": TensorSpec("normal"), "b": TensorSpec("wide")})
    inputs = make_inputs(case, {"a": (size, 20), "b": (20, size)})
    a, b = (decode(inputs[name], "float32") for name in "ab")
    product = matmul(a, b)
    value, tail, radius = product.value, product.tail, product.radius
    for row, column in [(0, 0), (255, 256), (size - 1, size - 1), (260, size - 3)]:
        true = sum(Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a[row], b[:, column], strict=True))
        assert abs(fraction(value[row, column], tail[row, column]) - true) <= Fraction(float(radius[row, column]))


@given(st.lists(st.tuples(FINITE, st.floats(-1, 1)), min_size=1, max_size=40), st.integers(0, 1))
def test_a_sum_is_within_its_radius_of_the_fractions(numbers: list[tuple[float, float]], axis: int) -> None:
    value = np.array([[number for number, _ in numbers]] * 2)
    tail = np.array([[share * 2.0**-53 * number for number, share in numbers]] * 2)
    value, tail = (np.moveaxis(x, 1, axis) for x in (value, tail))
    result, low, radius = total(value, tail, axis)
    true = fraction(*np.take(value, 0, 1 - axis), *np.take(tail, 0, 1 - axis))
    assert abs(fraction(result.flat[0], low.flat[0]) - true) <= Fraction(float(radius.flat[0]))
    size = fraction(*map(abs, np.take(value, 0, 1 - axis)))
    assert float(radius.flat[0]) <= 2.0**-92 * float(size)


def test_sums_of_special_values() -> None:
    inf, nan = np.inf, np.nan
    rows = np.array([[inf, 1, -inf], [inf, 1, 2], [1, -inf, 2], [nan, 1, 2], [inf, 1e308, 1e308], [1e308, 1e308, 0]])
    value, tail, radius = total(rows, 0.0, 1)
    assert np.array_equal(value[:5, 0], [nan, inf, -inf, nan, inf], equal_nan=True)
    assert (tail == 0).all()
    assert (radius[:5] == 0).all()
    assert np.isinf(radius[5, 0])
    assert [part.shape for part in total(np.zeros((2, 0)), 0.0, 1)] == [(2, 1)] * 3


@given(st.tuples(FINITE, FINITE), st.tuples(FINITE, FINITE))
def test_pairs_have_twice_the_bits(a: tuple[float, float], b: tuple[float, float]) -> None:
    one, two = (two_sum(np.array(x), np.array(y * 2.0**-60)) for x, y in (a, b))
    exact = fraction(*one), fraction(*two)
    product, true = two_product(one[0], two[0]), fraction(one[0]) * fraction(two[0])
    if abs(true) > Fraction(2) ** -900:
        assert fraction(*product) == true
        got = fraction(*multiply(one, two))
        assert abs(got - exact[0] * exact[1]) <= abs(exact[0] * exact[1]) / 2**100
    if all(1e-140 < abs(pair[0]) < 1e140 for pair in (one, two)):
        got = fraction(*divide(one, two))
        assert abs(got - exact[0] / exact[1]) <= abs(exact[0] / exact[1]) / 2**100
    assert abs(fraction(*add(one, two)) - sum(exact)) <= (abs(exact[0]) + abs(exact[1])) / 2**102


@given(st.integers(1, 2), st.integers(0, 2), st.integers(0, 100))
def test_a_convolution_is_a_product_of_windows(stride: int, padding: int, seed: int) -> None:
    case = Case("conv2d", "float32", {}, tensors={"x": TensorSpec("wide"), "w": TensorSpec("normal")}, seed=seed)
    inputs = make_inputs(case, {"x": (2, 2, 6, 5), "w": (3, 2, 3, 2)})
    x, w = (decode(inputs[name], "float32") for name in "xw")
    unfolded = windows(x, (3, 2), stride=stride, padding=padding)
    product = matmul(unfolded, w.reshape(3, -1).T)
    value, tail, radius = product.value, product.tail, product.radius
    padded = np.pad(x, [(0, 0), (0, 0), (padding, padding), (padding, padding)])
    rows, columns = (1 + (size + 2 * padding - window) // stride for size, window in ((6, 3), (5, 2)))
    assert value.shape == (2, rows * columns, 3)
    for image, row, column, channel in [(0, 0, 0, 0), (1, rows - 1, columns - 1, 2)]:
        patch = padded[image, :, row * stride : row * stride + 3, column * stride : column * stride + 2]
        terms = (Fraction(float(p)) * Fraction(float(q)) for p, q in zip(patch.flat, w[channel].flat, strict=True))
        place = image, row * columns + column, channel
        assert abs(fraction(value[place], tail[place]) - sum(terms)) <= Fraction(float(radius[place]))


def test_the_radius_is_small_beside_the_bounds_that_it_serves() -> None:
    case = Case("gemm", "float32", {}, tensors={"a": TensorSpec("normal"), "b": TensorSpec("normal")})
    inputs = make_inputs(case, {"a": (8, 2000), "b": (2000, 8)})
    product = matmul(*(decode(inputs[name], "float32") for name in "ab"))
    assert product.radius.max() < 2.0**-64


def test_batches_and_empty_operands() -> None:
    a, b = np.arange(24.0).reshape(2, 3, 4), np.arange(40.0).reshape(2, 4, 5)
    assert np.array_equal(matmul(a, b).value, np.matmul(a, b))
    assert np.array_equal(matmul(np.zeros((2, 0)), np.zeros((0, 3))).value, np.zeros((2, 3)))
