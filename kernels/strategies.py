"""Hypothesis strategies that contracts build their cases from, biased to where faults live.

Faults live at 0 and 1, at primes, at powers of two and their neighbours, at block edges, in long thin shapes and in
many tiny rows. ``budget`` is the largest number of elements that a tensor may have on the platform at hand.
"""

from __future__ import annotations

import math
from random import Random
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from golden import layout as layouts
from golden.case import Case, TensorSpec
from golden.inputs import ORDINARY, known_regimes

if TYPE_CHECKING:
    from kernels.operation import Operation

MODERATE = 2**13
"""Elements a tensor that eleven of twelve cases keep to."""

_OFTEN = ("nan", "masked", "masked_above")
"""Laws of values that are drawn twice as often as others."""

_EXPECTED = 9
"""How many times likelier the law whose turn it is comes than all others together, to which a case is made smaller."""

MANY = (65_535, 65_536, 65_537, 70_000)
"""Numbers of tiny rows: an axis of a grid holds 65535 on some devices."""

_LANDMARKS = sorted(
    {0, 1, 2, 3, 5, 6, 7, 11, 13, 17, 31, 33, 37, 48, 61, 67, 96, 97, 100, 127, 129, 160, 193, 251, 255, 257, 384, 509}
    | {511, 513, 640, 768, 769, 1000, 1021, 1023, 1025, 1536, 2047, 2049, 2560, 3001, 4093, 4095, 4097, 5000, 8191}
    | {8193, 10007, 16385, 32769, *MANY, *(2**k for k in range(17))}
)


def sizes(limit: int, *, least: int = 0) -> st.SearchStrategy[int]:
    """Return a strategy of one dimension, ``least`` to ``limit``."""
    landmarks = [size for size in _LANDMARKS if least <= size <= limit]
    anything = st.integers(least, max(limit, least))
    return st.one_of(st.sampled_from(landmarks), anything) if landmarks else anything


@st.composite
def shapes(draw: st.DrawFn, budget: int, *, ranks: tuple[int, ...] = (1, 2, 3, 0, 4)) -> list[int]:
    """Draw a shape of at most ``budget`` elements; now and then with an axis of 0, or where there is room very long."""
    if 2 in ranks and _rows_beyond(budget) and draw(st.booleans()):
        return draw(st.permutations(draw(_many(budget))))
    shape: list[int] = []
    room = budget
    for _ in range(draw(st.sampled_from(ranks))):
        # The empty axis is drawn apart, so that emptiness does not eat a large part of the cases.
        size = 0 if draw(st.integers(0, 39)) == 39 else draw(sizes(min(room, 70000), least=1))
        shape.append(size)
        room //= max(size, 1)
    return draw(st.permutations(shape)) if len(shape) > 1 else shape


def _rows_beyond(budget: int) -> list[int]:
    """Return which of :data:`MANY` fit into ``budget`` with two elements each."""
    return [rows for rows in MANY if 2 * rows <= budget]


def _numbers_of_rows(budget: int) -> st.SearchStrategy[int]:
    """Return a strategy of very many rows, and of a few, to which a failure that needs no more is made smaller."""
    return st.sampled_from([1, 2, 4, 8, *2 * _rows_beyond(budget)])


@st.composite
def _many(draw: st.DrawFn, budget: int) -> list[int]:
    """Draw very many rows of very few elements."""
    rows = draw(_numbers_of_rows(budget))
    return [rows, draw(st.integers(1, min(5, budget // rows)))]


@st.composite
def row_shapes(draw: st.DrawFn, budget: int) -> list[int]:
    """Draw a shape with rows to reduce: few long ones, many tiny ones, or anything between; rank 1 or more."""
    if draw(st.integers(0, 11)) == 11:
        shape = draw(row_shapes(min(budget, MODERATE // 8)))
        shape[draw(st.integers(0, len(shape) - 1))] = 0
        return shape
    # Only the few large cases have room for them, so that they are most of those.
    many = ["many"] * 6 if _rows_beyond(budget) else []
    kind = draw(st.sampled_from(["rows", "long", "tiny", "any", *many]))
    if kind == "many":
        return draw(_many(budget))
    if kind == "any":
        return draw(shapes(budget, ranks=(2, 1, 3, 4)))
    if kind == "long":
        length = draw(sizes(min(budget, 70000), least=2))
        return [draw(st.integers(1, max(1, min(3, budget // length)))), length]
    if kind == "tiny":
        length = draw(st.integers(1, 5))
        return [draw(sizes(max(1, min(budget // 8, 5000)), least=1)), length]
    length = draw(sizes(min(math.isqrt(budget), 4096), least=1))
    return [draw(sizes(min(budget // length, 512), least=1)), length]


@st.composite
def matrix_sizes(draw: st.DrawFn, budget: int) -> tuple[int, int, int]:
    """Draw m, n, k so that no matrix has more than ``budget`` elements; k is often much longer than m and n."""
    side = math.isqrt(budget)
    if bool(_rows_beyond(budget)) and draw(st.booleans()):
        m, thin = draw(_numbers_of_rows(budget)), st.integers(1, 3)
        return m, min(draw(thin), budget // m), min(draw(thin), budget // m)
    if draw(st.integers(0, 11)) == 11:
        return draw(st.sampled_from([(0, 3, 5), (3, 0, 5), (3, 5, 0), (0, 0, 0)]))
    if draw(st.booleans()):
        m, n = draw(sizes(min(side, 65), least=1)), draw(sizes(min(side, 65), least=1))
        return m, n, draw(sizes(min(budget // max(m, n), 5000), least=1))
    limit = min(side, 300)
    return draw(sizes(limit, least=1)), draw(sizes(limit, least=1)), draw(sizes(limit, least=1))


@st.composite
def normalized(draw: st.DrawFn, budget: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Draw dims and params of a normalization: rows of one element or more, and an eps that is added to a variance."""
    shape = draw(row_shapes(budget))
    shape[-1] = max(shape[-1], 1)
    return {"x": shape}, {"eps": draw(st.sampled_from([1e-5, 1e-6, 2.0**-10]))}


@st.composite
def broadcast_partner(draw: st.DrawFn, shape: list[int]) -> list[int]:
    """Draw a shape that broadcasts against ``shape``: mostly the same, else with axes of 1, or leading ones missing."""
    if draw(st.integers(0, 2)) < 2:
        return list(shape)
    partner = [1 if draw(st.booleans()) else size for size in shape]
    return partner[draw(st.integers(0, len(partner))) :]


@st.composite
def layout(draw: st.DrawFn, shape: tuple[int, ...], *, expandable: bool = True) -> str:
    """Draw a layout that fits ``shape``: contiguous now and then, else with one peculiarity or several."""
    if not shape:
        return draw(st.sampled_from(["contiguous", "offset1", "offset3"]))
    many = len(shape) > 1
    kinds = [
        "contiguous",
        "contiguous",
        "sliced",
        "offset",
        "mixed",
        *(["transposed", "padded", "padded"] if many else []),
    ]
    kind = draw(st.sampled_from([*kinds, "expanded"] if expandable else kinds))

    def has(word: str) -> bool:
        return kind == word or (kind == "mixed" and (many or word in ("sliced", "offset")) and draw(st.booleans()))

    return layouts.compose(
        transposed=0 if has("transposed") else None,
        sliced=draw(st.integers(2, 3)) if has("sliced") else None,
        padded=draw(st.sampled_from([1, 3, 8])) if has("padded") else None,
        offset=draw(st.sampled_from([1, 3, 5, 7, 15, 4])) if has("offset") else None,
        expanded=draw(st.integers(0, len(shape) - 1)) if kind == "expanded" else None,
    )


def _law_of_turn(laws: tuple[str, ...], name: str, turn: int) -> str:
    """Return the law whose turn it is: all of ``laws`` in an order of the operation's own, then all in another."""
    number, place = divmod(turn, len(laws))
    return Random(f"{name}:{number}").sample(laws, len(laws))[place]


@st.composite
def cases(
    draw: st.DrawFn, operation: Operation, budget: int, *, dtype: str | None = None, turn: int | None = None
) -> Case:
    """Draw a case of ``operation`` with at most ``budget`` elements a tensor, of ``dtype`` or of any that it has.

    Where many are drawn, ``turn`` numbers them: each law of values then has its turn in the first tensor.
    """
    dtype = dtype or draw(st.sampled_from(operation.dtypes))
    # Most faults show at moderate sizes; the few large cases, which cost most of the time, are for the others.
    dims, params = draw(operation.dims(min(budget, MODERATE) if draw(st.integers(0, 11)) < 11 else budget))
    bare = Case(operation.name, dtype, dims, params)
    tensors: dict[str, Any] = {}
    for position, (name, form) in enumerate(operation.forms(bare).items()):
        if form.values is not None:  # nothing to draw but where they lie; an expanded axis would repeat a slice
            tensors[name] = TensorSpec(layout=draw(layout(form.shape, expandable=False)))
            continue
        also = (regime for regime in operation.also_drawn.get(name, ()) if regime in known_regimes(form.dtype))
        regimes = (*operation.regimes(dtype, name), *also)
        # Faults with NaN and with rows that are masked as a whole are many, and one law of a dozen is for each.
        regimes += tuple(regime for regime in regimes if regime in _OFTEN)
        if turn is not None and not position:
            regimes += (_law_of_turn(regimes, operation.name, turn),) * _EXPECTED * len(regimes)
        # One tensor of a special regime makes a case special; with several the rest is mostly ordinary.
        if position and draw(st.integers(0, 2)) < 2:
            regimes = tuple(regime for regime in regimes if regime in ORDINARY) or regimes
        # Ranks hold a row each, laid out by itself.
        laid = layout(form.shape[1:], expandable=False) if operation.spread else layout(form.shape)
        tensors[name] = TensorSpec(draw(st.sampled_from(regimes)), draw(laid))
    return Case(operation.name, dtype, dims, params, tensors, draw(st.integers(0, 2**16)))
