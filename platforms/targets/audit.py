"""The audit of absent hardware: every launch of every implementation, compiled for every architecture and read."""

from __future__ import annotations

import fnmatch
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from triton import knobs

from kernels.registry import Catalogue
from platforms.targets.architecture import Architecture
from platforms.targets.known import Known
from platforms.targets.launch import Launch, launches
from platforms.targets.reading import Reading
from platforms.targets.workers import compiled

PARADIGM = "triton"
"""The paradigm whose compiler needs no device."""

TIME_LIMIT = 60.0
"""Seconds that one compilation may take; a few would take minutes."""


@dataclass(frozen=True)
class Use:
    """An implementation launches something in a dtype: ``key`` says what, ``targets`` on which architectures."""

    implementation: str
    dtype: str
    key: str
    targets: tuple[str, ...]


@dataclass
class Compiled:
    """One kernel in one configuration: what the compiler makes of it, by architecture."""

    kernel: str
    configuration: str
    readings: dict[str, Reading] = field(default_factory=dict)


@dataclass
class Audit:
    """What was asked for, what came out, and of what nobody could say anything, with the reason."""

    compiler: str
    targets: tuple[str, ...]
    uses: list[Use] = field(default_factory=list)
    compiled: dict[str, Compiled] = field(default_factory=dict)
    unaudited: dict[str, str] = field(default_factory=dict)

    def to_value(self) -> dict[str, Any]:
        """Return this audit as JSON values."""
        return {
            "compiler": self.compiler,
            "targets": list(self.targets),
            "uses": [[one.implementation, one.dtype, one.key, list(one.targets)] for one in self.uses],
            "compiled": {
                key: [one.kernel, one.configuration, [reading.to_value() for reading in one.readings.values()]]
                for key, one in self.compiled.items()
            },
            "unaudited": self.unaudited,
        }

    @classmethod
    def from_value(cls, value: dict[str, Any]) -> Audit:
        """Return the audit that :meth:`to_value` made ``value`` of."""
        made = cls(value["compiler"], tuple(value["targets"]), unaudited=value["unaudited"])
        made.uses = [Use(name, dtype, key, tuple(targets)) for name, dtype, key, targets in value["uses"]]
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
    known: Known | None = None,
    progress: Callable[[int, int], None] = lambda done, number: None,
) -> Audit:
    """Return the audit of the implementations whose ids match one of ``patterns``, in ``dtypes`` or all of theirs.

    ``progress`` is told how many compilations of how many are done. Raises RuntimeError in a process in which Triton
    interprets.
    """
    if knobs.runtime.interpret:
        raise RuntimeError("TRITON_INTERPRET is set, and what is interpreted is not compiled: unset it")
    made = Audit(_compiler(), tuple(one.name for one in architectures))
    wanted = _gathered(made, catalogue, architectures, patterns, dtypes)
    known = known or Known()
    tasks = [
        (launch, one) for by_target in wanted.values() for one in architectures for launch in [by_target[one.name]]
    ]
    keys = [key for key in wanted for _ in architectures]
    readings = [known.get(*task) for task in tasks]
    missing = [number for number, reading in enumerate(readings) if reading is None]
    progress(len(tasks) - len(missing), len(tasks))
    with tempfile.TemporaryDirectory() as folder:
        before, knobs.cache.dir = knobs.cache.dir, folder  # what is found there is not compiled, and says less
        try:
            todo = [tasks[number] for number in missing]
            done = compiled(todo, jobs=jobs or len(os.sched_getaffinity(0)), time_limit=time_limit)
            for count, (number, reading) in enumerate(done, start=len(tasks) - len(missing) + 1):
                readings[missing[number]] = reading
                known.add(todo[number][0], reading)
                progress(count, len(tasks))
        finally:
            knobs.cache.dir = before
    for key, found in zip(keys, readings, strict=True):
        if found is not None:
            made.compiled[key].readings[found.target] = found
    return made


def _gathered(
    made: Audit,
    catalogue: Catalogue,
    architectures: Sequence[Architecture],
    patterns: Iterable[str],
    dtypes: Sequence[str],
) -> dict[str, dict[str, Launch]]:
    """Note the uses, and return for each launch how it would be made on each architecture.

    One that makes no such launch gets that of another, of its own vendor if there is one: the question is then what
    became of a configuration that was chosen elsewhere.
    """
    launched: dict[str, dict[str, Launch]] = {}
    for implementation in catalogue.implementations.values():
        if implementation.paradigm != PARADIGM or not any(fnmatch.fnmatch(implementation.id, one) for one in patterns):
            continue
        operation = catalogue.operations[implementation.operation]
        for dtype in implementation.dtypes or operation.dtypes:
            if dtypes and dtype not in dtypes:
                continue
            chosen: dict[str, list[str]] = {}
            for one in architectures:
                try:
                    found = launches(operation, implementation, dtype, one)
                except Exception as error:  # what it is, is why nobody knows
                    made.unaudited[f"{implementation.id} {dtype} on {one.name}"] = f"{type(error).__name__}: {error}"
                    continue
                for launch in found:
                    launched.setdefault(launch.key, {})[one.name] = launch
                    chosen.setdefault(launch.key, []).append(one.name)
            made.uses += [Use(implementation.id, dtype, key, tuple(names)) for key, names in chosen.items()]
    for key, by_target in launched.items():
        some = next(iter(by_target.values()))
        made.compiled[key] = Compiled(some.name, some.configuration)
    return {key: _everywhere(by_target, architectures) for key, by_target in launched.items()}


def _everywhere(by_target: dict[str, Launch], architectures: Sequence[Architecture]) -> dict[str, Launch]:
    backends = {one.name: one.backend for one in architectures}
    filled = {}
    for one in architectures:
        related = [launch for name, launch in by_target.items() if backends[name] == one.backend]
        filled[one.name] = by_target.get(one.name) or (related or list(by_target.values()))[0]
    return filled


def _compiler() -> str:
    import triton

    return f"Triton {triton.__version__}"
