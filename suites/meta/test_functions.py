"""Are golden's functions within the radius that they claim, by a computation with 300 bits, at easy and hard points?"""

from __future__ import annotations

import hashlib
import warnings

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golden import functions
from golden.functions import evaluate

CONTEXT = mpmath.mp.clone()
CONTEXT.prec = 300

TRUE = {
    "exp": CONTEXT.exp,
    "exp2": lambda x: CONTEXT.mpf(2) ** x,
    "expm1": lambda x: CONTEXT.expm1(x),
    "log": CONTEXT.log,
    "log2": lambda x: CONTEXT.log(x, 2),
    "log1p": lambda x: CONTEXT.log(1 + x) if abs(x) > 1e-30 else x - x * x / 2,
    "tanh": CONTEXT.tanh,
    "erf": CONTEXT.erf,
    "sin": CONTEXT.sin,
    "cos": CONTEXT.cos,
    "sqrt": CONTEXT.sqrt,
    "rsqrt": lambda x: 1 / CONTEXT.sqrt(x),
}
POSITIVE = ("log", "log2", "sqrt", "rsqrt")
LARGEST = {"exp": 709.0, "exp2": 1023.0, "expm1": 709.0, "sin": 2.0**20, "cos": 2.0**20}


def points(name: str) -> np.ndarray:
    """Return a few hundred points where the function is defined: of all sizes, and where its reduction is hard."""
    raw = np.random.Philox(key=5).random_raw(160)
    fraction = np.ldexp((raw >> np.uint64(11)).astype(np.float64), -53)
    sign = np.where(np.arange(160) % 2, 1.0, -1.0)
    wide = sign * np.ldexp(1 + fraction, np.arange(160) % 40 - 25)
    tables = np.arange(-40, 40) / 64
    edges = np.concatenate([np.nextafter(tables + 1 / 128, np.inf), np.nextafter(tables + 1 / 128, -np.inf)])
    turns = np.arange(-12, 12) * 1.5707963267948966
    logs = np.arange(-40, 40, 3) * 0.6931471805599453
    near = 1 + sign[:60] * np.ldexp(1.0, -np.arange(60))
    tiny = np.array([1e-300, 1e-20, 2.0**-27, 3e-8])
    x = np.concatenate([wide, tables, edges, turns, logs, near, tiny, -tiny])
    x = np.abs(x[x != 0]) if name in POSITIVE else x[x > -1] if name == "log1p" else x
    return x[np.abs(x) <= LARGEST.get(name, np.inf)]


def hold(name: str, x: np.ndarray, tail: np.ndarray, *, doubled: bool) -> None:
    value, low, radius = evaluate(name, x, tail if doubled else 0.0, doubled=doubled)
    for one, rest, v, t, r in zip(x, tail, value, low, radius, strict=True):
        argument = CONTEXT.mpf(float(one)) + (CONTEXT.mpf(float(rest)) if doubled else 0)
        away = abs(CONTEXT.mpf(float(v)) + CONTEXT.mpf(float(t)) - TRUE[name](argument))
        assert away <= CONTEXT.mpf(float(r)), (name, float(one), float(rest), float(away), float(r))


@pytest.mark.parametrize("doubled", [True, False])
@pytest.mark.parametrize("name", TRUE)
def test_results_are_within_their_radius(name: str, doubled: bool) -> None:
    x = points(name)
    hold(name, x, np.zeros_like(x), doubled=doubled)
    hold(name, x, x * 2.0**-55, doubled=doubled)


@pytest.mark.parametrize("name", TRUE)
@settings(max_examples=60)
@given(st.floats(-700, 700))
def test_drawn_results_are_within_their_radius(name: str, x: float) -> None:
    if name in POSITIVE or name == "log1p":
        x = abs(x) or 1.0
    hold(name, np.array([x]), np.array([0.0]), doubled=True)


@pytest.mark.parametrize("name", TRUE)
def test_twice_the_bits_are_really_there(name: str) -> None:
    x = points(name)
    x = x[np.abs(x) > 1e-290]
    value, _, radius = evaluate(name, x, doubled=True)
    # Near their zeros sine and cosine, log near 1, are only as good as the reduction of their argument.
    ordinary = np.abs(value) > 2.0**-20
    assert (radius[ordinary] <= 2.0**-62 * np.abs(value[ordinary])).all()
    assert (radius <= 2.0**-60 * np.maximum(np.abs(value), 2.0**-20)).all()


def test_every_machine_gets_the_same_bits() -> None:
    state = hashlib.sha256()
    for name in TRUE:
        for part in evaluate(name, points(name), doubled=True)[:2]:
            state.update((part + 0.0).astype("<f8").tobytes())
    assert state.hexdigest()[:16] == "e468b0ae1c8a3977"


@pytest.mark.parametrize("doubled", [True, False])
def test_special_values(doubled: bool) -> None:
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -1e308, 1e308])
    nan, inf = np.nan, np.inf
    expected: dict[str, list[float | None]] = {
        "exp": [nan, inf, 0, 1, 0, inf],
        "exp2": [nan, inf, 0, 1, 0, inf],
        "expm1": [nan, inf, -1, 0, -1, inf],
        "log": [nan, inf, nan, -inf, nan, None],
        "log1p": [nan, inf, nan, 0, nan, None],
        "tanh": [nan, 1, -1, 0, -1, 1],
        "erf": [nan, 1, -1, 0, -1, 1],
        "sin": [nan, nan, nan, 0, None, None],
        "cos": [nan, nan, nan, 1, None, None],
        "sqrt": [nan, inf, nan, 0, nan, None],
        "rsqrt": [nan, 0, nan, inf, nan, None],
    }
    for name, results in expected.items():
        value, low, radius = evaluate(name, x, doubled=doubled)
        for got, want in zip(value, results, strict=True):
            assert want is None or got == want or (np.isnan(got) and np.isnan(want)), (name, value)
        assert np.isfinite(low).all()
        assert np.isfinite(radius).all()


def test_scalars_and_empty_arrays() -> None:
    for shape in ((), (0,), (2, 0)):
        assert [part.shape for part in evaluate("exp", np.zeros(shape), doubled=True)] == [shape] * 3


def test_a_numpy_that_is_not_good_enough_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(functions._NUMPY, "exp", lambda x: np.exp(x) * (1 + 2.0**-50))
    functions._is_good.cache_clear()
    with pytest.warns(RuntimeWarning, match=r"NumPy's exp\(.* on this machine"):
        value, _, radius = evaluate("exp", np.array([0.5]), doubled=False)
    assert abs(CONTEXT.exp(0.5) - float(value[0])) <= radius[0]
    functions._is_good.cache_clear()


def test_this_machines_numpy_is_good_enough() -> None:
    functions._is_good.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in functions._NUMPY:
            evaluate(name, np.array([0.5]), doubled=False)


def test_an_unknown_function_is_named() -> None:
    with pytest.raises(ValueError, match="unknown function 'gamma'; there are exp, "):
        evaluate("gamma", np.zeros(1), doubled=True)
