"""Every question of a profile, in order: from numbers to operations, functions, sums and products."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

from golden.dtypes import FLOATS
from platforms.profile.accumulator import accumulator
from platforms.profile.answer import Answer
from platforms.profile.contraction import contraction
from platforms.profile.conversions import conversions
from platforms.profile.extremes import extremes
from platforms.profile.functions import functions
from platforms.profile.integers import integers
from platforms.profile.machine import Machine
from platforms.profile.operands import all_operands
from platforms.profile.rounding import rounding
from platforms.profile.subnormals import subnormals
from platforms.profile.summation import SIZES, Reduction, order


class Extent(NamedTuple):
    """How much is asked of sums and products, the costly questions: of how many terms, in which dtypes."""

    sizes: tuple[int, ...]
    dtypes: tuple[str, ...]


EXTENTS = {"brief": Extent((16,), ("float32", "float16")), "full": Extent(SIZES, FLOATS)}
"""What every run asks, and what is asked on request. All other questions are the same in both."""

PROBES: tuple[Callable[[Machine], Iterator[Answer]], ...] = (
    subnormals,
    rounding,
    contraction,
    conversions,
    functions,
    all_operands,
    extremes,
    integers,
)
"""The questions of which there is one extent."""


def profile(machine: Machine, extent: str = "full") -> Iterator[Answer]:
    """Yield the answers to all questions of one of :data:`EXTENTS`, as they come."""
    for probe in PROBES:
        yield from probe(machine)
    yield from reductions(machine, EXTENTS[extent])


def reductions(machine: Machine, extent: Extent = EXTENTS["brief"]) -> Iterator[Answer]:
    """Yield order and accumulator of the machine's sums, and then of its matrix products."""
    for products, dtype in product((False, True), extent.dtypes):
        reduction = Reduction(machine, dtype, products=products, sizes=extent.sizes)
        yield order(reduction)
        yield from accumulator(reduction)
