"""var_mean(x, *, dim): the variance and the mean along an axis."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from golden import enclosure
from golden.case import Case, Form
from kernels.along import Selection


class VarMean(Selection):
    """sum((x - mean)**2) / (n - 1), the unbiased estimate, and the mean, along ``dim``, which the results do not have.

    float16 and bfloat16 are computed in float32. The bounds grant deviations from a mean that is rounded, in two passes
    or as a running mean's (Welford, Technometrics 4, 1962): an error of n u kappa beside the variance, where kappa is
    the root of the mean of squares over the variance. They do not grant the mean of squares less the squared mean,
    whose error is n u kappa**2 (Chan, Golub and LeVeque, The American Statistician 37, 1983).
    """

    name = "var_mean"
    toothless: ClassVar = {"permuted": "the same elements in another order have the same mean and variance"}
    policies: ClassVar = {
        "NaN": "a row that holds a NaN has neither variance nor mean: both are NaN",
        "inf": "a row that holds an infinity has the variance NaN; its mean is open: infinite or NaN",
        "overflow": "open where squares or sums exceed the range, since the order decides",
        "one element": "a row of one element has the variance NaN, which is 0 / 0",
        "empty": "an axis of length 0 is not a valid input",
    }

    def results(self, case: Case) -> dict[str, Form]:
        form = Form(self.output_shape(case), case.dtype)
        return {"var": form, "mean": form}

    def independent_axis(self, case: Case) -> None:
        return None

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        return self.without_overflow(super().regimes(dtype, tensor), dtype)

    def reference(self, x: Any, *, dim: int) -> Any:
        mean = enclosure.mean(x, dim, running=True)
        centred = x - mean
        variance = enclosure.total(centred * centred, dim, rounds=True) / float(x.shape[dim] - 1)
        infinite = np.isinf(enclosure.numbers(x)).any(dim, keepdims=True)
        unordered = np.isnan(enclosure.numbers(x)).any(dim, keepdims=True)
        mean = enclosure.opened(mean, infinite & ~unordered)
        return enclosure.squeezed(variance, dim), enclosure.squeezed(mean, dim)
