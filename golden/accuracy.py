"""How accurate a contract asks functions to be, in ULP of the dtype that they are computed in.

Two tables. ``full`` is that of the OpenCL C specification, section 7.4, "Relative error as ULPs", for single and double
precision. In single precision exp and exp2 may lose more the larger their argument is, as that section's relaxed table
allows (3 + floor(2|x|)), because hardware has exp2 and rounds the argument times log2(e). ``fast`` is what fast-math
builds get: the relaxed table of OpenCL and the intrinsics of the CUDA C++ programming guide, whichever is looser.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Accuracy:
    """A function errs by at most ``ulp + slope * |x|`` ULP of its result, or by ``absolute``, whichever is more."""

    ulp: float
    slope: float = 0.0
    absolute: float = 0.0


_CORRECT = Accuracy(0.5)  # rounded to nearest

_SINGLE = {
    "divide": Accuracy(2.5),
    "sqrt": Accuracy(3),
    "rsqrt": Accuracy(2),
    "exp": Accuracy(3, slope=2),
    "exp2": Accuracy(3, slope=2),
    "expm1": Accuracy(3),
    "log": Accuracy(3),
    "log2": Accuracy(3),
    "log1p": Accuracy(2),
    "tanh": Accuracy(5),
    "erf": Accuracy(16),
    "erfc": Accuracy(16),
    "sin": Accuracy(4),
    "cos": Accuracy(4),
}

_DOUBLE = {**_SINGLE, "divide": _CORRECT, "sqrt": _CORRECT, "exp": Accuracy(3), "exp2": Accuracy(3)}

_FAST = {
    **_SINGLE,
    "expm1": Accuracy(3, slope=2, absolute=2.0**-22),
    "log": Accuracy(3, absolute=2.0**-21),
    "log2": Accuracy(3, absolute=2.0**-21),
    "log1p": Accuracy(3, absolute=2.0**-21),
    "tanh": Accuracy(2.0**12),  # a relative error of 2**-11, as the PTX ISA says of tanh.approx.f32
    # An approximation with an error of 1.5e-7 (Abramowitz and Stegun, 7.1.26) in float32 arithmetic.
    "erf": Accuracy(16, absolute=2.0**-20),
    "erfc": Accuracy(16, absolute=2.0**-20),
    "sin": Accuracy(4, absolute=2.0**-11),
    "cos": Accuracy(4, absolute=2.0**-11),
}

TABLES = {"full": {"float32": _SINGLE, "float64": _DOUBLE}, "fast": {"float32": _FAST, "float64": _DOUBLE}}
"""Accuracies by table, dtype of the computation and function."""
