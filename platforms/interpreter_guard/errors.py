"""What the guarded interpreter raises about a kernel, and how to recognise it when Triton has wrapped it."""

from __future__ import annotations


class OutOfBounds(IndexError):
    """A kernel accessed memory that belongs to none of its tensor arguments. Raised before the access happens."""


class Conflict(RuntimeError):
    """Accesses of one launch touch the same memory in no defined order. Raised after the launch."""


def classify(error: BaseException) -> str | None:
    """Return ``"out of bounds"`` or ``"conflict"`` if that is what ``error`` is or was caused by, else None.

    Triton raises its own InterpreterError from whatever a kernel raises, once for every function call in between.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OutOfBounds):
            return "out of bounds"
        if isinstance(cause, Conflict):
            return "conflict"
        cause = cause.__cause__
    return None
