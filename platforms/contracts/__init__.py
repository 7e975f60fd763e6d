"""What a kernel must keep to beside computing the right values: one contract a file, as one small check.

A check calls an implementation in ways that must not matter (:class:`platforms.execution.Bench`) and returns a
:class:`platforms.execution.Call`: the output, which is judged as ever; further outputs that answer the same question,
which are judged too; and breaches, as damage. ``suites/contracts`` says which there are.
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
