"""Is golden of what ranks compute together what fractions say, rank by rank? Each collective, drawn cases."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from golden.case import Case, TensorSpec
from golden.dtypes import decode, dtype_of
from golden.inputs import make_inputs
from golden.judge import Golden
from kernels import strategies
from kernels.registry import load
from kernels.spread import Spread
from suites.goldens import compute

COLLECTIVES = load().collectives
assert COLLECTIVES is not None
OPERATIONS = {name: one for name, one in COLLECTIVES.operations.items() if isinstance(one, Spread)}
BUDGET = 96

Held = list[np.ndarray]
"""What each rank holds, as arrays of fractions."""


def combined(several: Held, op: str) -> np.ndarray:
    if op in ("max", "min"):
        choose = max if op == "max" else min
        return np.frompyfunc(lambda *numbers: choose(numbers), len(several), 1)(*several)
    total = np.asarray(sum(several), object)
    return total / len(several) if op == "avg" else total


def all_reduce(x: Held, *, op: str) -> Held:
    return [combined(x, op) for _ in x]


def reduce_scatter(x: Held, *, op: str) -> Held:
    return [combined([one[rank] for one in x], op) for rank in range(len(x))]


def all_gather(x: Held) -> Held:
    return [np.array([one.tolist() for one in x], object).reshape(len(x), *x[0].shape) for _ in x]


def broadcast(x: Held, *, source: int) -> Held:
    return [x[source] for _ in x]


def all_to_all(x: Held, *, splits: list[int]) -> Held:
    """Deals every row out to the rank that it is for, one at a time."""
    received: list[list[np.ndarray]] = [[] for _ in x]
    for source, rows in enumerate(x):
        taken = iter(rows)
        for to in range(len(x)):
            received[to] += [next(taken) for _ in range(splits[source * len(x) + to])]
    return [np.array([row.tolist() for row in rows], object).reshape(len(rows), x[0].shape[-1]) for rows in received]


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    cells = [
        [sum((one * other for one, other in zip(row, column, strict=True)), Fraction()) for column in b.T] for row in a
    ]
    return np.array(cells, object).reshape(a.shape[0], b.shape[1])


def gemm_reduce_scatter(a: Held, b: Held) -> Held:
    whole = combined([product(one, other) for one, other in zip(a, b, strict=True)], "sum")
    rows = whole.shape[0] // len(a)
    return [whole[rank * rows : (rank + 1) * rows] for rank in range(len(a))]


def all_gather_gemm(a: Held, b: Held) -> Held:
    return [np.concatenate([product(one, mine) for one in a]) for mine in b]


FORMULAS: dict[str, Callable[..., Held]] = {
    one.__name__: one
    for one in (
        all_gather,
        all_gather_gemm,
        all_reduce,
        all_to_all,
        broadcast,
        gemm_reduce_scatter,
        reduce_scatter,
    )
}


def test_every_collective_is_held_against_fractions() -> None:
    assert set(FORMULAS) == set(OPERATIONS)


def truth(operation: Spread, case: Case) -> Held:
    """Return the true result of each rank; none where an input is not finite."""
    forms = operation.forms(case)
    values = {name: decode(x, forms[name].dtype) for name, x in make_inputs(case, forms).items()}
    if not all(np.isfinite(x).all() for x in values.values()):
        return []
    exact = {
        name: np.vectorize(Fraction, otypes=[object])(x) if x.size else x.astype(object) for name, x in values.items()
    }
    held = {
        name: [np.asarray(x[operation.part(case, name, rank)], object) for rank in range(operation.ranks(case))]
        for name, x in exact.items()
    }
    return FORMULAS[operation.name](**held, **case.params)


def check(golden: Golden, true: np.ndarray, dtype: str, line: str) -> int:
    """Hold every judged element against the true one; return how many there are."""
    kind, judged = dtype_of(dtype), 0
    radius, tail = (np.broadcast_to(one, golden.value.shape) for one in (golden.radius, golden.tail))
    assert golden.value.shape == true.shape, line
    for index in np.ndindex(*true.shape):
        if np.isinf(golden.hard[index]) or not np.isfinite(golden.value[index]):
            continue
        judged += 1
        if not kind.is_float:
            bits = 8 * kind.itemsize
            wrapped = (true[index] + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)
            assert int(golden.nominal[index]) == wrapped, line
            continue
        error = abs(Fraction(float(golden.value[index])) + Fraction(float(tail[index])) - true[index])
        assert error <= Fraction(float(radius[index])), line
        assert error <= Fraction(float(golden.hard[index])), line
    return judged


@pytest.mark.parametrize(("name", "dtype"), [(name, dtype) for name in FORMULAS for dtype in OPERATIONS[name].dtypes])
def test_golden_is_what_fractions_say_on_every_rank(name: str, dtype: str) -> None:
    operation, judged = OPERATIONS[name], 0

    @settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
    @given(strategies.cases(operation, BUDGET, dtype=dtype))
    def held(case: Case) -> None:
        nonlocal judged
        if true := truth(operation, case):
            goldens = compute(operation, case, operation.precision(dtype)).values()
            judged += sum(check(*pair, dtype, case.line) for pair in zip(goldens, true, strict=True))

    held()
    assert judged >= 20


def test_what_is_absorbed_at_a_hop_is_in_the_true_sum() -> None:
    spec = TensorSpec("absorbed")
    case = Case("all_reduce", "float32", {"ranks": 4, "x": [9]}, params={"op": "sum"}, tensors={"x": spec}, seed=3)
    operation = OPERATIONS["all_reduce"]
    x = decode(make_inputs(case, operation.forms(case))["x"], "float32")
    assert {tuple(sorted(column)) for column in x.T} == {(-(2.0**26), 1.0, 1.0, 2.0**26)}
    assert len({tuple(column) for column in x.T}) > 1
    for golden in compute(operation, case, operation.precision("float32")).values():
        assert golden.value.tolist() == [2.0] * 9
