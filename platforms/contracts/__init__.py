"""What a kernel must keep to beside computing the right values: one contract a file, as one small check.

A check calls an implementation in ways that must not matter (:class:`platforms.execution.Bench`) and returns a
:class:`platforms.execution.Call`: the output, which is judged as ever; further outputs that answer the same question,
which are judged too; and breaches, as damage. ``suites/contracts`` says which there are.

Where what matters is around one call, and not between several, the file says how in ``varied``, which a check names as
its bench's ``variant``: of several ranks each then makes its call so.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

from platforms.execution import Bench, Call


class NotApplicable(Exception):
    """A contract says nothing about an implementation, a platform or a case; the message says why."""


def check_of(name: str) -> Callable[[Bench], Call]:
    """Return the check of the contract called ``name``; raises ModuleNotFoundError if there is none."""
    return importlib.import_module(f"{__name__}.{name}").check


def variant_of(name: str) -> Callable[[Bench, int, int], Call]:
    """Return how one call is made in the way of the contract called ``name``, with a poison and a canary."""
    return importlib.import_module(f"{__name__}.{name}").varied
