"""What the contracts of operations over ranks have in common: each rank holds a part of the input, and gets a result.

The tensors of a case have a leading axis of ranks: rank r holds row r. The reference sees all of them at once and gives
one result for each rank, so that golden results, bounds, teeth and records are those of any operation. An
implementation is what one rank does: it takes that rank's parts, the parameters, and ``group``, through which it talks
to the others (:class:`platforms.ranks.group.Group`).
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, CaseError, Form
from golden.dtypes import FLOATS
from golden.precision import Precision
from kernels import strategies
from kernels.operation import Operation

DTYPES = ("float32", "float16", "bfloat16", "int32", "int64")

MOVED = (*DTYPES, "float8_e4m3fn", "float8_e5m2")
"""What can be moved without being added up; not every backend takes all of it."""

REDUCTIONS = ("sum", "max", "min", "avg")
"""What a reduction over ranks may be; avg is of floating dtypes alone."""


class Spread(Operation, abstract=True):
    """An operation over ranks. Its dims say how many ``ranks`` there are.

    Attributes:
        alike: whether all ranks get the same result, which must then have the same bits on each.
        numbers: the numbers of ranks that cases are drawn for.
        message: the dim along whose last axis a message can be made longer, and the tensor whose last axis then grows,
            as that of the results does: each column of them is a result of its own.
    """

    spread = True
    dtypes: ClassVar[tuple[str, ...]] = DTYPES
    alike: ClassVar[bool] = False
    numbers: tuple[int, ...] = (2, 3, 4, 8)
    message: ClassVar[tuple[str, str]] = ("x", "x")

    # What a contract's author defines, beside the reference and shapes.

    def output_shape_of(self, case: Case, rank: int) -> tuple[int, ...]:
        """Return the shape of the result of one rank."""
        raise NotImplementedError

    def held(self, case: Case, tensor: str, rank: int) -> int | None:
        """Return how many of the slices of its row of ``tensor`` a rank holds; None for all, by default."""
        return None

    # What everything else asks.

    def over(self, ranks: int) -> Spread:
        """Return this operation with cases drawn for that many ranks alone."""
        one = copy.copy(self)
        one.numbers = (ranks,)
        return one

    def ranks(self, case: Case) -> int:
        """Return over how many ranks ``case`` is spread; raises CaseError for none."""
        (ranks,) = self.size(case, "ranks")
        if ranks < 1:
            raise CaseError(f"{self.name} needs dims.ranks of 1 or more, not {ranks}")
        return ranks

    def results(self, case: Case) -> dict[str, Form]:
        return {
            f"rank {rank}": Form(self.output_shape_of(case, rank), self.output_dtype(case))
            for rank in range(self.ranks(case))
        }

    def longer(self, case: Case, columns: int) -> Case:
        """Return ``case`` with so many more columns in its message; one that is of no axis gets one."""
        dim, _ = self.message
        size = case.dims[dim]
        more = [*size[:-1], (size[-1] if size else 1) + columns] if isinstance(size, list) else size + columns
        return replace(case, dims={**case.dims, dim: more})

    def part(self, case: Case, tensor: str, rank: int) -> tuple[Any, ...]:
        """Return the index at which ``tensor`` has what ``rank`` holds of it."""
        held = self.held(case, tensor, rank)
        return (rank,) if held is None else (rank, slice(held))


class Reduction(Spread, abstract=True):
    """A reduction of what all ranks hold, elementwise; narrow floats are added up in float32.

    Attributes:
        parts: whether a rank holds a part for each rank, along a leading axis, or one for all.
    """

    policies: ClassVar = {
        "NaN": "a NaN, or infinities of both signs, make a sum NaN; open: a NaN in max and min",
        "overflow": "integers wrap around; floats are open where partial sums may leave the range: the order decides",
        "signed zero": "open: the sign of a zero result",
        "avg": "open: of integers, which some backends refuse",
    }
    also_drawn: ClassVar = {"x": ("absorbed",)}
    parts: ClassVar[bool] = False

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        ranks = self.ranks(case)
        return {"x": (ranks, *((ranks,) if self.parts else ()), *self.shape(case, "x"))}

    def output_shape_of(self, case: Case, rank: int) -> tuple[int, ...]:
        return self.shape(case, "x")

    @staticmethod
    @st.composite
    def _dims(
        draw: st.DrawFn, numbers: tuple[int, ...], parts: bool, budget: int
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        ranks = draw(st.sampled_from(numbers))
        shape = draw(messages(ranks * (ranks if parts else 1), budget))
        return {"ranks": ranks, "x": shape}, {"op": draw(st.sampled_from(("sum", "sum", *REDUCTIONS)))}

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return self._dims(self.numbers, self.parts, budget)

    def reduced_axes(self, case: Case) -> dict[str, int]:
        return {"x": 0}


class Product(Spread, abstract=True):
    """A matrix product of which each rank has a part, together with the message that brings the parts together."""

    dtypes = tuple(dtype for dtype in DTYPES if dtype in FLOATS)
    multiplies_matrices = True
    message = ("n", "b")
    policies: ClassVar = {
        "NaN": "a NaN in a row of a or a column of b makes every element of their product NaN",
        "overflow": "open where the sum of magnitudes exceeds the accumulator's range, since the order decides",
        "empty": "k = 0 gives zeros",
    }

    @staticmethod
    @st.composite
    def _dims(draw: st.DrawFn, numbers: tuple[int, ...], budget: int) -> tuple[dict[str, Any], dict[str, Any]]:
        ranks = draw(st.sampled_from(numbers))
        m, n, k = draw(strategies.matrix_sizes(max(1, budget // ranks**2)))
        return {"ranks": ranks, "m": m, "n": n, "k": k}, {}

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return self._dims(self.numbers, budget)

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        return self.without_overflow(super().regimes(dtype, tensor), dtype)

    def reduced_axes(self, case: Case) -> dict[str, int]:
        return {"a": -1, "b": -2}


class Share(Operation, abstract=True):
    """An operation as one of its ranks sees it: the parts that it holds, and its own result."""

    def __init__(self, whole: Spread, rank: int) -> None:
        self.name = whole.name  # type: ignore[misc]
        self.tensor_dtypes = whole.tensor_dtypes  # type: ignore[misc]
        self.tensors, self.parameters = whole.tensors, whole.parameters
        self._whole, self._rank = whole, rank

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        return {name: self._shape(case, name, shape[1:]) for name, shape in self._whole.shapes(case).items()}

    def _shape(self, case: Case, tensor: str, row: tuple[int, ...]) -> tuple[int, ...]:
        held = self._whole.held(case, tensor, self._rank)
        return row if held is None else (held, *row[1:])

    def results(self, case: Case) -> dict[str, Form]:
        return {"out": self._whole.results(case)[f"rank {self._rank}"]}


@st.composite
def messages(draw: st.DrawFn, ranks: int, budget: int) -> list[int]:
    """Draw the shape of what a rank sends, where all ``ranks`` together may hold ``budget`` elements."""
    length = draw(sizes(budget // ranks))
    # A message of two axes has layouts that one of one axis has not.
    rows = draw(st.sampled_from([None, None, 2, 3]))
    return [length] if rows is None or rows * length * ranks > budget else [rows, length]


def sizes(budget: int) -> st.SearchStrategy[int]:
    """Return a strategy of a message's elements: none, few, and where the ways to send it change."""
    return st.one_of(strategies.sizes(min(budget, 300)), strategies.sizes(budget))


def reduced(x: Any, op: str) -> Any:
    """Return the reduction over the leading axis, which the result does not have; raises CaseError for another ``op``.

    In any order of additions. Where a NaN meets max or min, and of avg of integers, everything is left open.
    """
    if op not in REDUCTIONS:
        raise CaseError(f"params.op is one of {', '.join(REDUCTIONS)}, not {op!r}")
    if op == "sum":
        return enclosure.squeezed(enclosure.total(x, 0), 0)
    whole = enclosure.numbers(x)
    if op == "avg":
        if whole.dtype.kind == "i":
            return np.ma.masked_all(whole.shape[1:], whole.dtype)
        return enclosure.squeezed(enclosure.total(x, 0) / float(whole.shape[0]), 0)
    chosen = np.max(whole, axis=0) if op == "max" else np.min(whole, axis=0)
    nan = np.isnan(whole).any(axis=0)
    return np.ma.masked_array(np.where(nan, 0, chosen), nan) if nan.any() else chosen


def in_float32(*factors: Any) -> tuple[Any, ...]:
    """Return ``factors`` of a matrix product that comes before the first hop, whatever hops round to."""
    return (
        tuple(_under(one, replace(one.precision, compute="float32")) for one in factors)
        if _bounded(factors)
        else factors
    )


def sent(product: Any, like: Any) -> Any:
    """Return what a rank may round to the tensors' own dtype when it sends it, to be computed with as ``like`` is."""
    if not _bounded((product, like)):
        return product
    narrow = like.precision.fed or like.precision.compute
    return _under(enclosure.rounded(product, narrow), like.precision)


def _bounded(values: Sequence[Any]) -> bool:
    return all(isinstance(one, enclosure.Enclosure) for one in values)


def _under(x: Any, precision: Precision) -> Any:
    return enclosure.Enclosure(x.value, precision, tail=x.tail, errors=x.errors)
