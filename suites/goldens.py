"""Golden results by case, computed once for all implementations and platforms of a run."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from golden.case import Case, Form
from golden.dtypes import decode, dtype_of
from golden.enclosure import Enclosure
from golden.inputs import digest, make_inputs
from golden.judge import Golden, joined, seal
from golden.numerics import relaxed
from golden.precision import Precision
from golden.teeth import Teeth, bite
from kernels.operation import Operation

_MOST_BYTES = 256 * 2**20

BLOCK = 2**15
"""Elements of a result that are computed at a time where they do not depend on each other.

Temporaries of that size stay in the cache, and are small beside a large result.
"""


@dataclass(frozen=True)
class Standard:
    """What outputs of a case are held against: golden and its teeth under one precision, and how to name that."""

    golden: Golden
    teeth: Teeth
    precision: Precision
    input_digest: str


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
        self._bytes += standard.golden.nbytes
        while self._bytes > _MOST_BYTES and len(self._known) > 1:
            _, oldest = self._known.popitem(last=False)
            self._bytes -= oldest.golden.nbytes
        return standard


def compute(operation: Operation, case: Case, precision: Precision) -> Golden:
    """Return the golden result of ``case`` under ``precision``."""
    forms = operation.forms(case)
    return _golden(operation, case, precision, _values(make_inputs(case, forms), forms))


def _compute(operation: Operation, case: Case, precision: Precision) -> Standard:
    forms = operation.forms(case)
    inputs = make_inputs(case, forms)
    values = _values(inputs, forms)
    golden = _golden(operation, case, precision, values)

    def plain(changed: Mapping[str, np.ndarray]) -> np.ndarray:
        return operation.call(operation.reference, changed, case)

    teeth = bite(golden, values, plain, reduced_axes=operation.reduced_axes(case), neutral=operation.neutral)
    return Standard(golden, teeth, precision, digest(inputs))


def _values(inputs: Mapping[str, np.ndarray], forms: Mapping[str, Form]) -> dict[str, np.ndarray]:
    return {name: decode(array, forms[name].dtype) for name, array in inputs.items()}


def _golden(operation: Operation, case: Case, precision: Precision, values: Mapping[str, np.ndarray]) -> Golden:
    shape = operation.output_shape(case)
    independent = operation.independent_axis(case)
    if independent is None or math.prod(shape) <= BLOCK:
        return _piece(operation, case, precision, values)
    axis, along = independent
    # A matrix product takes its other operand apart for each block, so that those are larger.
    rows = max(256 if operation.multiplies_matrices else 1, BLOCK * shape[axis] // math.prod(shape))

    def pieces() -> Iterator[Golden]:
        for start in range(0, shape[axis], rows):
            part = slice(start, start + rows)
            taken = {name: np.moveaxis(values[name], one, 0)[part] for name, one in along.items()}
            moved = {name: np.moveaxis(taken[name], 0, one) for name, one in along.items()}
            yield _piece(operation, case, precision, {**values, **moved})

    return joined(pieces(), shape, axis)


def _piece(operation: Operation, case: Case, precision: Precision, values: Mapping[str, np.ndarray]) -> Golden:
    dtype = operation.output_dtype(case)
    with np.errstate(all="ignore"):
        if not dtype_of(dtype).is_float:
            return seal(operation.call(operation.reference, values, case), dtype)
        # Integers, an index or a packed weight, are exact and stay what they are.
        enclosed = {
            name: Enclosure(value, precision) if value.dtype == np.float64 else value for name, value in values.items()
        }
        return seal(operation.call(operation.reference, enclosed, case), dtype)
