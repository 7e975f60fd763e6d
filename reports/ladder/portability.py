"""How near each paradigm or technique comes to the best on a device, and what is left of that over several devices."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reports.heat import SIZES, Arm, Heat
from reports.ladder.rungs import median

NATIVE = ("cuda", "cpp", "torch")
"""Paradigms in a device's own language, and the vendor's library behind PyTorch: what the others are held against."""

Answers = dict[str, tuple[float, str]]
"""By paradigm, or whatever else was asked for, the seconds and the name of its fastest implementation."""


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


def paradigm(arm: Arm) -> str:
    """Return what an implementation is written in."""
    return arm.paradigm


def technique(arm: Arm) -> str:
    """Return what makes an implementation faster, "none" where it is no rung."""
    return arm.technique or "none"


def best(heats: Iterable[Heat], by: Callable[[Arm], str] = paradigm) -> dict[Question, Answers]:
    """Return the fastest of each paradigm, or of what ``by`` says, of all platforms of a device together."""
    found: dict[Question, Answers] = {}
    for heat in heats:
        answers = found.setdefault(Question(heat.device, heat.operation, heat.dtype, heat.size), {})
        for arm in heat.arms:
            if arm.seconds:
                known = answers.get(by(arm), (math.inf, ""))
                answers[by(arm)] = min(known, (median(arm.seconds), arm.name))
    return {question: answers for question, answers in found.items() if answers}


def shares(answers: Answers) -> dict[str, float]:
    """Return the speed of each paradigm's fastest as a share of the best native one; empty where there is none."""
    native = min((seconds for paradigm, (seconds, _) in answers.items() if paradigm in NATIVE), default=None)
    return {paradigm: native / seconds for paradigm, (seconds, _) in answers.items()} if native else {}


def efficiencies(answers: Answers) -> dict[str, float]:
    """Return the speed of each paradigm's fastest as a share of the fastest of all."""
    fastest = min(seconds for seconds, _ in answers.values())
    return {paradigm: fastest / seconds for paradigm, (seconds, _) in answers.items()}


@dataclass(frozen=True)
class Portability:
    """One operation in one dtype on several devices: the efficiency of each paradigm, or technique, by device."""

    operation: str
    dtype: str
    efficiencies: Mapping[str, Mapping[str, float | None]]

    def metric(self, name: str) -> float:
        """Return the performance portability of a paradigm or technique, 0 where there is none of that name."""
        return pennycook(list(self.efficiencies[name].values())) if name in self.efficiencies else 0.0


def portabilities(heats: Sequence[Heat], by: Callable[[Arm], str] = paradigm) -> Iterator[Portability]:
    """Yield one for each operation and dtype that all devices of ``heats``, two or more, timed while they were busy."""
    devices = list(dict.fromkeys(heat.device for heat in heats))
    found: dict[tuple[str, str], dict[str, dict[str, float]]] = {}
    for question, answers in sorted(best(heats, by).items()):
        if question.size == SIZES[-1]:
            found.setdefault((question.operation, question.dtype), {})[question.device] = efficiencies(answers)
    for (operation, dtype), there in found.items():
        if len(devices) > 1 and there.keys() == set(devices):
            names = sorted({name for figures in there.values() for name in figures})
            yield Portability(
                operation, dtype, {name: {device: there[device].get(name) for device in devices} for name in names}
            )
