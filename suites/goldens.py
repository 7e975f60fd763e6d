"""Golden results by case, computed once for all implementations and platforms of a run."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from golden.case import Case
from golden.dtypes import decode, dtype_of
from golden.enclosure import Enclosure
from golden.inputs import digest, make_inputs
from golden.judge import Golden, seal
from golden.precision import Precision
from golden.teeth import Teeth, bite
from kernels.operation import Operation

_MOST_BYTES = 256 * 2**20


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
        precisions = operation.precision(case.dtype).declared(numerics, case.dtype)
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


def _compute(operation: Operation, case: Case, precision: Precision) -> Standard:
    inputs = make_inputs(case, operation.shapes(case))
    values = {name: decode(array, case.dtype) for name, array in inputs.items()}

    def plain(changed: Mapping[str, np.ndarray]) -> np.ndarray:
        return operation.call(operation.reference, changed, case)

    with np.errstate(all="ignore"):
        if dtype_of(case.dtype).is_float:
            enclosed = {name: Enclosure(value, precision) for name, value in values.items()}
            golden = seal(operation.call(operation.reference, enclosed, case), case.dtype)
        else:
            golden = seal(plain(values), case.dtype)
    teeth = bite(golden, values, plain, reduced_axes=operation.reduced_axes(case), neutral=operation.neutral)
    return Standard(golden, teeth, precision, digest(inputs))
