"""What the contracts of functions of single elements have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from golden.case import Case, CaseError
from kernels import strategies
from kernels.operation import Operation


class Elementwise(Operation, abstract=True):
    """A function of the elements that tensors of one shape have at one place; so are the results.

    The shape is the dim called like the first of them.
    """

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        return dict.fromkeys(self.tensors, self.shape(case, self.tensors[0]))

    def output_shape(self, case: Case) -> tuple[int, ...]:
        return self.shape(case, self.tensors[0])

    def independent_axis(self, case: Case) -> tuple[int, dict[str, int]] | None:
        return (0, dict.fromkeys(self.tensors, 0)) if self.shape(case, self.tensors[0]) else None

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return strategies.shapes(budget).map(lambda shape: ({self.tensors[0]: shape}, {}))


class Broadcast(Operation, abstract=True):
    """A function of two elements, of tensors that are broadcast against each other as in torch."""

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        shapes = {name: self.shape(case, name) for name in self.tensors}
        try:
            np.broadcast_shapes(*shapes.values())
        except ValueError:
            one, two = shapes.values()
            raise CaseError(f"{self.name}: shapes {one} and {two} do not broadcast") from None
        return shapes

    def output_shape(self, case: Case) -> tuple[int, ...]:
        return np.broadcast_shapes(*self.shapes(case).values())

    def independent_axis(self, case: Case) -> tuple[int, dict[str, int]] | None:
        shape = self.output_shape(case)
        whole = {
            name: len(one) == len(shape) and one[0] == shape[0] for name, one in self.shapes(case).items() if shape
        }
        return (0, {name: 0 for name, along in whole.items() if along}) if shape else None

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return self._two_shapes(budget).map(lambda pair: (dict(zip(self.tensors, pair, strict=True)), {}))

    @staticmethod
    @st.composite
    def _two_shapes(draw: st.DrawFn, budget: int) -> tuple[list[int], list[int]]:
        shape = draw(strategies.shapes(budget))
        return shape, draw(strategies.broadcast_partner(shape))
