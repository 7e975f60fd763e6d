"""What ranks must keep to beside the values of drawn cases, and the messages that it is checked on."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from hypothesis import settings

from golden.case import Case, TensorSpec
from golden.dtypes import dtype_of
from kernels.spread import Reduction, Spread
from suites.contracts.cases import allowed, edges, with_other_values
from suites.contracts.contract import PLAIN, Contract
from suites.options import DEPTHS
from suites.subject import Subject

LENGTHS = tuple(2**10 * length for length in (4, 16, 64, 256, 512, 1024, 4096))
"""Bytes of a rank's message around which backends send otherwise: in one shot, by rings or trees, in segments."""

LARGEST = 2**21
"""Elements that all ranks may hold, or get, in the largest message that is sent."""


def edges_of_messages(subject: Subject, case: Case) -> Iterable[Case]:
    """Yield the case with each of its dims, but for the number of ranks, of 0 elements and of 1."""
    return (one for one in edges(subject, case) if one.dims["ranks"] == case.dims["ranks"])


def with_normal_values(subject: Subject, case: Case) -> Iterable[Case]:
    """Yield the case with normal values in contiguous tensors: almost every sum of them is rounded."""
    yield replace(case, tensors={})


def with_absorbed_terms(subject: Subject, case: Case) -> Iterable[Case]:
    """Yield the sum of 1e8, 1, -1e8, 1 over ranks, or what these are in other dtypes."""
    if isinstance(subject.operation, Reduction) and dtype_of(case.dtype).is_float:
        yield replace(case, params={"op": "sum"}, tensors={"x": TensorSpec("absorbed")})


def sizes(subject: Subject, case: Case) -> Iterable[Case]:
    """Yield the case with messages of the lengths at which backends send otherwise, and of one column more.

    One length of them, another for each case, unless much is asked for.
    """
    assert isinstance(subject.operation, Spread)
    several = [one for one in (_of(subject.operation, case, length) for length in LENGTHS) if one]
    if settings().max_examples <= DEPTHS["quick"]:
        several = several[case.seed % max(1, len(several)) :][:1]
    for one in several:
        yield one
        yield subject.operation.longer(one, 1)


def _of(operation: Spread, case: Case, length: int) -> Case | None:
    """Return the case with messages of ``length`` bytes or a little more; None where it has none, or too large ones."""
    _, tensor = operation.message
    shape = operation.shapes(case)[tensor]
    columns = shape[-1]
    rows = math.prod(shape[1:-1])
    more = -(-length // (dtype_of(case.dtype).itemsize * rows)) - columns if rows and len(shape) > 1 else 0
    if more <= 0:
        return None
    longer = operation.longer(replace(case, tensors={}), more)
    held = max(math.prod(one) for one in operation.shapes(longer).values())
    got = sum(form.size for form in operation.results(longer).values())
    return longer if max(held, got) <= LARGEST and allowed(operation, longer) else None


OF_RANKS = (
    PLAIN,
    Contract("deterministic", cases=with_normal_values),
    Contract("surroundings", cases=with_normal_values),
    Contract("fresh", cases=with_other_values),
    Contract("layouts"),
    Contract("edges", checked=False, cases=edges_of_messages),
    Contract("messages", cases=with_normal_values),
    Contract("absorbed", checked=False, cases=with_absorbed_terms),
    Contract("sizes", checked=False, cases=sizes),
    Contract("streams"),
    Contract("graphs"),
)
"""In the order in which they are checked."""
