"""The four errors of each element of an array: rows that are computed one by one, and only where they differ.

Many rows are nothing (a function makes no noise) or the same as another (what may be systematic is as large as any
error). A row is a float64 array that broadcasts to the shape of the value, or a plain number that all elements share;
rows that are one object are computed once, and rows of plain zeros not at all.

NumPy's functions of elements take errors as they would take an array of four rows: ``errors * slope``, for a slope of
the shape of the value, ``np.maximum(errors, others)``; everything else gets such an array, made on the spot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

RADIUS, HARD, NOISE, BIAS = range(4)
"""The rows: see :mod:`golden.enclosure.array` for what they mean."""

Row = Any
"""A float64 array, or a plain number for all elements."""


class Errors(NDArrayOperatorsMixin):
    """Radius, hard bound, noise and bias of the elements of an array of ``rank`` axes."""

    __slots__ = ("_owned", "rank", "rows")

    def __init__(self, rank: int, rows: tuple[Row, Row, Row, Row]) -> None:
        self.rank = rank
        self.rows = rows
        self._owned: set[int] = set()

    @classmethod
    def of(cls, rows: np.ndarray) -> Errors:
        """Return the errors in an array of four rows, which they keep."""
        return cls(rows.ndim - 1, (rows[0], rows[1], rows[2], rows[3]))

    @property
    def radius(self) -> Row:
        return self.rows[RADIUS]

    @property
    def hard(self) -> Row:
        return self.rows[HARD]

    @property
    def noise(self) -> Row:
        return self.rows[NOISE]

    @property
    def bias(self) -> Row:
        return self.rows[BIAS]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array of four rows."""
        shape = np.broadcast_shapes(*(np.shape(row) for row in self.rows))
        return (4, *[1] * (self.rank - len(shape)), *shape)

    def __len__(self) -> int:
        return 4

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(np.asarray(self))

    def __getitem__(self, key: Any) -> np.ndarray:
        """Return a row as an array that may be changed, as nothing else has it."""
        if not isinstance(key, int):
            return np.asarray(self)[key]
        row = key % 4
        if row not in self._owned:
            self[row] = np.array(np.broadcast_to(self.rows[row], self.shape[1:]))
            self._owned.add(row)
        return self.rows[row]

    def __setitem__(self, key: int, row: Row) -> None:
        rows: list[Row] = list(self.rows)
        rows[key] = float(row) if isinstance(row, (int, float)) else row
        self.rows = rows[0], rows[1], rows[2], rows[3]
        self._owned.discard(key % 4)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        result = np.empty(self.shape, dtype)
        for row, values in enumerate(self.rows):
            result[row] = values
        return result

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        elementwise = method == "__call__" and ufunc.signature is None and not options
        if elementwise and all(one is self or not isinstance(one, np.ndarray) for one in out or ()):
            rank = max(one.rank for one in inputs if isinstance(one, Errors))
            result = rowwise(_of_rows(ufunc), *inputs, rank=rank)
            if out:
                self.rows, self._owned, result = result.rows, set(), self
            return result
        arrays = (np.asarray(one) if isinstance(one, Errors) else one for one in inputs)
        return getattr(ufunc, method)(*arrays, **({"out": out} if out else {}), **options)

    # What is done most goes without the detour over ufuncs; an array on the left still makes it.
    def __add__(self, other: Any) -> Errors:
        return rowwise(_sum, self, other)

    def __mul__(self, other: Any) -> Errors:
        return rowwise(_product, self, other)

    def each(self, function: Callable[[Row], Row], *, rank: int | None = None) -> Errors:
        """Return ``function``, which leaves zeros zero, of every row."""
        return rowwise(lambda row: row if _is_nothing(row) else function(row), self, rank=rank)

    def __repr__(self) -> str:
        return f"Errors(radius={self.radius!r}, hard={self.hard!r}, noise={self.noise!r}, bias={self.bias!r})"


def rowwise(function: Callable[..., Row], *operands: Any, rank: int | None = None) -> Errors:
    """Return ``function`` of each row of ``operands``: errors, arrays of four rows, or what all rows share.

    ``rank`` is that of the result; that of the operands, if it is left out.
    """
    of_operands = max([one.rank for one in operands if isinstance(one, Errors)])
    columns = [_rows_of(one, of_operands) for one in operands]
    known: dict[tuple[int, ...], Row] = {}
    results = []
    for arguments in zip(*columns, strict=True):
        key = tuple(map(id, arguments))
        result = known.get(key)
        if result is None:
            known[key] = result = function(*arguments)
        results.append(result)
    return Errors(of_operands if rank is None else rank, (results[0], results[1], results[2], results[3]))


def carried(errors: Errors | float, factor: Any, own: Errors) -> Errors:
    """Return ``errors * factor + own``: what an operation carries on of an operand's errors, and its own."""
    return own if isinstance(errors, float) else rowwise(_carried, errors, factor, own)


def _carried(error: Row, factor: Any, own: Row) -> Row:
    if _is_nothing(error):
        return own
    result = error * factor
    if type(result) is np.ndarray and result.shape == np.shape(own):
        result += own  # in the memory that it has already
        return result
    return result + own


def _rows_of(operand: Any, rank: int) -> tuple[Row, Row, Row, Row]:
    if isinstance(operand, Errors):
        return operand.rows
    if isinstance(operand, np.ndarray) and operand.ndim == rank + 1 and len(operand) == 4:
        return operand[0], operand[1], operand[2], operand[3]
    return operand, operand, operand, operand


def _is_nothing(row: Row) -> bool:
    return type(row) is float and row == 0


def _product(x: Row, y: Row) -> Row:
    return 0.0 if _is_nothing(x) or _is_nothing(y) else x * y


def _sum(x: Row, y: Row) -> Row:
    return y if _is_nothing(x) else x if _is_nothing(y) else x + y


_QUICK: dict[Any, Callable[..., Row]] = {np.multiply: _product, np.add: _sum}
"""What does not do what zeros make superfluous."""


def _of_rows(ufunc: np.ufunc) -> Callable[..., Row]:
    """Return ``ufunc`` of rows: of plain numbers it is one."""

    def apply(*rows: Row) -> Row:
        result = ufunc(*rows)
        return float(result) if all(type(row) in (float, int) for row in rows) else result

    return _QUICK.get(ufunc, apply)
