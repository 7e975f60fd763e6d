"""All probes, in the order in which a profile has their answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

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
from platforms.profile.summation import Reduction, order

Probe = Callable[[Machine], Iterator[Answer]]


def sums(machine: Machine) -> Iterator[Answer]:
    """Yield order and accumulator of the machine's sums in every floating dtype."""
    yield from _reductions(machine, products=False)


def products(machine: Machine) -> Iterator[Answer]:
    """Yield the same of its matrix products."""
    yield from _reductions(machine, products=True)


def _reductions(machine: Machine, *, products: bool) -> Iterator[Answer]:
    for dtype in FLOATS:
        reduction = Reduction(machine, dtype, products=products)
        yield order(reduction)
        yield from accumulator(reduction)


PROBES: tuple[Probe, ...] = (
    subnormals,
    rounding,
    contraction,
    conversions,
    functions,
    all_operands,
    sums,
    products,
    extremes,
    integers,
)


def profile(machine: Machine) -> Iterator[Answer]:
    """Yield the answer to every question, as they come."""
    for probe in PROBES:
        yield from probe(machine)
