"""gelu(x, *, approximate): x times the normal distribution function, elementwise."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, CaseError
from golden.enclosure import constant
from kernels.elementwise import Elementwise

APPROXIMATIONS = ("none", "tanh")

SQRT_2_PI, SQRT_2_PI_REST = 0.7978845608028654, -4.98465440455546e-17
"""The square root of 2/pi, and what float64 cannot hold of it."""


class Gelu(Elementwise):
    """x/2 (1 + erf(x / sqrt 2)), or its approximation x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x**3))).

    Hendrycks and Gimpel, "Gaussian error linear units", arXiv:1606.08415. float16 and bfloat16 are computed in float32.
    """

    name = "gelu"
    policies: ClassVar = {"NaN": "propagates", "-inf": "open: the limit is 0, and the formula gives NaN"}

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        if case.params.get("approximate") not in APPROXIMATIONS:
            raise CaseError(f"gelu needs params.approximate, one of {APPROXIMATIONS}, not {case.params}")
        return super().shapes(case)

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        chosen = st.sampled_from(APPROXIMATIONS)
        return st.tuples(super().dims(budget), chosen).map(lambda both: (both[0][0], {"approximate": both[1]}))

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        return self.without_flushed(super().regimes(dtype, tensor), dtype)

    def reference(self, x: Any, *, approximate: str) -> Any:
        if approximate == "none":
            share = enclosure.erf(x * enclosure.sqrt(constant(0.5, x)))
        else:
            cubic = x * x * x * constant(0.044715, x)
            share = enclosure.tanh((x + cubic) * constant(SQRT_2_PI, x, rest=SQRT_2_PI_REST))
        return enclosure.opened(x * 0.5 * (share + 1.0), np.isneginf(enclosure.numbers(x)))
