"""The devices of one platform held against each other: equal ones that are asked the same must answer the same bits.

Each device is asked twice, so that a card which does not agree with itself shows too, and so that an implementation
whose answers are never the same twice is not taken for a bad card. Which of two devices is the odd one, golden says.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import settings

from golden.case import Case
from platforms.contracts.tuned import tuners
from platforms.outcome import Outcome
from platforms.platform import Platform
from platforms.pool import WorkerError
from reports.record import Record
from reports.record import outcome as outcome_of
from suites.agreement import BUDGET
from suites.conclusion import describe
from suites.drawn import drawn
from suites.options import DEPTHS
from suites.run import Run
from suites.subject import Subject

SUITE = "devices"

PREFIX = "devices "
"""What the keys of a bundle's environment begin with that say which devices were compared; the platform follows."""

LAWS = 3
"""Laws of values that the cases of one implementation and dtype are drawn by: a bad unit may show with one alone."""


@dataclass(frozen=True)
class Oddity:
    """A device that does not answer as it should, and how it differs."""

    device: str
    how: str


def whole(name: str) -> str:
    """Return the platform that a device or ranks belong to, by names: ``nvidia:1@box`` is one of ``nvidia@box``."""
    return re.sub(r":[^@]*", "", name)


def odd_ones(answers: Mapping[str, tuple[bytes, bytes]], failing: Iterable[str] = ()) -> list[Oddity] | None:
    """Return the devices that differ from the others, or from themselves; None where nothing can be said.

    Args:
        answers: of each device, what it made of one case in two calls.
        failing: the devices whose answer golden does not accept; they are the odd ones where no majority is.

    Most answers that are never the same twice say something of the implementation, and nothing of a device.
    """
    wavering = [device for device, (one, other) in answers.items() if one != other]
    if 2 * len(wavering) > len(answers) or (wavering and len(answers) == 2):
        return None
    found = [Oddity(device, "does not agree with itself in two calls, and the others do") for device in wavering]
    groups: dict[bytes, list[str]] = {}
    for device, (bits, _) in answers.items():
        if device not in wavering:
            groups.setdefault(bits, []).append(device)
    if len(groups) < 2:
        return found
    usual = _usual(list(groups.values()), set(failing))
    for group in groups.values():
        others = [device for device in answers if device not in group and device not in wavering]
        if group is not usual:
            found += [Oddity(device, f"answers otherwise than {', '.join(usual or others)}") for device in group]
    return found


def _usual(groups: list[list[str]], failing: set[str]) -> list[str] | None:
    """Return the group that is right: the largest, or of two largest the one that golden accepts; None if unknown."""
    groups = sorted(groups, key=len, reverse=True)
    if len(groups[0]) > len(groups[1]):
        return groups[0]
    accepted = [group for group in groups if len(group) == len(groups[0]) and not failing & set(group)]
    return accepted[0] if len(accepted) == 1 else None


def conclude(
    run: Run,
    residents: Sequence[Subject],
    *,
    asked: Callable[[str], list[Case] | None],
    note: Callable[[str, object], None],
) -> None:
    """Ask the same of every device of the platform of ``residents``; the test fails if one is odd, or a result is.

    How many cases is for the Hypothesis profile to say, unless some are ``asked`` for. ``note`` is pytest's
    ``record_property``.
    """
    platform = residents[0].platform
    key, devices = f"{PREFIX}{platform.name}", platform.devices()
    if len(devices) < 2:
        why = f"only one device of {platform.name} here"
        run.bundle.update_environment(key, {"devices": [platform.name], "compared": [], "reason": why})
        pytest.skip(why)
    kinds, unusable = _kinds(run, devices)
    groups = [group for group in kinds.values() if len(group) > 1]
    found = {"devices": [one.name for one in devices], "compared": [[one.name for one in each] for each in groups]}
    run.bundle.update_environment(key, {**found, "kinds": {kind: len(each) for kind, each in kinds.items()}})
    if unusable:
        note("word", f"NOT USABLE: {', '.join(unusable)}")
        pytest.fail("\n".join(unusable.values()), pytrace=False)
    if not groups:
        pytest.skip(f"no two devices of {platform.name} are of one kind: {', '.join(kinds)}")
    comparison = Comparison(run, asked)
    failures = [record for group in groups for record in comparison.failures(residents, group)]
    for subject in residents:
        note("subject", subject.id)
    odd = sorted({record.platform for record in failures})
    note("word", f"ODD: {', '.join(odd)}" if odd else f"{len(devices)} alike ({comparison.compared})")
    if failures:
        pytest.fail("\n".join(describe(record, run.replay_options) for record in failures), pytrace=False)
    if not comparison.compared:
        pytest.skip(f"{platform.name}: nothing that was asked for has bits that could be compared")


def _kinds(run: Run, devices: Sequence[Platform]) -> tuple[dict[str, list[Platform]], dict[str, str]]:
    """Return the devices by what they call themselves, and why others cannot be used at all.

    Different cards need not agree bit for bit.
    """
    for device in devices:
        run.pool.open(device)
    kinds: dict[str, list[Platform]] = {}
    unusable: dict[str, str] = {}
    for device in devices:
        try:
            described = run.pool.describe(device)
        except WorkerError as error:
            unusable[device.name] = str(error)
            continue
        run.bundle.update_environment(f"platform {device.name}", described)
        facts: Mapping[str, Any] = described["facts"]
        name = " ".join(str(facts[one]) for one in ("name", "capability") if one in facts)
        kinds.setdefault(name or device.device, []).append(device)
    return kinds, unusable


class Comparison:
    """Asks devices of one kind. ``compared`` counts the cases of which all answers could be held against each other."""

    def __init__(self, run: Run, asked: Callable[[str], list[Case] | None]) -> None:
        self.compared = 0
        self._run = run
        self._asked = asked
        self._drawn: dict[tuple[str, str], list[Case]] = {}

    def failures(self, residents: Sequence[Subject], devices: Sequence[Platform]) -> Iterator[Record]:
        """Yield, of each implementation, the first record that does not pass, of every odd device."""
        with ThreadPoolExecutor(len(devices)) as together:
            for place, subject in enumerate(residents):
                found: dict[str, Record] = {}
                for case in self._cases(subject, place, devices[0]):
                    for record in self._of(subject, case, devices, together):
                        found.setdefault(record.platform, record)
                yield from found.values()

    def _of(
        self, subject: Subject, case: Case, devices: Sequence[Platform], together: ThreadPoolExecutor
    ) -> Iterator[Record]:
        """Yield the records of one case that do not pass; all are written."""
        here = {device.name: replace(subject, platform=device) for device in devices}
        if reason := subject.implementation.refuses(case) or _differs_by_itself(subject):
            self._run.leave_out(next(iter(here.values())), case, suite=SUITE, reason=reason)
            return
        pairs = together.map(lambda one: (self._run.execute(one, case), self._run.execute(one, case)), here.values())
        answers = dict(zip(here, pairs, strict=True))
        records = {name: self._run.judged(here[name], case, first, suite=SUITE) for name, (first, _) in answers.items()}
        failing = [name for name, record in records.items() if outcome_of(record) == "fail"]
        odd = odd_ones({name: (_bits(one), _bits(other)) for name, (one, other) in answers.items()}, failing)
        if odd is None:
            why = "most devices do not return the same bits twice, so that nothing is known of them"
            self._run.leave_out(next(iter(here.values())), case, suite=SUITE, reason=why)
        else:
            self.compared += any(outcome_of(record) == "pass" for record in records.values())
        for one in odd or ():
            yield self._run.state(
                here[one.device], case, suite=SUITE, verdict="inconsistent", message=f"{one.device} {one.how}"
            )
        yield from (records[name] for name in failing)

    def _cases(self, subject: Subject, place: int, device: Platform) -> list[Case]:
        """Return the cases of a subject: of one dtype, which takes turns, or of each where much is asked for."""
        if (named := self._asked(subject.operation.name)) is not None:
            return [case for case in named if case.dtype in subject.dtypes]
        lacking = self._run.pool.describe(device)["capabilities"]
        paradigm = subject.implementation.paradigm
        able = [one for one in subject.dtypes if not lacking.keys() & {one, paradigm, f"{paradigm}/{one}"}]
        if settings().max_examples < DEPTHS["standard"] and able:
            able = [able[place % len(able)]]
        return [case for dtype in able for case in self._of_several_laws(subject, dtype)]

    def _of_several_laws(self, subject: Subject, dtype: str) -> list[Case]:
        """Return the largest case of each of some laws of values, subnormal numbers always among them."""
        operation = subject.operation
        key = (operation.name, dtype)
        if key not in self._drawn:
            several = drawn(operation, 8 * LAWS, budget=min(BUDGET, subject.platform.budget), dtype=dtype)
            sizes = {case: sum(form.size for form in operation.forms(case).values()) for case in several}
            largest: dict[str, Case] = {}
            for case in sorted(several, key=lambda one: sizes[one], reverse=True):
                laws = {case.spec(name).regime for name in operation.forms(case)}
                largest.setdefault("subnormal" if "subnormal" in laws else min(laws), case)
            self._drawn[key] = [largest[law] for law in sorted(largest, key="subnormal".__ne__)[:LAWS]]
        return self._drawn[key]


def _differs_by_itself(subject: Subject) -> str:
    """Return why an implementation may answer in other bits on a device that is as good, or ""."""
    if not subject.implementation.deterministic:
        return "declared not to be deterministic"
    if any(tuners(subject.implementation.function)):
        return "its tuner may choose otherwise on each device"
    return ""


def _bits(ran: Outcome) -> bytes:
    """Return what identifies an answer: how it ended, and every bit of the results."""
    state = hashlib.sha256(repr((ran.status, [(one.dtype, one.shape) for one in ran.results])).encode())
    for one in ran.results:
        state.update(one.array.tobytes())
    return state.digest()
