"""Is golden's arithmetic what plain fractions say, within the radius that it claims?"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from fractions import Fraction
from typing import SupportsFloat

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.case import Case, TensorSpec
from golden.doubled import add, divide, multiply, two_product, two_sum
from golden.dtypes import decode
from golden.exact import Product, cumulative, matmul, quantum_exponent, total, windows
from golden.inputs import make_inputs

FINITE = st.floats(-1e150, 1e150, allow_nan=False)
ANY_FINITE = st.floats(allow_nan=False, allow_infinity=False)
REGIMES = ["normal", "positive", "integers", "wide", "cancelling", "subnormal", "large", "signed_zero"]


def fraction(*parts: SupportsFloat) -> Fraction:
    return sum((Fraction(float(part)) for part in parts), Fraction(0))


def terms_of(row: Iterable[float], column: Iterable[float]) -> list[Fraction]:
    return [fraction(x) * fraction(y) for x, y in zip(row, column, strict=True)]


def drawn(dtype: str, seed: int = 0, **tensors: tuple[str, tuple[int, ...]]) -> list[np.ndarray]:
    """Return the values of tensors by their regimes and shapes."""
    specs = {name: TensorSpec(regime) for name, (regime, _) in tensors.items()}
    inputs = make_inputs(
        Case("any", dtype, {}, tensors=specs, seed=seed), {n: shape for n, (_, shape) in tensors.items()}
    )
    return [decode(inputs[name], dtype) for name in tensors]


def check(product: Product, a: np.ndarray, b: np.ndarray, row: int, column: int) -> None:
    """Hold one element of a product of matrices against the fractions."""
    place = row, column
    terms = terms_of(a[row], b[:, column])
    tail = np.broadcast_to(product.tail, product.value.shape)
    away = abs(fraction(product.value[place], tail[place]) - sum(terms))
    assert away <= fraction(product.radius[place])
    size, largest = sum(map(abs, terms)), fraction(np.abs(a).max()) * fraction(np.abs(b).max())
    least = (1 + largest) / 2**1000  # of what is that far below the largest, nothing may be known
    assert size <= fraction(product.magnitude[place]) <= size * (1 + Fraction(1, 1024)) + least


@given(FINITE, FINITE)
def test_two_sum_loses_nothing(a: float, b: float) -> None:
    total, lost = two_sum(np.float64(a), np.float64(b))
    assert fraction(total, lost) == fraction(a, b)


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


@given(st.lists(ANY_FINITE | st.integers(-5, 5).map(float), min_size=1, max_size=5))
def test_every_element_is_a_multiple_of_the_quantum_and_of_no_larger_one(numbers: list[float]) -> None:
    exponent = quantum_exponent(np.array(numbers))
    whole = [Fraction(number) for number in numbers if number]
    if exponent is None:
        assert not whole
        return
    unit = Fraction(2) ** exponent
    assert all((number / unit).denominator == 1 for number in whole)
    assert any((number / (2 * unit)).denominator != 1 for number in whole)


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
    a, b = drawn(dtype, seed, a=(left, (m, k)), b=(right, (k, n)))
    if dtype == "float64":  # keep the products in float64's own range
        a, b = (np.ldexp(x, -np.frexp(np.abs(x).max())[1]) for x in (a, b))
    product = matmul(a, b, doubled=doubled)
    largest = np.abs(a).max(1)[:, None] * np.abs(b).max(0)
    claimed = k**2 * 2.0**-101 if doubled else k**1.5 * 2.0**-75
    assert (product.radius <= (k + 4) * claimed * largest).all()
    if dtype == "float16" or {left, right} == {"integers"}:
        assert (product.radius == 0).all()
    for row, column in np.ndindex(m, n):
        check(product, a, b, row, column)


@given(st.integers(1, 70), st.integers(20, 53), st.booleans(), st.integers(0, 2**32))
def test_operands_of_few_bits_make_an_exact_product(k: int, bits: int, doubled: bool, seed: int) -> None:
    """Up to 46 bits each, in two slices, or 34 in one and a rest; where there are more, the radius must tell."""
    random = np.random.default_rng(seed)
    a, b = (random.integers(2 ** (bits - 1), 2**bits, shape).astype(np.float64) for shape in ((2, k), (k, 2)))
    product = matmul(a, b, doubled=doubled)
    if bits <= (46 if doubled else 34):
        assert (product.radius == 0).all()
    check(product, a, b, 1, 1)


@given(
    st.lists(st.tuples(ANY_FINITE, ANY_FINITE, ANY_FINITE), min_size=1, max_size=4), st.booleans(), st.integers(0, 2)
)
def test_any_numbers_make_a_product_within_its_radius(
    numbers: list[tuple[float, float, float]], doubled: bool, scale: int
) -> None:
    """All exponents that float64 has; what the largest of a row and of a column make may be beyond them."""
    columns = np.array(numbers)
    a, b = np.ldexp(columns[:, :2].T, -300 * scale), columns[:, 2:]
    product = matmul(a, b, doubled=doubled)
    for row in range(2):
        if fraction(np.abs(a[row]).max()) * fraction(np.abs(b).max()) < Fraction(2) ** 1000:
            check(product, a, b, row, 0)
        elif not np.isfinite(product.value[row, 0]):
            assert np.isinf(product.radius[row, 0])
            assert np.isinf(product.magnitude[row, 0])


@pytest.mark.parametrize(("m", "k", "n"), [(3, 5000, 200), (300, 20, 300), (7, 4096, 129)])
def test_a_product_made_in_pieces_is_one_product(m: int, k: int, n: int) -> None:
    a, b = drawn("float32", a=("normal", (m, k)), b=("wide", (k, n)))
    product = matmul(a, b, doubled=False)
    for row, column in [(0, 0), (m // 2, n // 2), (m - 1, n - 1)]:
        check(product, a, b, row, column)
    size = np.abs(a) @ np.abs(b)
    assert (np.abs(product.value - a @ b) <= 1e-12 * size).all()
    assert ((0.999 * size < product.magnitude) & (product.magnitude < 1.001 * size)).all()
    assert ((product.radius > 0) & (product.radius < 1e-12 * size)).all()


@pytest.mark.parametrize("exponents", [(0, 0), (-300, -300), (-500, 300), (300, -500)])
def test_a_zero_row_is_exactly_zero_beside_any_other(exponents: tuple[int, int]) -> None:
    a, b = drawn("float64", a=("normal", (3, 20)), b=("normal", (20, 4)))
    a, b = (np.ldexp(x, exponent) for x, exponent in zip((a, b), exponents, strict=True))
    a[0, 0] = np.ldexp(a[0, 0], -600)
    a[1] = 0
    b[:, 2] = 0
    product = matmul(a, b)
    for part in (product.value, product.radius, product.magnitude):
        assert np.array_equal(part == 0, (np.arange(3) == 1)[:, None] | (np.arange(4) == 2))


def test_what_underflows_counts_as_a_term() -> None:
    a, b = np.array([[1.0, 2.0**-550, 0.0]]), np.array([[0.0], [2.0**-550], [1.0]])
    product = matmul(a, b)
    assert product.magnitude > 0
    check(product, a, b, 0, 0)
    b[1] = 0
    assert matmul(a, b).magnitude == 0


def test_the_radius_is_small_beside_the_bounds_that_it_serves() -> None:
    """A float32 kernel's own bound is about 2**-24 of the result, a float64 kernel's 2**-53."""
    for dtype, doubled, share in (("float32", False, 2.0**-46), ("float64", True, 2.0**-67)):
        a, b = drawn(dtype, a=("normal", (8, 2000)), b=("normal", (2000, 8)))
        assert matmul(a, b, doubled=doubled).radius.max() < share * np.sqrt(2000)


def test_batches_and_empty_operands() -> None:
    a, b = np.arange(24.0).reshape(2, 3, 4), np.arange(40.0).reshape(2, 4, 5)
    assert np.array_equal(matmul(a, b).value, np.matmul(a, b))
    product = matmul(a[:, None], b)
    assert np.array_equal(product.value, np.matmul(a[:, None], b))
    assert product.radius.shape == product.magnitude.shape == (2, 2, 3, 5)
    for one, other in (((2, 0), (0, 3)), ((0, 4), (4, 3)), ((3, 2, 4), (3, 4, 0))):
        product = matmul(np.zeros(one), np.zeros(other))
        assert all(np.array_equal(part, np.zeros(one) @ np.zeros(other)) for part in (product.value, product.radius))


@given(st.lists(st.tuples(FINITE, st.floats(-1, 1)), min_size=1, max_size=40), st.integers(0, 1), st.booleans())
def test_sums_are_within_their_radius_of_the_fractions(
    numbers: list[tuple[float, float]], axis: int, has_tail: bool
) -> None:
    row = np.array([number for number, _ in numbers])
    rest = np.array([share * 2.0**-53 * number for number, share in numbers]) * has_tail
    value, tail = (np.stack([part, -part], 1 - axis) for part in (row, rest))
    n, whole = len(row), total(value, tail if has_tail else 0.0, axis)
    up_to = cumulative(value, tail if has_tail else 0.0, axis)
    back_from = cumulative(value, tail if has_tail else 0.0, axis, reverse=True)
    for (result, low, radius), pieces in (
        (whole, [slice(n)]),
        (up_to, [slice(i + 1) for i in range(n)]),
        (back_from, [slice(i, n) for i in range(n)]),
    ):
        for index, piece in enumerate(pieces):
            got, granted = (np.take(part, index, axis)[0] for part in (result, radius))
            away = abs(fraction(got, np.take(low, index, axis)[0]) - fraction(*row[piece], *rest[piece]))
            assert away <= fraction(granted)
            assert granted <= 2.0**-99 * float(fraction(*map(abs, row[piece])))


def test_a_sum_without_loss_has_no_radius() -> None:
    for dtype in ("float16", "bfloat16"):
        (x,) = drawn(dtype, x=("normal", (5, 300)))
        for _, _, radius in (total(x, 0.0, -1), cumulative(x, 0.0, 0)):
            assert (radius == 0).all()
    assert total(np.array([1.0, 2.0**-60, 1.0]), 0.0, 0)[2] > 0


def test_sums_have_the_same_bits_whatever_lies_beside_and_wherever_it_lies() -> None:
    (x,) = drawn("float64", x=("wide", (900, 137)))
    value, tail, _ = total(x, x * 2.0**-54, 1)
    for row in (0, 500, 899):
        for one in (x[row], np.repeat(x[row], 3)[::3]):
            alone = total(one, one * 2.0**-54, 0)
            assert (alone[0][0], alone[1][0]) == (value[row, 0], tail[row, 0])
    turned = total(np.asfortranarray(x.T), x.T * 2.0**-54, 0)
    assert np.array_equal(turned[0].T, value)
    assert np.array_equal(turned[1].T, tail)


def test_sums_have_the_same_bits_on_every_machine() -> None:
    (x,) = drawn("float64", x=("wide", (16, 1000)))
    parts = [part.astype("<f8").tobytes() for sums in (total, cumulative) for part in sums(x, 0.0, 1)[:2]]
    assert hashlib.sha256(b"".join(parts)).hexdigest()[:16] == "07c84b3124c447d6"


def test_sums_of_special_values() -> None:
    inf, nan = np.inf, np.nan
    rows = np.array([[inf, 1, -inf], [inf, 1, 2], [1, -inf, 2], [nan, 1, 2], [inf, -1e308, -1e308], [1e308, 1e308, 0]])
    value, tail, radius = total(rows, 0.0, 1)
    assert np.array_equal(value[:5, 0], [nan, inf, -inf, nan, inf], equal_nan=True)
    assert (tail == 0).all()
    assert (radius[:5] == 0).all()
    assert np.isinf(radius[5, 0])
    assert total(np.array([[np.finfo(np.float64).max, 0.0]]), 0.0, 0)[2].tolist() == [[0, 0]]
    value, tail, radius = cumulative(rows[:4], 0.0, 1)
    assert np.array_equal(value, [[inf, inf, nan], [inf, inf, inf], [1, -inf, -inf], [nan] * 3], equal_nan=True)
    assert (tail == 0).all()
    assert (radius == 0).all()


def test_sums_of_nothing() -> None:
    assert [part.shape for part in total(np.zeros((2, 0)), 0.0, 1)] == [(2, 1)] * 3
    assert [part.shape for part in total(np.zeros((2, 0)), 0.0, 0)] == [(1, 0)] * 3
    assert [part.shape for part in cumulative(np.zeros((2, 0)), 0.0, 1)] == [(2, 0)] * 3


@given(st.integers(1, 3), st.integers(0, 2), st.integers(1, 2), st.integers(0, 100))
def test_a_convolution_is_a_product_of_windows(stride: int, padding: int, dilation: int, seed: int) -> None:
    x, w = drawn("float32", seed, x=("wide", (2, 2, 7, 5)), w=("normal", (3, 2, 3, 2)))
    product = matmul(windows(x, (3, 2), stride=stride, padding=padding, dilation=dilation), w.reshape(3, -1).T)
    padded = np.pad(x, [(0, 0), (0, 0), (padding, padding), (padding, padding)])
    reach = [(taps - 1) * dilation + 1 for taps in (3, 2)]
    rows, columns = (1 + (size + 2 * padding - one) // stride for size, one in zip((7, 5), reach, strict=True))
    assert product.value.shape == (2, rows * columns, 3)
    tail = np.broadcast_to(product.tail, product.value.shape)
    for image, row, column, channel in [(0, 0, 0, 0), (1, rows - 1, columns - 1, 2), (0, rows // 2, columns // 2, 1)]:
        top, left = row * stride, column * stride
        patch = padded[image, :, top : top + reach[0] : dilation, left : left + reach[1] : dilation]
        place = image, row * columns + column, channel
        away = fraction(product.value[place], tail[place]) - sum(terms_of(patch.flat, w[channel].flat))
        assert abs(away) <= fraction(product.radius[place])


def test_windows_of_one_and_of_three_axes() -> None:
    assert windows(np.arange(5.0)[None], (3,), stride=2).tolist() == [[0, 1, 2], [2, 3, 4]]
    assert windows(np.ones((4, 2, 3, 3, 3)), (2, 2, 2)).shape == (4, 8, 16)
    with pytest.raises(ValueError, match=r"reaches over \(5,\) does not fit into an image of \(4,\)"):
        windows(np.ones((1, 4)), (3,), dilation=2)
