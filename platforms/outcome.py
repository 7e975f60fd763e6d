"""An outcome: what came of running one implementation on one case, before anybody judges it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

STATUSES = ("returned", "raised", "crashed", "hung", "unsupported")
"""How a run can end. ``unsupported``: it was not run, because the platform or the implementation says it cannot."""

DAMAGES = (
    "recompiled",
    "inconsistent",
    "dishonest",
    "undefined",
    "out of bounds",
    "input changed",
    "unwritten",
    "conflict",
)
"""What a run can do that it must not.

``recompiled``: equal calls were compiled anew; ``inconsistent``: equal questions got answers that differ;
``dishonest``: what answered is not what was asked; ``undefined``: the language leaves open what it does. The others are
done to memory; ``conflict``: programs of one launch touched the same place, in no defined order.
"""


@dataclass(frozen=True)
class Damage:
    """One thing that a kernel did that it must not do; ``detail`` says where and how much."""

    kind: str
    detail: str

    def __post_init__(self) -> None:
        if self.kind not in DAMAGES:
            raise ValueError(f"unknown damage {self.kind!r}; there are {', '.join(DAMAGES)}")


@dataclass(frozen=True)
class Result:
    """One tensor that a kernel returned.

    Attributes:
        array: its elements, logical and contiguous, in storage dtype (:mod:`golden.dtypes`); of a huge one sampled rows
            (:mod:`golden.sample`).
        dtype: the name of its element type.
        shape: the shape of the whole.
    """

    array: np.ndarray
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Outcome:
    """What came of one run. A run has results if and only if it ``returned``.

    Attributes:
        status: one of :data:`STATUSES`.
        results: what the kernel returned, in its order; most return one tensor.
        damage: what the run did that it must not; empty if nothing.
        seconds: duration of the call, waiting for the device included; for one that hung or crashed, until it was over.
        message: the exception, or the signal and the last lines of standard error, or why it is unsupported; of a
            run that returned, what else was noticed.
        input_digest: :func:`golden.inputs.digest` of the inputs as they were handed to the kernel.
        others: what further calls returned, each with what was different about it; they answer the same question.
    """

    status: str
    results: tuple[Result, ...] = ()
    damage: tuple[Damage, ...] = ()
    seconds: float = 0.0
    message: str = ""
    input_digest: str = ""
    others: tuple[tuple[str, tuple[Result, ...]], ...] = ()

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"unknown status {self.status!r}; there are {', '.join(STATUSES)}")
        if bool(self.results) != (self.status == "returned"):
            raise ValueError(f"an outcome has results if and only if it returned; this one {self.status}")

    @property
    def output(self) -> np.ndarray | None:
        """The elements of the first result, or None without one."""
        return self.results[0].array if self.results else None
