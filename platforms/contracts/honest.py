"""The implementation under test is the one that computes.

While it runs, the operators of torch that it calls are seen by dispatch: one that computes does the work in its place,
unless it declares that as a helper. And an exception that is raised in its own file, and does not come out of it, was
swallowed on the way to something else.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode

from platforms.contracts import NotApplicable
from platforms.execution import Bench, Call, execute
from platforms.outcome import Damage
from platforms.paradigm import paradigm_of

MOVING = frozenset((
    "_local_scalar_dense", "_reshape_alias", "_reshape_copy", "_to_copy", "_unsafe_view", "arange", "cat", "clone",
    "constant_pad_nd", "contiguous", "copy", "copy_", "empty", "empty_like", "empty_permuted", "empty_strided",
    "fill", "fill_", "full", "full_like", "lift_fresh", "lift_fresh_copy", "new_empty", "new_empty_strided",
    "new_full", "new_ones", "new_zeros", "ones", "ones_like", "promote_types", "resize_", "scalar_tensor", "set_",
    "stack", "zero_", "zeros", "zeros_like",
))  # fmt: skip
"""Operators that allocate, fill, copy or convert; with the views, all that counts for no computing."""

LOOKUPS = (LookupError, AttributeError, ImportError, StopIteration, GeneratorExit)
"""Exceptions by which Python says that something is not there; to catch them is no fallback."""


def check(bench: Bench) -> Call:
    """Return a call; damaged if torch computed a part of it that nobody declared, or an exception was swallowed."""
    if paradigm_of(bench.implementation.paradigm).of_torch:
        raise NotApplicable("what its paradigm computes is torch's own work")
    watch, swallowed = _Watch(), list[str]()

    def watched(*tensors: Any, **params: Any) -> Any:
        with watch, _exceptions(bench.implementation.source, swallowed):
            return bench.function(*tensors, **params)

    call = execute(replace(bench, function=watched))
    if undeclared := sorted(watch.computing - set(bench.implementation.helpers)):
        call.damage.append(Damage("dishonest", f"torch computes: {', '.join(undeclared)}"))
    if swallowed and not call.message:
        call.damage.append(Damage("dishonest", f"it goes on after {swallowed[0]}"))
    return call


class _Watch(TorchDispatchMode):
    """Collects the names of operators that compute."""

    def __init__(self) -> None:
        super().__init__()
        self.computing: set[str] = set()

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        name = func.overloadpacket.__name__
        if func.namespace == "aten" and not func.is_view and name not in MOVING:
            self.computing.add(name)
        return func(*args, **(kwargs or {}))


@contextmanager
def _exceptions(source: str, raised: list[str]) -> Iterator[None]:
    """Note the exceptions that reach a function of file ``source``; not where a debugger watches already."""

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename != source:
            return None
        frame.f_trace_lines = False
        return note

    def note(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "exception" and not issubclass(argument[0], LOOKUPS):
            raised.append(f"{argument[0].__name__}: {argument[1]} ({frame.f_code.co_name}, line {frame.f_lineno})")
        return note

    before = sys.gettrace()
    if before is None:
        sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)
