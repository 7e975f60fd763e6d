"""Which elements of a timed result are judged: all of a small one; of a large one some rows, each judged for itself.

Golden results of all of a large one would take minutes. A row is what depends on no other row's inputs, so that its
golden result needs its own alone.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from golden.case import Case
from golden.dtypes import decode
from golden.inputs import Words, make_inputs
from golden.judge import Golden
from golden.precision import Precision
from kernels.operation import Operation
from suites.goldens import of_values, taken

WHOLE = 2**17
"""Elements of a result up to which all are judged."""

ROWS = 8
"""Rows that are judged of a larger one: the first, the last, and some that are drawn."""

LARGEST = 2**20
"""Elements that a result of no rows apart may have, all of which are judged."""

Pick = list[tuple[int, list[int]]]


@dataclass(frozen=True)
class Part:
    """Some elements of the results of a case.

    Attributes:
        pick: which: axes, each with the indices that are taken along it.
        case: what they are the results of; parameters and dtypes alone matter.
        values: its inputs, decoded.
    """

    pick: Pick
    case: Case
    values: Mapping[str, np.ndarray]

    def goldens(self, operation: Operation, precision: Precision) -> dict[str, Golden]:
        """Return the golden results of these elements, by name."""
        return of_values(operation, self.case, precision, self.values)


@functools.lru_cache(maxsize=1)
def parts(operation: Operation, case: Case) -> tuple[Part, ...]:
    """Return the parts of the results of ``case`` that are judged."""
    inputs = make_inputs(case, operation.forms(case))
    return tuple(_parts(operation, case, inputs))


def judgeable(operation: Operation, case: Case) -> bool:
    """Whether golden results of ``case`` are there in seconds: it is small, or has rows apart."""
    return _elements(operation, case) <= (LARGEST if operation.name not in _COSTLY else WHOLE) or _has_rows(
        operation, case
    )


def _has_rows(operation: Operation, case: Case) -> bool:
    return operation.name in (*_APART, *_OWN) or operation.independent_axis(case) is not None


def _elements(operation: Operation, case: Case) -> int:
    tensors = [*operation.forms(case).values(), *operation.results(case).values()]
    return max(form.size for form in tensors)


def _parts(operation: Operation, case: Case, inputs: Mapping[str, np.ndarray]) -> Iterator[Part]:
    dtypes = {name: form.dtype for name, form in operation.forms(case).items()}

    def decoded(some: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {name: decode(values, dtypes[name]) for name, values in some.items()}

    if operation.name in _OWN:
        for pick, params, some in _OWN[operation.name](case, inputs):
            yield Part(pick, replace(case, params=params), decoded(some))
    elif _elements(operation, case) <= WHOLE or not _has_rows(operation, case):
        yield Part([], case, decoded(inputs))
    else:
        axis, along = operation.independent_axis(case) or (0, dict.fromkeys(_APART[operation.name], 0))
        shape = next(iter(operation.results(case).values())).shape
        rows = _rows(case, shape[axis])
        part = taken(inputs, along, np.array(rows))
        yield Part([(axis, rows)], case, decoded({**inputs, **part}))


def _rows(case: Case, count: int, *, most: int = ROWS) -> list[int]:
    drawn = Words(case.seed, "timed rows").below(count, most)
    return sorted({0, count - 1, *(int(row) for row in drawn[: max(0, most - 2)])})


Piece = tuple[Pick, Mapping[str, Any], Mapping[str, np.ndarray]]


def _queries(case: Case, inputs: Mapping[str, np.ndarray]) -> Iterator[Piece]:
    """Yield some queries of attention, each with the keys that it sees, which need no mask then."""
    q, k, v = (inputs[name] for name in ("q", "k", "v"))
    batches, heads, queries, _ = q.shape
    for number in _rows(case, batches * heads * queries):
        batch, head, query = (int(one) for one in np.unravel_index(number, (batches, heads, queries)))
        seen = slice(0, query + 1 if case.params["causal"] else k.shape[2])
        of = head * k.shape[1] // heads
        one = {
            "q": q[batch : batch + 1, head : head + 1, query : query + 1],
            "k": k[batch : batch + 1, of : of + 1, seen],
            "v": v[batch : batch + 1, of : of + 1, seen],
        }
        yield [(0, [batch]), (1, [head]), (2, [query])], {**case.params, "causal": False}, one


_OWN: dict[str, Callable[[Case, Mapping[str, np.ndarray]], Iterator[Piece]]] = {"attention": _queries}
"""Operations whose rows are told apart in a way of their own."""

_APART: dict[str, Sequence[str]] = {
    **dict.fromkeys(("sort", "topk", "max", "var_mean"), ("x",)),
    "linear_scan": ("a", "b"),
    "swiglu_backward": ("grad", "gate", "up"),
}
"""Operations of several results whose typical cases have rows apart, with the tensors that these are rows of."""

_COSTLY = ("attention_backward", "varlen_attention")
"""Operations whose golden results take far longer than there are elements."""
