"""Golden results by case, computed once for all implementations and platforms of a run."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from golden.case import Case
from golden.dtypes import decode
from golden.enclosure import Enclosure
from golden.inputs import digest, make_inputs
from golden.judge import Golden, joined, seal
from golden.numerics import relaxed
from golden.precision import Precision
from golden.sample import sampled
from golden.teeth import Teeth, bite_all
from kernels.operation import Operation

_MOST_BYTES = 256 * 2**20

BLOCK = 2**16
"""Elements of a result that are computed at a time where they do not depend on each other.

Temporaries of that size stay in the cache, and are small beside a large result.
"""


@dataclass(frozen=True)
class Standard:
    """What outputs of a case are held against: golden results, by name, and their teeth, under one precision.

    ``inputs`` are the decoded tensors of the case, or of its sampled rows.
    """

    inputs: Mapping[str, np.ndarray]
    goldens: Mapping[str, Golden]
    teeth: Teeth
    precision: Precision
    input_digest: str

    @property
    def nbytes(self) -> int:
        return sum(golden.nbytes for golden in self.goldens.values()) + sum(one.nbytes for one in self.inputs.values())


class Goldens:
    """A cache of standards, the oldest thrown out once they take more than a quarter of a gigabyte."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, Precision], Standard] = OrderedDict()
        self._bytes = 0

    def of(self, operation: Operation, case: Case) -> Standard:
        """Return the standard that the contract itself sets."""
        return self.under(operation, case, operation.precision(case.dtype))

    def declared(self, operation: Operation, case: Case, numerics: str) -> list[Standard]:
        """Return the standards that an implementation asks for which declares ``numerics``; none for the contract's."""
        precisions = relaxed(operation.precision(case.dtype), numerics, case.dtype)
        return [self.under(operation, case, precision) for precision in precisions]

    def under(self, operation: Operation, case: Case, precision: Precision) -> Standard:
        """Return the standard that the contract would set if it asked for ``precision``."""
        key = case.line, precision
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        standard = _compute(operation, case, precision)
        self._known[key] = standard
        self._bytes += standard.nbytes
        while self._bytes > _MOST_BYTES and len(self._known) > 1:
            _, oldest = self._known.popitem(last=False)
            self._bytes -= oldest.nbytes
        return standard


def compute(operation: Operation, case: Case, precision: Precision) -> dict[str, Golden]:
    """Return the golden results of ``case`` under ``precision``, by name; of sampled rows where one is huge."""
    _, values = inputs(operation, case)
    return evaluate(operation, case, precision, values)


def _compute(operation: Operation, case: Case, precision: Precision) -> Standard:
    label, values = inputs(operation, case)
    goldens = evaluate(operation, case, precision, values)

    def plain(changed: Mapping[str, np.ndarray]) -> tuple[np.ndarray, ...]:
        return _several(operation.call(operation.reference, changed, case))

    teeth = bite_all(goldens, values, plain, reduced_axes=operation.reduced_axes(case), neutral=operation.neutral)
    return Standard(values, goldens, teeth, precision, label)


def inputs(operation: Operation, case: Case) -> tuple[str, dict[str, np.ndarray]]:
    """Return the digest of the inputs and their values; of a huge case those that its sampled rows need."""
    forms = operation.forms(case)
    made = make_inputs(case, forms)
    label, independent = digest(made), operation.independent_axis(case)
    if independent:
        axis, along = independent
        sample = sampled(case, operation.output_shape(case), axis)
        made |= {} if sample is None else taken(made, along, sample)
    return label, {name: decode(array, forms[name].dtype) for name, array in made.items()}


def evaluate(
    operation: Operation, case: Case, precision: Precision, values: Mapping[str, np.ndarray]
) -> dict[str, Golden]:
    """Return the golden results of ``case``, by name, on inputs of these ``values`` (decoded) under ``precision``."""
    goldens = _evaluated(operation, case, precision, values)
    return {name: _shared(operation, values, golden, precision) for name, golden in goldens.items()}


def _evaluated(
    operation: Operation, case: Case, precision: Precision, values: Mapping[str, np.ndarray]
) -> dict[str, Golden]:
    independent, enclosed = operation.independent_axis(case), _enclosed(values, precision)
    if independent is None:
        return _pieces(operation, case, enclosed)
    (axis, along), shape = independent, operation.output_shape(case)
    # Of a huge result these are the values of the sampled rows alone.
    if math.prod(shape) <= BLOCK or sampled(case, shape, axis) is not None:
        return _pieces(operation, case, enclosed)
    # A matrix product takes its other operand apart for each block, so that those are larger; more so into more slices.
    least = (256 if precision.doubled else 128) if operation.multiplies_matrices else 1
    rows = max(least, BLOCK * shape[axis] // math.prod(shape))

    def pieces() -> Iterator[Golden]:
        for start in range(0, shape[axis], rows):
            block = _enclosed(taken(values, along, slice(start, start + rows)), precision)
            yield from _pieces(operation, case, {**enclosed, **block}).values()

    (name,) = operation.results(case)
    return {name: joined(pieces(), shape, axis)}


def _shared(operation: Operation, values: Mapping[str, np.ndarray], golden: Golden, precision: Precision) -> Golden:
    """Return ``golden`` with what tells which elements were computed from one operand, and share errors.

    Those of a product do, row by row and column by column, where terms may be so small that a sum absorbs them: what is
    lost then has the sign of the operand.
    """
    shape, reals = golden.value.shape, [one for one in values.values() if one.dtype == np.float64]
    shared = [one for one in reals if one.shape == shape]
    unit = precision.accumulator.unit if precision.accumulator else precision.unit
    if operation.multiplies_matrices and len(shape) > 1 and any(_absorbed(one, unit) for one in reals):
        columns = operation.column_axis % len(shape)
        ranges = np.ogrid[tuple(slice(length) for length in shape)]
        rows = [one * math.prod(shape[axis + 1 :]) for axis, one in enumerate(ranges) if axis != columns]
        shared += [ranges[columns], np.asarray(sum(rows))]
    return golden.sharing(tuple(shared))


def _absorbed(operand: np.ndarray, unit: float) -> bool:
    """Return whether the smallest part of ``operand``, not counting zeros, is less than a rounding of the largest."""
    least, most = np.inf, 0.0
    for part in np.array_split(operand.reshape(-1), 1 + operand.size // BLOCK):  # of which the first mostly tells
        sizes = np.abs(part)
        if not sizes.max(initial=0.0) < np.inf:  # nor NaN
            sizes = sizes[np.isfinite(sizes)]
        most = max(most, float(sizes.max(initial=0.0)))
        least = min(least, float(np.where(sizes > 0, sizes, np.inf).min(initial=np.inf)))
        if least < unit * most:
            return True
    return False


def taken(values: Mapping[str, np.ndarray], along: Mapping[str, int], part: slice | np.ndarray) -> dict[str, Any]:
    """Return ``part`` of the tensors that go along with an independent axis of the result, each along its own."""

    def at(axis: int, rank: int) -> tuple[Any, ...]:
        return (*(slice(None),) * (axis % rank), part)

    return {name: values[name][at(axis, values[name].ndim)] for name, axis in along.items()}


def of_values(
    operation: Operation, case: Case, precision: Precision, values: Mapping[str, np.ndarray]
) -> dict[str, Golden]:
    """Return the golden results, by name, of inputs of these ``values`` (decoded), whatever their shapes are.

    ``case`` gives the parameters and the results' dtypes.
    """
    return _pieces(operation, case, _enclosed(values, precision))


def _enclosed(values: Mapping[str, np.ndarray], precision: Precision) -> dict[str, Enclosure | np.ndarray]:
    """Return inputs as enclosures; integers, an index or a packed weight, are exact and stay what they are."""
    return {
        name: Enclosure(precision.emulated.loaded(value), precision) if value.dtype == np.float64 else value
        for name, value in values.items()
    }


def _pieces(operation: Operation, case: Case, enclosed: Mapping[str, Enclosure | np.ndarray]) -> dict[str, Golden]:
    with np.errstate(all="ignore"):
        results = _several(operation.call(operation.reference, enclosed, case))
        forms = operation.results(case).items()
        return {name: seal(result, form.dtype) for (name, form), result in zip(forms, results, strict=True)}


def _several(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)
