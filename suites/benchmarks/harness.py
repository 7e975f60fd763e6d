"""What the harness costs: a whole case over the bare kernel call in it, and cases judged in a second."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from hypothesis import HealthCheck, Phase, given, settings

from golden import layout
from golden.case import Case
from golden.inputs import make_inputs
from kernels import strategies
from kernels.registry import load
from platforms.memory import Arena
from platforms.platform import Platform
from platforms.pool import Pool
from platforms.runner import Runner
from reports.bundle import Bundle
from suites.run import Run
from suites.subject import Subject

_CASES = 150


def bare_seconds(*, implementation: str, case: str, repeats: int = 20) -> float:
    """Return the median seconds of the kernel call alone, warm, on the case's own inputs; runs in a worker."""
    runner = Runner.current
    one, parsed = runner.catalogue.implementations[implementation], Case.parse(case)
    operation = runner.catalogue.operations[one.operation]
    forms = operation.forms(parsed)
    inputs = make_inputs(parsed, forms)
    placements = {name: layout.place(array.shape, parsed.spec(name).layout) for name, array in inputs.items()}
    tensors = Arena(
        inputs, placements, {name: form.dtype for name, form in forms.items()}, runner.platform.device
    ).tensors
    times = []
    with torch.no_grad():
        for _ in range(repeats):
            runner.platform.synchronize()
            started = time.perf_counter()
            operation.call(one.function, tensors, parsed)
            runner.platform.synchronize()
            times.append(time.perf_counter() - started)
    return statistics.median(times)


def rows(platforms: Sequence[Platform]) -> Iterator[list[object]]:
    """Yield, for each operation and platform, cases a second, their median time, and its ratio to the bare kernel's."""
    catalogue = load()
    with tempfile.TemporaryDirectory() as folder, Pool() as pool, Bundle.create(Path(folder), {}) as bundle:
        run = Run(pool=pool, bundle=bundle)
        for platform in platforms:
            if platform.refusal("torch"):
                continue
            for operation in catalogue.operations.values():
                implementation = catalogue.implementations[f"{operation.name}/torch/eager"]
                subject = Subject(operation, implementation, platform)
                cases = _draw(subject, _CASES)
                run.one(subject, cases[0], suite="benchmark")
                times = []
                for case in cases:
                    started = time.perf_counter()
                    run.one(subject, case, suite="benchmark")
                    times.append(time.perf_counter() - started)
                bare = pool.call(
                    platform, f"{__name__}:bare_seconds", implementation=implementation.id, case=_middle(cases, times)
                )
                whole = statistics.median(times)
                yield [operation.name, platform.name, len(cases) / sum(times), 1e3 * whole, 1e6 * bare, whole / bare]


def _draw(subject: Subject, number: int) -> list[Case]:
    """Return the first cases of the derandomized search, as a run would draw them."""
    drawn: list[Case] = []

    @settings(
        max_examples=number,
        phases=[Phase.generate],
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategies.cases(subject.operation, subject.platform.budget))
    def collect(case: Case) -> None:
        drawn.append(case)

    collect()
    return drawn


def _middle(cases: Sequence[Case], times: Sequence[float]) -> str:
    """Return the line of the case that took the median time."""
    return sorted(zip(times, (case.line for case in cases), strict=True))[len(cases) // 2][1]
