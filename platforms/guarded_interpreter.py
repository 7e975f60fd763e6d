"""Triton's interpreter, guarded: it computes in every format, and reports what a device would let pass or crash on.

    guarded_interpreter.install(order="shuffled", seed=3)      # in a process that has TRITON_INTERPRET=1
    try:
        kernel[grid](x, y, n, BLOCK=128)
    except Exception as error:
        if guarded_interpreter.classify(error) == "out of bounds": ...

* bfloat16 and float8 are computed in float32 and rounded to nearest even; casts give the same bits as torch's.
* ``tl.dot`` rounds float32 operands to tf32 (to nearest, ties to even) unless it is told ``"ieee"``.
* Every load, store and atomic must stay inside the tensors that were passed as arguments: :class:`OutOfBounds`.
* Two programs must not touch the same element if one of them stores, unless atomics order them, and the lanes of one
  store must not disagree about an element: :class:`Conflict`, after the launch.
* Lanes that are masked off in a load without ``other`` hold NaN, or bytes of 0xDB.
* The programs of a launch run in any order one likes.
* ``tl.device_assert`` fires.

Importing this module imports neither Triton nor torch.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from platforms.interpreter_guard.errors import Conflict, OutOfBounds, classify
from platforms.interpreter_guard.order import ORDERS, check
from platforms.interpreter_guard.patches import Patches
from platforms.interpreter_guard.settings import SETTINGS

__all__ = ["ORDERS", "Conflict", "OutOfBounds", "Report", "classify", "install", "known_version", "set_order"]

_KNOWN = re.compile(r"3\.[6-9]\.\d+")


@dataclass(frozen=True)
class Report:
    """What was guarded: the version of Triton, whether it is a known one, and the functions that were replaced.

    Where something is ``missing``, launching a kernel raises RuntimeError, if launches can be watched at all.
    """

    version: str
    known: bool
    applied: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def problem(self) -> str:
        """Why results cannot be relied on, or "" if they can."""
        if self.missing:
            return f"Triton version {self.version}: not guarded, it lacks {', '.join(self.missing)}"
        return "" if self.known else f"unknown Triton version {self.version}: not guarded"


_report: Report | None = None


def install(*, order: str = "forward", races: bool = True, seed: int = 0) -> Report:
    """Guard every kernel that this process launches from now on, and return what was done.

    Args:
        order: one of :data:`ORDERS`, the order in which the programs of a launch run.
        races: whether to look for conflicts.
        seed: which order a shuffled one is.

    May be called again, to choose anew. Raises RuntimeError unless TRITON_INTERPRET=1 was in the environment before
    Triton was imported, and ValueError for an unknown order.
    """
    global _report
    check(order)
    _require_interpreter()
    if _report is None:
        _report = _patch()
    SETTINGS.order, SETTINGS.races, SETTINGS.seed = order, races, seed
    return _report


@contextlib.contextmanager
def _until_left(order: str, seed: int) -> Iterator[None]:
    try:
        yield
    finally:
        set_order(order, seed=seed)


def set_order(order: str, *, seed: int = 0) -> contextlib.AbstractContextManager[None]:
    """Run the programs of later launches in ``order``. In a ``with`` statement, the previous order returns at its end.

    Raises RuntimeError before :func:`install`, and ValueError for an unknown order.
    """
    if _report is None:
        raise RuntimeError("call install() before set_order()")
    check(order)
    before = _until_left(SETTINGS.order, SETTINGS.seed)
    SETTINGS.order, SETTINGS.seed = order, seed
    return before


def known_version(version: str) -> bool:
    """Return whether the guard was written for, and tested with, this version of Triton."""
    return _KNOWN.match(version) is not None


def _require_interpreter() -> None:
    advice = "set TRITON_INTERPRET=1 in the environment before anything imports triton"
    if os.environ.get("TRITON_INTERPRET", "").lower() not in ("1", "true", "on", "yes", "y"):
        raise RuntimeError(f"the interpreter is not on: {advice}")
    import triton.language as tl
    from triton.runtime.interpreter import InterpretedFunction

    if not isinstance(tl.sum, InterpretedFunction):
        raise RuntimeError(f"triton was imported before the interpreter was turned on: {advice}")


def _patch() -> Report:
    import triton

    known = known_version(triton.__version__)
    patches = Patches()
    try:
        from platforms.interpreter_guard import arithmetic, language, launch, standin

        for part in (arithmetic, language, launch, standin):
            part.apply(patches)
    except (ImportError, AttributeError) as error:
        if known:
            raise
        patches.missing.append(str(error))
    return Report(triton.__version__, known, tuple(patches.applied), tuple(patches.missing))
