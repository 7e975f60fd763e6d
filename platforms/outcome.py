"""An outcome: what came of running one implementation on one case, before anybody judges it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

STATUSES = ("returned", "raised", "crashed", "hung", "unsupported")
"""How a run can end. ``unsupported``: it was not run, because the platform or the implementation says it cannot."""

DAMAGES = ("out of bounds", "input changed", "unwritten", "conflict")
"""What a run can do to memory. ``conflict``: programs of one launch touched the same place, in no defined order."""


@dataclass(frozen=True)
class Damage:
    """One thing that a kernel did to memory that it must not do; ``detail`` says where and how much."""

    kind: str
    detail: str

    def __post_init__(self) -> None:
        if self.kind not in DAMAGES:
            raise ValueError(f"unknown damage {self.kind!r}; there are {', '.join(DAMAGES)}")


@dataclass(frozen=True)
class Outcome:
    """What came of one run. Only a run that ``returned`` has an output.

    Attributes:
        status: one of :data:`STATUSES`.
        output: the result as a logical, contiguous array in storage dtype (:mod:`golden.dtypes`), or None; of a huge
            result its sampled rows (:mod:`golden.sample`).
        dtype: the name of the output's element type, "" without one.
        shape: the shape of the whole result, () without one.
        damage: what the run did to memory; empty if nothing.
        seconds: duration of the call, waiting for the device included; for one that hung or crashed, until it was over.
        message: the exception, or the signal and the last lines of standard error, or why it is unsupported.
        input_digest: :func:`golden.inputs.digest` of the inputs as they were handed to the kernel.
    """

    status: str
    output: np.ndarray | None = None
    dtype: str = ""
    shape: tuple[int, ...] = ()
    damage: tuple[Damage, ...] = ()
    seconds: float = 0.0
    message: str = ""
    input_digest: str = ""

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"unknown status {self.status!r}; there are {', '.join(STATUSES)}")
        if (self.output is not None) != (self.status == "returned"):
            raise ValueError(f"an outcome has an output if and only if it returned; this one {self.status}")
