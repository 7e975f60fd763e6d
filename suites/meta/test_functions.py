"""Are golden's functions within the radius that they claim, by a computation with 300 bits, at easy and hard points?"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golden import doubled_tables as tables
from golden import functions
from golden.functions import evaluate

CONTEXT = mpmath.mp.clone()
CONTEXT.prec = 300

TRUE = {
    "exp": CONTEXT.exp,
    "exp2": lambda x: CONTEXT.mpf(2) ** x,
    "expm1": CONTEXT.expm1,
    "log": CONTEXT.log,
    "log2": lambda x: CONTEXT.log(x) / CONTEXT.log(2),
    "log1p": CONTEXT.log1p,
    "tanh": lambda x: CONTEXT.expm1(2 * x) / (CONTEXT.expm1(2 * x) + 2),
    "sigmoid": lambda x: 1 / (1 + CONTEXT.exp(-x)),
    "erf": CONTEXT.erf,
    "erfc": CONTEXT.erfc,
    "sin": CONTEXT.sin,
    "cos": CONTEXT.cos,
    "sqrt": CONTEXT.sqrt,
    "rsqrt": lambda x: 1 / CONTEXT.sqrt(x),
    "reciprocal": lambda x: 1 / x,
}
POSITIVE = ("log", "log2", "sqrt", "rsqrt")
LARGEST = {"exp": 760.0, "exp2": 1100.0, "expm1": 760.0, "tanh": 400.0, "sigmoid": 760.0, "erf": 40.0, "erfc": 40.0}
LEAST = 2.0**-1074

SHARE = st.just(0.0) | st.floats(2.0**-60, 1) | st.floats(-1, -(2.0**-60))
"""Of half a unit of the last place: small enough a tail, and not too small for 300 bits."""

BEYOND = CONTEXT.mpf(2) ** 1024 * (1 - CONTEXT.mpf(2) ** -54)
"""From here on a result is rounded to infinity."""


def points(name: str) -> np.ndarray:
    """Return some hundred points where the function is defined: of all sizes, and where its reduction is hard."""
    raw = np.random.Philox(key=5).random_raw(120)
    fraction = np.ldexp((raw >> np.uint64(11)).astype(np.float64), -53)
    sign = np.where(np.arange(120) % 2, 1.0, -1.0)
    # Sums of four, less two, are nearly normal, and made without a machine's logarithm.
    normal = fraction.reshape(4, 30).sum(0) - 2
    wide = sign * np.ldexp(1 + fraction, np.arange(120) % 40 - 25)
    extreme = sign[:60] * np.ldexp(1 + fraction[:60], 35 * np.arange(60) - 1074)
    tables = np.arange(-40, 40, 3) / 64 + 1 / 1024
    edges = np.concatenate([np.nextafter(tables, np.inf), np.nextafter(tables, -np.inf), np.arange(-6, 7) * 128.0])
    turns = np.arange(-12, 12) * 1.5707963267948966
    far_turns = np.array([6381956970095103 * 2.0**797, 2.0**1000, 1e22, 666667 * 1.5707963267948966])
    logs = np.arange(-40, 40, 3) * 0.6931471805599453
    near = 1 + np.ldexp(sign[:60], -np.arange(60))
    ends = np.array([5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 709.78271289, 745.13, 26.6, 27.2, 7.5])
    hard = np.concatenate([tables, edges, turns, far_turns, logs, near, ends, -ends])
    x = np.concatenate([normal / 8, normal, 8 * normal, wide, extreme, hard])
    x = np.abs(x[x != 0]) if name in POSITIVE else x[x > -1] if name == "log1p" else x[x != 0]
    return x[np.abs(x) <= LARGEST.get(name, np.inf)]


def hold(name: str, x: np.ndarray, tail: np.ndarray, *, doubled: bool) -> None:
    """Assert that results are within their radius; if doubled, within a quarter of it but for what underflows."""
    value, low, radius = evaluate(name, x, tail if doubled else 0.0, doubled=doubled)
    for one, rest, v, t, r in zip(*(part.tolist() for part in (x, tail, value, low, radius)), strict=True):
        argument = CONTEXT.mpf(one) + (CONTEXT.mpf(rest) if doubled else 0)
        true = TRUE[name](argument)
        if np.isinf(v):
            assert (abs(true) >= BEYOND, t, r) == (True, 0, 0), (name, one, rest)
            continue
        away = abs(CONTEXT.mpf(v) + CONTEXT.mpf(t) - true)
        allowed = CONTEXT.mpf(r) / 4 + LEAST if doubled else CONTEXT.mpf(r)
        assert away <= min(allowed, CONTEXT.mpf(r)), (name, one, rest, float(away), r)


@pytest.mark.parametrize("doubled", [True, False])
@pytest.mark.parametrize("name", TRUE)
def test_results_are_within_their_radius(name: str, doubled: bool) -> None:
    x = points(name)
    hold(name, x, np.zeros_like(x), doubled=doubled)
    if doubled:
        hold(name, x, x * 2.0**-55, doubled=True)


@pytest.mark.parametrize("name", TRUE)
@settings(max_examples=60)
@given(st.floats(allow_nan=False, allow_infinity=False) | st.floats(-30, 30), SHARE)
def test_drawn_results_are_within_their_radius(name: str, x: float, share: float) -> None:
    largest = LARGEST.get(name, np.inf)
    x = x % largest if abs(x) > largest else x
    if name in (*POSITIVE, "reciprocal"):
        x = abs(x) or 1.0
    if name == "log1p" and x <= -1:
        x = -1 / x if x < -1 else -0.5
    for doubled in (True, False):
        hold(name, np.array([x]), np.array([share * 2.0**-54 * x]), doubled=doubled)


@pytest.mark.parametrize("name", TRUE)
def test_twice_the_bits_are_really_there(name: str) -> None:
    x = points(name)
    value, low, radius = evaluate(name, x, doubled=True)
    finite = np.isfinite(value)
    # Sine and cosine near their zeros are only as good as the reduction of their argument.
    absolute = np.where(np.abs(x) > 0.5, 2.0**-130, 0.0) if name in ("sin", "cos") else 0.0
    assert (radius <= 2.0**-69.9 * np.abs(value) + absolute + 3 * LEAST)[finite].all()
    assert (value + low == value)[finite].all()


@pytest.mark.parametrize("name", ["exp", "exp2", "expm1", "log", "log2", "log1p", "tanh", "sqrt", "reciprocal"])
def test_one_call_of_numpy_is_granted_what_it_promises(name: str) -> None:
    x = points(name)
    value, low, radius = evaluate(name, x, doubled=False)
    granted = 1 if name in ("sqrt", "reciprocal") else 8
    finite = np.isfinite(value)
    assert np.array_equal(radius[finite], granted * 2.0**-53 * np.abs(value[finite]) + LEAST)
    assert (low == 0).all()


def test_every_machine_gets_the_same_bits() -> None:
    state = hashlib.sha256()
    for name in TRUE:
        for part in evaluate(name, points(name), doubled=True)[:2]:
            state.update((part + 0.0).astype("<f8").tobytes())
    assert state.hexdigest() == "1bc6a86ad8198be86e3eb2d6fc9c43a60c7d88cf5591d4b5afebb2eca6032c73"


SPECIAL: dict[str, list[float | None]] = {
    # At NaN, inf, -inf, 0, -0, -1, -1e308, 1e308; None where it is an ordinary number.
    "exp": [np.nan, np.inf, 0, 1, 1, None, 0, np.inf],
    "exp2": [np.nan, np.inf, 0, 1, 1, 0.5, 0, np.inf],
    "expm1": [np.nan, np.inf, -1, 0.0, -0.0, None, -1, np.inf],
    "log": [np.nan, np.inf, np.nan, -np.inf, -np.inf, np.nan, np.nan, None],
    "log2": [np.nan, np.inf, np.nan, -np.inf, -np.inf, np.nan, np.nan, None],
    "log1p": [np.nan, np.inf, np.nan, 0.0, -0.0, -np.inf, np.nan, None],
    "tanh": [np.nan, 1, -1, 0.0, -0.0, None, -1, 1],
    "sigmoid": [np.nan, 1, 0, 0.5, 0.5, None, 0, 1],
    "erf": [np.nan, 1, -1, 0.0, -0.0, None, -1, 1],
    "erfc": [np.nan, 0, 2, 1, 1, None, 2, 0],
    "sin": [np.nan, np.nan, np.nan, 0.0, -0.0, None, None, None],
    "cos": [np.nan, np.nan, np.nan, 1, 1, None, None, None],
    "sqrt": [np.nan, np.inf, np.nan, 0.0, -0.0, np.nan, np.nan, None],
    "rsqrt": [np.nan, 0, np.nan, np.inf, -np.inf, np.nan, np.nan, None],
    "reciprocal": [np.nan, 0.0, -0.0, np.inf, -np.inf, -1, None, None],
}


@pytest.mark.parametrize("doubled", [True, False])
@pytest.mark.parametrize("name", TRUE)
def test_special_values(name: str, doubled: bool) -> None:
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, -1.0, -1e308, 1e308])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value, low, radius = evaluate(name, x, doubled=doubled)
    for got, want in zip(value.tolist(), SPECIAL[name], strict=True):
        assert want is None or repr(got) == repr(float(want)) or (want != 0 and got == want), (name, value)
    infinite = ~np.isfinite(value)
    assert (low[infinite] == 0).all()
    assert (radius[infinite] == 0).all()
    assert np.isfinite(low).all()
    assert np.isfinite(radius).all()


def test_a_tail_beside_the_edge_of_a_domain_counts() -> None:
    tails = np.array([2.0**-60, 1e-300, -(2.0**-60), 0.0])
    value, _, _ = evaluate("log1p", np.full(4, -1.0), tails, doubled=True)
    assert np.allclose(value[:2], np.log(tails[:2]), rtol=1e-15)
    assert np.isnan(value[2])
    assert value[3] == -np.inf
    assert evaluate("exp", np.array([0.0]), 2.0**-60, doubled=True)[1] == 2.0**-60


def test_a_zero_beside_arguments_with_tails_keeps_its_sign() -> None:
    value, _, _ = evaluate("expm1", np.array([-0.0, 0.0, 1.0]), np.array([0.0, 0.0, 2.0**-60]), doubled=True)
    assert np.signbit(value).tolist() == [True, False, False]


@pytest.mark.parametrize(("name", "odd"), [("sin", 0), ("cos", 1)])
def test_beside_a_zero_the_reduction_counts(name: str, odd: int) -> None:
    """Arguments with tails come so near to multiples of pi/2 that nothing is left but the error of reducing them."""
    quarters = np.array([1, 2, 3, 1000, 65535, 500001, 667543, 667544, 2**21 + 1, 2**40 + 2])
    turns = [CONTEXT.pi * n / 2 for n in quarters.tolist()]
    x = np.array([float(turn) for turn in turns])
    tail = np.array([float(turn - CONTEXT.mpf(near)) for turn, near in zip(turns, x.tolist(), strict=True)])
    hold(name, x, tail, doubled=True)
    value, _, radius = evaluate(name, x, tail, doubled=True)
    zeros = quarters % 2 == odd
    assert (np.abs(value[zeros]) < 2.0**-100 * quarters[zeros]).all()
    assert (radius[zeros] < 2.0**-130).all()


@pytest.mark.parametrize("doubled", [True, False])
@pytest.mark.parametrize("name", TRUE)
def test_an_element_does_not_depend_on_its_neighbours(name: str, doubled: bool) -> None:
    x = points(name)
    many = np.tile(x, 20000 // x.size + 1)
    whole = evaluate(name, many, doubled=doubled)
    assert all(np.array_equal(part[: x.size], part[-x.size :]) for part in whole)
    if doubled:  # NumPy's functions may take another way for a short rest
        for i in range(0, x.size, 11):
            single = evaluate(name, x[i], doubled=doubled)
            assert [float(part) for part in single] == [float(part[i]) for part in whole]


def test_shapes_and_strides_are_kept() -> None:
    for doubled in (True, False):
        for shape in ((), (0,), (2, 0), (3, 4)):
            assert [part.shape for part in evaluate("exp", np.zeros(shape), doubled=doubled)] == [shape] * 3
        x = np.arange(24.0).reshape(2, 3, 4)
        straight, turned = (evaluate("tanh", one, doubled=doubled) for one in (x.T.copy(), x.T))
        assert all(np.array_equal(a, b) for a, b in zip(straight, turned, strict=True))


@pytest.fixture
def untried() -> Iterator[None]:
    """As in a process that has not used any of NumPy's functions yet."""
    functions._is_good.cache_clear()
    yield
    functions._is_good.cache_clear()


def faulty(function: Callable[..., Any], fault: str) -> Callable[..., np.ndarray]:
    def other(x: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        result: np.ndarray = function(x, out)
        at = (np.abs(x) > 0.3) & (np.abs(x) < 2)
        if fault == "inaccurate":
            result[at] *= 1 + 12 * 2.0**-53
        elif fault == "not a number":
            result[at] = np.nan
        else:
            result[x < -740] = 0.0
        return result

    return other


@pytest.mark.usefixtures("untried")
@pytest.mark.parametrize(
    ("name", "by", "fault"),
    [
        ("exp", "exp", "inaccurate"),
        ("exp", "exp", "not a number"),
        ("exp", "exp", "flushing"),
        ("sigmoid", "exp", "inaccurate"),
        ("sigmoid", "exp", "flushing"),
        ("log1p", "log1p", "inaccurate"),
        ("tanh", "tanh", "not a number"),
    ],
)
def test_a_numpy_that_is_not_good_enough_is_not_used(
    monkeypatch: pytest.MonkeyPatch, name: str, by: str, fault: str
) -> None:
    x = np.array([0.5, 1.5])
    expected = evaluate(name, x, doubled=True)
    monkeypatch.setattr(np, by, faulty(getattr(np, by), fault))
    message = rf"NumPy's {name}\(\S+\) is \S+ instead of \S+ on this machine, an error of \S+ where \S+ is allowed"
    with pytest.warns(RuntimeWarning, match=message) as seen:
        value, low, radius = evaluate(name, x, doubled=False)
    assert len(seen) == 1
    assert seen[0].filename == __file__
    assert np.array_equal(value, expected[0])
    assert (low == 0).all()
    assert (np.abs(expected[1]) <= radius).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(evaluate(name, x, doubled=False)[0], expected[0])


@pytest.mark.usefixtures("untried")
def test_this_machines_numpy_is_good_enough() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in TRUE:
            evaluate(name, np.array([0.5]), doubled=False)


def test_constants_are_what_they_are_called() -> None:
    assert abs(CONTEXT.mpf(tables.pi()) / tables.ONE - CONTEXT.pi) < 2.0**-180
    assert abs(CONTEXT.mpf(tables.log2()) / tables.ONE - CONTEXT.log(2)) < 2.0**-180
    assert abs(CONTEXT.mpf(tables.erf_slope()) / tables.ONE - 2 / CONTEXT.sqrt(CONTEXT.pi)) < 2.0**-180


def test_tables_hold_what_they_are_called() -> None:
    def near(parts: tuple[float, ...], true: object, bits: int) -> bool:
        return abs(sum(CONTEXT.mpf(float(part)) for part in parts) - true) <= CONTEXT.mpf(2) ** -bits

    powers, logs = tables.powers(), tables.logarithms()
    for i in range(0, tables.STEPS, 7):
        assert near((powers.head[i], powers.rest[i]), CONTEXT.mpf(2) ** (CONTEXT.mpf(i) / tables.STEPS), 81)
    for i in range(0, tables.LOG_STEPS, 7):
        assert near((logs.head[i], logs.rest[i]), -CONTEXT.log(CONTEXT.mpf(float(logs.reciprocal[i]))), 95)
    spacing = CONTEXT.mpf(tables.TURN_SPACING)
    for expansions, points, function in (
        (tables.turns(), range(-tables.TURN_LAST, tables.TURN_LAST + 1), CONTEXT.sin),
        (tables.erfs(), range(tables.ERF_LAST + 1), CONTEXT.erf),
    ):
        (high, low), *_ = expansions.pairs
        for place, point in enumerate(points):
            if place % 7 == 0:
                assert near((high[place], low[place]), function(point / spacing), 106)


@pytest.mark.parametrize("doubled", [True, False])
def test_an_unknown_function_is_named(doubled: bool) -> None:
    with pytest.raises(ValueError, match=r"unknown function 'gamma'; there are exp, .*, reciprocal"):
        evaluate("gamma", np.zeros(1), doubled=doubled)


def test_a_tail_asks_for_twice_the_bits() -> None:
    with pytest.raises(ValueError, match="exp of an argument with a tail must be doubled"):
        evaluate("exp", np.ones(1), 1e-20, doubled=False)
