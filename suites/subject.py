"""What is tested, of everything that is there: the selection, and one subject for each implementation on a platform."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from kernels.operation import Operation
from kernels.registry import Catalogue, Implementation
from kernels.spread import Spread
from platforms.detect import Detection
from platforms.platform import Absent, Platform
from platforms.ranks.platform import RANKS, ranks_of


class SelectionError(ValueError):
    """A selection names something that is not there; the message lists what is."""


@dataclass(frozen=True)
class Subject:
    """One implementation on one platform."""

    operation: Operation
    implementation: Implementation
    platform: Platform

    @property
    def id(self) -> str:
        return f"{self.implementation.id}@{self.platform.name}"

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The element types that the implementation is written for."""
        return self.implementation.dtypes or self.operation.dtypes


@dataclass(frozen=True)
class Selection:
    """What was asked for: patterns (as of a shell) by kind; none of a kind means everything."""

    platforms: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    paradigms: tuple[str, ...] = ()
    implementations: tuple[str, ...] = ()

    @classmethod
    def of(cls, *options: Sequence[str]) -> Selection:
        """Return the selection of options that may each be given several times, and each hold several by commas."""
        split = (tuple(one.strip() for text in texts for one in text.split(",") if one.strip()) for texts in options)
        return cls(*split)


def select(
    catalogue: Catalogue, detection: Detection, selection: Selection
) -> tuple[list[Subject], list[tuple[str, str]]]:
    """Return the subjects that were asked for, and what cannot be run with the reason.

    Raises SelectionError for a pattern that matches nothing that is known, and for a platform asked for by name that is
    known but not here.
    """
    platforms = _platforms(detection, selection.platforms)
    chosen = selected(catalogue, selection)
    unrun = [(what, reason) for what, reason in catalogue.absent.items() if _concerned(what, selection)]
    if not selection.platforms:
        unrun += [(f"platform {name}", reason) for name, reason in detection.absent]
    subjects: list[Subject] = []
    for implementation in chosen:
        reasons = []
        for platform in platforms:
            if refusal := platform.refusal(implementation.paradigm):
                reasons.append(refusal)
            elif lack := platform.lack(implementation.needs):
                unrun.append((f"{implementation.id} on {platform.name}", lack))
            else:
                operation = catalogue.operations[implementation.operation]
                subjects.append(Subject(operation, implementation, platform))
        if len(reasons) == len(platforms):
            unrun.append((implementation.id, "; ".join(reasons) or "there is no platform"))
    return subjects, unrun


def collectives(
    catalogue: Catalogue, detection: Detection, selection: Selection, numbers: Sequence[int]
) -> tuple[list[Subject], list[tuple[str, str]]]:
    """Return the subjects over each of these ``numbers`` of ranks, smallest first, and what cannot be run.

    Raises SelectionError as :func:`select` does.
    """
    subjects: list[Subject] = []
    unrun: list[tuple[str, str]] = []
    asked = selection.platforms
    platforms = [one for one in _platforms(detection, asked) if asked or not one.on_request]
    # Of one kind of hardware the first: what moves data is the same for all code paths of a processor.
    first = {one.hardware: one for one in reversed(platforms) if "torch" in one.paradigms and one.collective}
    chosen = _of(selected(catalogue, selection, spread=True), catalogue.collectives or catalogue)
    for ranks in sorted(numbers):
        for platform in reversed(first.values()):
            together = ranks_of(platform, ranks)
            if isinstance(together, Absent):
                unrun += [(f"{ranks} ranks on {platform.name}", together.reason)] if chosen else []
                continue
            able = [pair for pair in chosen if not together.refusal(pair[1].paradigm)]
            unrun += [(f"{one.id} on {together.name}", lack) for _, one in able if (lack := together.lack(one.needs))]
            subjects += [
                Subject(operation.over(ranks), one, together)
                for operation, one in able
                if isinstance(operation, Spread) and not together.lack(one.needs)
            ]
    return subjects, unrun


def facing(collectives: Iterable[Subject]) -> dict[str, list[Subject]]:
    """Return the subjects of each implementation and number of ranks that runs in two places or more, by both."""
    several: dict[str, list[Subject]] = {}
    for one in collectives:
        if isinstance(one.operation, Spread):
            (ranks,) = one.operation.numbers
            several.setdefault(f"{one.implementation.id} over {ranks} ranks", []).append(one)
    return {name: those for name, those in several.items() if len(those) > 1}


def in_turn(subjects: Sequence[Subject]) -> list[Subject]:
    """Return each implementation over one of its numbers of ranks alone, the next one over another."""
    several: dict[tuple[str, str], list[Subject]] = {}
    for subject in subjects:
        several.setdefault((subject.implementation.id, subject.platform.name), []).append(subject)
    return [those[place % len(those)] for place, those in enumerate(several.values())]


def _of(implementations: Iterable[Implementation], catalogue: Catalogue) -> list[tuple[Operation, Implementation]]:
    return [(catalogue.operations[one.operation], one) for one in implementations]


def lacking(catalogue: Catalogue, detection: Detection, selection: Selection) -> list[Subject]:
    """Return what :func:`select` leaves out because a platform lacks what an implementation needs."""
    return [
        Subject(catalogue.operations[one.operation], one, platform)
        for one in selected(catalogue, selection)
        for platform in _platforms(detection, selection.platforms)
        if not platform.refusal(one.paradigm) and platform.lack(one.needs)
    ]


def rivals_of(subjects: Iterable[Subject]) -> dict[str, list[Subject]]:
    """Return the subjects of each operation that has two or more, by its name."""
    by_operation: dict[str, list[Subject]] = {}
    for subject in subjects:
        by_operation.setdefault(subject.operation.name, []).append(subject)
    return {name: several for name, several in by_operation.items() if len(several) > 1}


def residents_of(subjects: Iterable[Subject]) -> dict[str, list[Subject]]:
    """Return the subjects of each platform, by its name."""
    by_platform: dict[str, list[Subject]] = {}
    for subject in subjects:
        by_platform.setdefault(subject.platform.name, []).append(subject)
    return by_platform


def _platforms(detection: Detection, patterns: Iterable[str]) -> list[Platform]:
    found = {platform.name: platform for platform in detection.found}
    absent = dict(detection.absent)
    chosen: dict[str, Platform] = {}
    for pattern in patterns:
        pattern = pattern.replace(RANKS, "")
        here = {name: platform for name, platform in found.items() if fnmatchcase(name, pattern)}
        away = [name for name in absent if fnmatchcase(name, pattern)]
        if not here and away:
            raise SelectionError(f"platform {away[0]} is not here: {absent[away[0]]}; here are {', '.join(found)}")
        if not here:
            known = ", ".join([*found, *absent])
            raise SelectionError(f"--platform {pattern} matches no platform; there are {known}")
        chosen |= here
    return list((chosen or {name: one for name, one in found.items() if not one.on_request}).values())


def selected(catalogue: Catalogue, selection: Selection, *, spread: bool = False) -> list[Implementation]:
    """Return the implementations that were asked for, of operations that are ``spread`` over ranks or of the others.

    Raises SelectionError for a pattern that matches nothing.
    """
    both = [catalogue, *([catalogue.collectives] if catalogue.collectives else [])]
    everything = [one for each in both for one in each.implementations.values()]
    operations = {name for each in both for name in each.operations}
    kinds = (
        ("operation", selection.operations, {one.operation for one in everything} | operations),
        ("paradigm", selection.paradigms, {one.paradigm for one in everything}),
        ("implementation", selection.implementations, {one.id for one in everything}),
    )
    for kind, patterns, names in kinds:
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in names):
                raise SelectionError(f"--{kind} {pattern} matches no {kind}; there are {', '.join(sorted(names))}")
    return [
        one
        for one in both[-1 if spread else 0].implementations.values()
        if _matches(one.operation, selection.operations)
        and _matches(one.paradigm, selection.paradigms)
        and _matches(one.id, selection.implementations)
    ]


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def _concerned(absent: str, selection: Selection) -> bool:
    """Whether ``absent``, an "operation/paradigm" or a file, is part of what was asked for."""
    operation, _, paradigm = absent.partition("/")
    if not paradigm or absent.endswith(".py"):
        return True
    return _matches(operation, selection.operations) and _matches(paradigm, selection.paradigms)
