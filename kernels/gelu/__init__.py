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


SATURATED = 8
"""From here on the hyperbolic tangent in the approximation is 1 in every dtype."""


class Approximated(Elementwise, abstract=True):
    """What gelu and its gradient have in common: the parameter that says which form it is."""

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        if case.params.get("approximate") not in APPROXIMATIONS:
            raise CaseError(f"{self.name} needs params.approximate, one of {APPROXIMATIONS}, not {case.params}")
        return super().shapes(case)

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        chosen = st.sampled_from(APPROXIMATIONS)
        return st.tuples(super().dims(budget), chosen).map(lambda both: (both[0][0], {"approximate": both[1]}))

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        return self.without_flushed(super().regimes(dtype, tensor), dtype)


def _inner(x: Any) -> Any:
    """Return what the approximation takes the hyperbolic tangent of."""
    cubic = x * x * x * constant(0.044715, x)
    return (x + cubic) * constant(SQRT_2_PI, x, rest=SQRT_2_PI_REST)


def _share(x: Any, approximate: str) -> Any:
    """Return twice the normal distribution function, less 1, or what stands for that."""
    if approximate == "none":
        return enclosure.erf(x * enclosure.sqrt(constant(0.5, x)))
    return enclosure.tanh(_inner(x))


def gelu_slope(x: Any, approximate: str) -> Any:
    """Return the derivative of gelu; open at infinities."""
    share = _share(x, approximate)
    if approximate == "none":
        density = enclosure.exp(x * x * -0.5) * constant(SQRT_2_PI / 2, x, rest=SQRT_2_PI_REST / 2)
        slope = (share + 1.0) * 0.5 + x * density
    else:
        power = enclosure.exp(enclosure.absolute(_inner(x)) * -2.0)
        stable = power * 4.0 / ((power + 1.0) * (power + 1.0))
        # Most implementations cancel here, until nothing is left.
        near = np.abs(enclosure.numbers(x)) < SATURATED
        falls = enclosure.where(near, enclosure.either(stable, 1.0 - share * share), stable)
        rises = (x * x * (constant(0.044715, x) * 3.0) + 1.0) * constant(SQRT_2_PI, x, rest=SQRT_2_PI_REST)
        slope = (share + 1.0) * 0.5 + x * 0.5 * falls * rises
    return enclosure.opened(slope, np.isinf(enclosure.numbers(x)))


class Gelu(Approximated):
    """x/2 (1 + erf(x / sqrt 2)), or its approximation x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x**3))).

    Hendrycks and Gimpel, "Gaussian error linear units", arXiv:1606.08415. float16 and bfloat16 are computed in float32.
    """

    name = "gelu"
    policies: ClassVar = {"NaN": "propagates", "-inf": "open: the limit is 0, and the formula gives NaN"}

    def reference(self, x: Any, *, approximate: str) -> Any:
        return enclosure.opened(x * 0.5 * (_share(x, approximate) + 1.0), np.isneginf(enclosure.numbers(x)))
