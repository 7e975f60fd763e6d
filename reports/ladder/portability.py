"""How near each paradigm comes to the best native code, and what is left of that over several devices."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from reports.heat import Heat
from reports.ladder.rungs import median

NATIVE = ("cuda", "cpp", "torch")
"""Paradigms in a device's own language, and the vendor's library behind PyTorch: what the others are held against."""

Answers = dict[str, tuple[float, str]]
"""By paradigm the seconds and the name of its fastest implementation."""


def pennycook(efficiencies: Sequence[float | None]) -> float:
    """Return the performance portability of one problem over a set of devices: the harmonic mean of the efficiencies.

    0 where it does not run on one of them, which None says (Pennycook, Sewall and Lee, "A metric for performance
    portability", 2016). Raises ValueError for no devices, and for an efficiency that is not positive.
    """
    if not efficiencies:
        raise ValueError("performance portability is a figure of one device or more")
    if any(one is None for one in efficiencies):
        return 0.0
    for one in efficiencies:
        if not (one and one > 0 and math.isfinite(one)):
            raise ValueError(f"an efficiency is positive and finite, not {one}")
    return len(efficiencies) / sum(1 / one for one in efficiencies if one)


class Question(NamedTuple):
    """What implementations of several paradigms answer on one device."""

    device: str
    operation: str
    dtype: str
    size: str


def best(heats: Iterable[Heat]) -> dict[Question, Answers]:
    """Return the fastest of each paradigm, of all platforms of a device together."""
    found: dict[Question, Answers] = {}
    for heat in heats:
        answers = found.setdefault(Question(heat.device, heat.operation, heat.dtype, heat.size), {})
        for arm in heat.arms:
            if arm.seconds:
                known = answers.get(arm.paradigm, (math.inf, ""))
                answers[arm.paradigm] = min(known, (median(arm.seconds), arm.name))
    return {question: answers for question, answers in found.items() if answers}


def shares(answers: Answers) -> dict[str, float]:
    """Return the speed of each paradigm's fastest as a share of the best native one; empty where there is none."""
    native = min((seconds for paradigm, (seconds, _) in answers.items() if paradigm in NATIVE), default=None)
    return {paradigm: native / seconds for paradigm, (seconds, _) in answers.items()} if native else {}


def efficiencies(answers: Answers) -> dict[str, float]:
    """Return the speed of each paradigm's fastest as a share of the fastest of all."""
    fastest = min(seconds for seconds, _ in answers.values())
    return {paradigm: fastest / seconds for paradigm, (seconds, _) in answers.items()}
