"""What the workers must know of a paradigm: whether a first call compiles, and who allocates what a kernel returns.

A paradigm that is not listed is taken to compile, and to allocate in Python.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Paradigm:
    """How implementations of one paradigm behave in a worker.

    Attributes:
        name: as in ``operation/paradigm/name``.
        compiles: the first call of a kernel may compile, and is given more time.
        costly: nearly every case is built anew, for seconds, so that fewer cases are searched.
        unguarded: why memory that the kernel allocates gets no guard bands; "" if it does.
        of_torch: torch itself does the computing, or compiles what does.
        deviations: what its single operations answer, by topic of a numerical profile, where contracts ask for
            something else (:mod:`platforms.profile.rules`), so that kernels must make up for it.
    """

    name: str
    compiles: bool = True
    costly: bool = False
    unguarded: str = ""
    of_torch: bool = False
    deviations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


_TWICE = {"rounding of conversions": ("nearest even, through float32",)}
_OF_C = {**_TWICE, "maximum with NaN": ("the number",), "minimum with NaN": ("the number",)}
"""As the C standard has it: fmax and fmin return the operand that is a number."""

_OF_TORCH = {**_TWICE, "overflow of conversions": ("an infinity", "NaN")}
_OF_TRITON = {**_OF_C, **_OF_TORCH, "subnormal operands, sqrt": ("flushed",)}
"""Its square root is sqrt.approx.ftz.f32 of PTX."""

PARADIGMS = {
    one.name: one
    for one in (
        Paradigm("torch", compiles=False, of_torch=True, deviations=_OF_TORCH),
        Paradigm(
            "inductor",
            costly=True,
            of_torch=True,
            deviations=_OF_TORCH,
            unguarded="the compiler traces Python, would trace the guard as part of the kernel, and in the end "
            "allocates in generated code, where no guard can stand",
        ),
        Paradigm("triton", deviations=_OF_TRITON),
        Paradigm("cpp", deviations=_OF_C),
        Paradigm("cuda", deviations=_OF_C),
        Paradigm("ninetoothed", deviations=_OF_TRITON),  # it generates Triton
        Paradigm("tilelang"),
        Paradigm("opencl"),
    )
}
"""The paradigms that differ from the rule, or are worth naming."""


def paradigm_of(name: str) -> Paradigm:
    """Return what is known of paradigm ``name``."""
    return PARADIGMS.get(name, Paradigm(name))
