"""The audit of absent hardware: every launch of every implementation, compiled for every architecture and read."""

from __future__ import annotations

import fnmatch
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kernels.registry import Catalogue, Implementation
from platforms.targets.architecture import Architecture
from platforms.targets.known import Known
from platforms.targets.launches import Launches
from platforms.targets.reading import Reading
from platforms.targets.toolchain import PARADIGMS, Build, Toolchain, toolchain
from platforms.targets.workers import compiled

TIME_LIMIT = 60.0
"""Seconds that one compilation may take; a few would take minutes."""


@dataclass(frozen=True)
class Use:
    """An implementation launches something in a dtype.

    ``key`` says what, ``targets`` on which architectures, ``grid`` the programs of the typical case along each axis.
    """

    implementation: str
    dtype: str
    key: str
    targets: tuple[str, ...]
    grid: tuple[int, ...] = ()


@dataclass
class Compiled:
    """One kernel in one configuration: what the compiler makes of it, by architecture."""

    kernel: str
    configuration: str
    readings: dict[str, Reading] = field(default_factory=dict)


@dataclass
class Audit:
    """What was asked for, what came out, and of what nobody could say anything, with the reason."""

    compilers: tuple[str, ...]
    targets: tuple[str, ...]
    uses: list[Use] = field(default_factory=list)
    compiled: dict[str, Compiled] = field(default_factory=dict)
    unaudited: dict[str, str] = field(default_factory=dict)

    def knows(self, use: Use) -> bool:
        """Return whether there is a reading of ``use`` for every architecture that it was compiled for."""
        return all(not reading.unfinished for reading in self.compiled[use.key].readings.values())

    def note(self, build: Build, reading: Reading) -> None:
        """Add a reading of a build that is known."""
        self.compiled[build.key].readings[reading.target] = reading

    def to_value(self) -> dict[str, Any]:
        """Return this audit as JSON values."""
        return {
            "compilers": list(self.compilers),
            "targets": list(self.targets),
            "uses": [[one.implementation, one.dtype, one.key, list(one.targets), list(one.grid)] for one in self.uses],
            "compiled": {
                key: [one.kernel, one.configuration, [reading.to_value() for reading in one.readings.values()]]
                for key, one in self.compiled.items()
            },
            "unaudited": self.unaudited,
        }

    @classmethod
    def from_value(cls, value: dict[str, Any]) -> Audit:
        """Return the audit that :meth:`to_value` made ``value`` of."""
        made = cls(tuple(value["compilers"]), tuple(value["targets"]), unaudited=value["unaudited"])
        made.uses = [Use(name, dtype, key, *map(tuple, more)) for name, dtype, key, *more in value["uses"]]
        for key, (kernel, configuration, readings) in value["compiled"].items():
            known = {one["target"]: Reading.from_value(one) for one in readings}
            made.compiled[key] = Compiled(kernel, configuration, known)
        return made


def audit(
    catalogue: Catalogue,
    *,
    architectures: Sequence[Architecture],
    patterns: Sequence[str] = ("*",),
    dtypes: Sequence[str] = (),
    jobs: int | None = None,
    time_limit: float = TIME_LIMIT,
    within: float = math.inf,
    known: Known | None = None,
    progress: Callable[[int, int], None] = lambda done, number: None,
) -> Audit:
    """Return the audit of the implementations whose ids match one of ``patterns``, in ``dtypes`` or all of theirs.

    A compilation that takes ``time_limit`` seconds is cut off, and none is begun after ``within`` seconds. ``progress``
    is told how many compilations of how many are done.
    """
    made = Audit((), tuple(one.name for one in architectures))
    known = known or Known()
    launches = Launches(known.folder)
    tasks = list(_tasks(made, catalogue, architectures, patterns, dtypes, launches))
    left = []
    for task in tasks:
        if reading := known.get(task.compiler, task.build, task.architecture):
            made.note(task.build, reading)
        else:
            left.append(task)
    before = len(tasks) - len(left)
    progress(before, len(tasks))
    started = time.monotonic()
    pairs = [(task.build, task.architecture) for task in left]
    for number, reading in compiled(pairs, jobs=jobs or len(os.sched_getaffinity(0)), time_limit=time_limit):
        made.note(left[number].build, reading)
        known.add(left[number].compiler, left[number].build, reading)
        before += 1
        progress(before, len(tasks))
        if time.monotonic() - started > within:
            break
    _complete(made, left, within)
    return made


def merged(audits: Sequence[Audit]) -> Audit:
    """Return one audit of all: of an implementation in a dtype, the first that knows all of it, or the first at all."""
    if len(audits) == 1:
        return audits[0]
    made = Audit(
        tuple(dict.fromkeys(compiler for one in audits for compiler in one.compilers)),
        tuple(dict.fromkeys(target for one in audits for target in one.targets)),
    )
    taken: set[tuple[str, str]] = set()
    for whole in (True, False):
        for one in audits:
            uses = [use for use in one.uses if (use.implementation, use.dtype) not in taken]
            partly = {(use.implementation, use.dtype) for use in uses if whole and not one.knows(use)}
            chosen = [use for use in uses if (use.implementation, use.dtype) not in partly]
            made.uses += chosen
            made.compiled |= {use.key: one.compiled[use.key] for use in chosen}
            taken |= {(use.implementation, use.dtype) for use in chosen}
    for one in audits:
        made.unaudited |= one.unaudited
    return made


def _complete(made: Audit, left: Sequence[_Task], within: float) -> None:
    """Note what was not begun; and what multiplies matrices anywhere, multiplies them everywhere."""
    for task in left:
        if task.architecture.name not in made.compiled[task.build.key].readings:
            late = f"not begun within {within:g} s"
            made.note(task.build, Reading(target=task.architecture.name, unfinished=late))
    for one in made.compiled.values():
        if any(reading.matrix for reading in one.readings.values()):
            one.readings = {name: replace(reading, dots=True) for name, reading in one.readings.items()}


@dataclass(frozen=True)
class _Task:
    """A build to be compiled for an architecture."""

    compiler: str
    build: Build
    architecture: Architecture


def _tasks(
    made: Audit,
    catalogue: Catalogue,
    architectures: Sequence[Architecture],
    patterns: Sequence[str],
    dtypes: Sequence[str],
    launches: Launches,
) -> Iterator[_Task]:
    """Note in ``made`` what is launched and what nobody knows, and yield what is to be compiled."""
    chosen = [one for one in catalogue.implementations.values() if any(fnmatch.fnmatch(one.id, it) for it in patterns)]
    for paradigm in PARADIGMS:
        made.unaudited |= _absent(catalogue, paradigm, patterns)
        implementations = [one for one in chosen if one.paradigm == paradigm]
        if not implementations:
            continue
        try:
            tools = toolchain(paradigm)
        except RuntimeError as error:
            made.unaudited[f"what is written in {paradigm}"] = str(error)
            continue
        made.compilers = tuple(dict.fromkeys([*made.compilers, tools.compiler]))
        there = [one for one in architectures if one.backend in tools.backends]
        launched: dict[str, dict[str, Build]] = {}
        for implementation in implementations:
            for dtype in implementation.dtypes or catalogue.operations[implementation.operation].dtypes:
                if not dtypes or dtype in dtypes:
                    _launch(made, launched, launches, tools, catalogue, implementation, dtype, there)
        for key, by_target in launched.items():
            some = next(iter(by_target.values()))
            made.compiled[key] = Compiled(some.name, some.configuration)
            everywhere = _everywhere(by_target, there)
            yield from (_Task(tools.compiler, everywhere[one.name], one) for one in there)


def _absent(catalogue: Catalogue, paradigm: str, patterns: Sequence[str]) -> dict[str, str]:
    """Return why kernels of a paradigm that were asked for are not there, by what."""
    names = [one for one in catalogue.absent if one.endswith(f"/{paradigm}") and _asked(one, patterns)]
    reasons = dict.fromkeys(catalogue.absent[one] for one in names)
    return {", ".join(one for one in names if catalogue.absent[one] == reason): reason for reason in reasons}


def _asked(absent: str, patterns: Sequence[str]) -> bool:
    """Whether a pattern may mean one of the implementations of an "operation/paradigm" of which none is known."""
    return any(fnmatch.fnmatch(absent, one.rpartition("/")[0] or one) for one in patterns)


def _launch(
    made: Audit,
    launched: dict[str, dict[str, Build]],
    launches: Launches,
    tools: Toolchain,
    catalogue: Catalogue,
    implementation: Implementation,
    dtype: str,
    architectures: Sequence[Architecture],
) -> None:
    """Add what an implementation launches in a dtype to ``launched``, by key and architecture."""
    places: dict[str, list[str]] = {}
    for one in architectures:
        found, error = launches.of(tools, catalogue.operations[implementation.operation], implementation, dtype, one)
        if error:
            made.unaudited[f"{implementation.id} {dtype} on {one.name}"] = error
            continue
        for build in found:
            launched.setdefault(build.key, {})[one.name] = build
            places.setdefault(build.key, []).append(one.name)
    made.uses += [
        Use(implementation.id, dtype, key, tuple(names), getattr(launched[key][names[0]], "grid", ()))
        for key, names in places.items()
    ]


def _everywhere(by_target: dict[str, Build], architectures: Sequence[Architecture]) -> dict[str, Build]:
    """Return how a build is made on each architecture.

    One that does not launch it gets that of another, of its own vendor if there is one: the question is then what
    became of a configuration that was chosen elsewhere.
    """
    backends = {one.name: one.backend for one in architectures}
    filled = {}
    for one in architectures:
        related = [build for name, build in by_target.items() if backends[name] == one.backend]
        filled[one.name] = by_target.get(one.name) or (related or list(by_target.values()))[0]
    return filled
