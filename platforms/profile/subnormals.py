"""What becomes of subnormal numbers, as operands and as results, in each dtype and operation?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np

from golden.dtypes import FLOATS, dtype_of
from platforms.profile.answer import Answer, Finding, asked, identified, together
from platforms.profile.machine import Machine
from platforms.profile.summation import Reduction


def subnormals(machine: Machine) -> Iterator[Answer]:
    """Yield, for each floating dtype, whether subnormal operands and results are "kept" or "flushed" to zero.

    Elementwise operations stand together; sums and matrix products, which have units of their own, by themselves.
    """
    for dtype in FLOATS:
        tiny = dtype_of(dtype).smallest_normal
        for topic, questions in (("operands", _operands(tiny)), ("results", _results(tiny))):
            probes = {name: partial(_kept, machine, name, dtype, *each) for name, each in questions.items()}
            yield asked(f"subnormal {topic}", dtype, partial(together, probes))
        yield asked("subnormal terms of sums", dtype, partial(_terms, Reduction(machine, dtype), tiny))
    for dtype in FLOATS:
        yield asked("subnormal operands of products", dtype, partial(_factors, machine, dtype))
        yield asked("subnormal results of products", dtype, partial(_products, machine, dtype))


_Question = tuple[tuple[float, ...], float, float]
"""Operands, and the results if subnormal numbers are kept and if they are flushed."""


def _operands(tiny: float) -> Mapping[str, _Question]:
    return {
        "add": ((tiny / 4, tiny), tiny * 1.25, tiny),
        "multiply": ((tiny / 4, 64.0), tiny * 16, 0.0),
        "divide": ((tiny / 4, 2.0**-6), tiny * 16, 0.0),
        "sqrt": ((tiny / 4,), (tiny / 4) ** 0.5, 0.0),
    }


def _results(tiny: float) -> Mapping[str, _Question]:
    return {
        "subtract": ((tiny * 1.5, tiny * 1.25), tiny / 4, 0.0),
        "multiply": ((tiny, 0.25), tiny / 4, 0.0),
        "divide": ((tiny, 4.0), tiny / 4, 0.0),
        "exp2": ((np.log2(tiny) - 2,), tiny / 4, 0.0),
    }


def _kept(machine: Machine, name: str, dtype: str, operands: tuple[float, ...], kept: float, flushed: float) -> Finding:
    found = machine.elementwise(name, dtype, *(np.array([operand]) for operand in operands))
    return identified(found, {"kept": np.array([kept]), "flushed": np.array([flushed])})


def _terms(sums: Reduction, tiny: float) -> Finding:
    terms = np.zeros((1, 8))
    terms[0, :2] = tiny / 4, tiny
    return identified(sums(terms), {"kept": np.array([tiny * 1.25]), "flushed": np.array([tiny])})


def _factors(machine: Machine, dtype: str) -> Finding:
    tiny = dtype_of(dtype).smallest_normal
    found = _first_product(machine, dtype, tiny / 4, 64.0)
    return identified(np.array([found]), {"kept": np.array([tiny * 16]), "flushed": np.array([0.0])})


def _products(machine: Machine, dtype: str) -> Finding:
    tiny = dtype_of(dtype).smallest_normal
    found = Reduction(machine, dtype, products=True)(np.array([[tiny * 1.5, -tiny * 1.25, *[0.0] * 14]]))
    return identified(found, {"kept": np.array([tiny / 4]), "flushed": np.array([0.0])})


def _first_product(machine: Machine, dtype: str, left: float, right: float) -> float:
    a, b = np.zeros((16, 16)), np.zeros((16, 16))
    a[:, 0], b[0] = left, right
    return float(machine.product(a, b, dtype)[0, 0])
