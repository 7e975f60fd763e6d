"""What races on what: cases of a size, the work in them, the rows that are judged, and turns on a device."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import suites.carryover.parts as parts_module
from golden.case import Case
from kernels.registry import load
from kernels.typical import typical
from kernels.work import Work, work
from platforms.cpu import Cpu
from platforms.interpreter import Interpreter
from platforms.obstacles import obstacle
from platforms.platform import Platform
from platforms.stopwatch import Stopwatch, host_cache
from platforms.turns import alone
from platforms.vendors.nvidia import Nvidia
from suites.carryover.fields import case_of, fields
from suites.carryover.parts import judgeable, parts
from suites.goldens import compute
from suites.subject import Subject

ROOT = Path(__file__).parents[2]
CATALOGUE = load()
OPERATIONS = CATALOGUE.operations
KNOWN = [name for name, one in OPERATIONS.items() if typical(one, one.dtypes[0], 2**12)]


@pytest.mark.parametrize(
    ("name", "dims", "params", "expected"),
    [
        ("gemm", {"m": 3, "n": 5, "k": 7}, {}, Work(4 * (21 + 35 + 15), 2 * 3 * 5 * 7)),
        ("add", {"x": [2, 3], "y": [2, 3]}, {}, Work(4 * 18, 0)),
        ("softmax", {"x": [4, 8]}, {"dim": -1}, Work(4 * 64, 0)),
        ("max", {"x": [4, 8]}, {"dim": -1}, Work(4 * 32 + 4 * 4 + 8 * 4, 0)),
        ("grouped_gemm", {"groups": [1, 0, 2], "n": 5, "k": 7}, {}, Work(4 * (3 * 7 + 3 * 35 + 15) + 4 * 3, 210)),
        (
            "attention",
            {"b": 2, "h": 3, "hk": 1, "sq": 4, "sk": 5, "d": 8},
            {"causal": True, "scale": None, "softcap": None, "window": None},
            Work(4 * (2 * 192 + 2 * 80), 4 * 2 * 3 * 8 * (1 + 2 + 3 + 4)),
        ),
        (
            "conv2d",
            {"images": 2, "channels": 3, "h": 5, "w": 6, "outputs": 4, "taps_h": 3, "taps_w": 3},
            {"stride": 1, "padding": 1},
            Work(4 * (180 + 108 + 240), 2 * 2 * 30 * 4 * 3 * 9),
        ),
    ],
)
def test_work(name: str, dims: dict[str, Any], params: dict[str, Any], expected: Work) -> None:
    assert work(OPERATIONS[name], Case(name, "float32", dims, params)) == expected


@pytest.mark.parametrize("name", KNOWN)
def test_parts_are_rows_of_the_whole(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Golden results of the rows that are judged are those of the whole result, at these rows."""
    monkeypatch.setattr(parts_module, "WHOLE", 0)
    operation = OPERATIONS[name]
    dtype = next((one for one in ("float32", "int32") if one in operation.dtypes), operation.dtypes[0])
    case = typical(operation, dtype, 2**12)
    assert case is not None
    precision = operation.precision(dtype)
    whole = compute(operation, case, precision)
    found = parts(operation, case)
    assert found
    for part in found:
        of_part = part.goldens(operation, precision)
        assert list(of_part) == list(whole)
        for key, golden in of_part.items():
            expected = whole[key].value
            for axis, indices in part.pick:
                expected = np.take(expected, indices, axis)
            np.testing.assert_allclose(golden.value, expected, rtol=1e-12, atol=1e-12)


def test_large_results_are_judged_by_few_rows() -> None:
    operation = OPERATIONS["softmax"]
    case = typical(operation, "float32", 2**20)
    assert case is not None
    (part,) = parts(operation, case)
    ((axis, rows),) = part.pick
    assert axis == 0
    assert {0, 1023} < set(rows)
    assert len(rows) <= 8
    assert part.values["x"].shape == (len(rows), 1024)


def test_what_cannot_be_judged_soon_is_not_timed() -> None:
    large = typical(OPERATIONS["attention_backward"], "float32", 2**22)
    assert large is not None
    assert not judgeable(OPERATIONS["attention_backward"], large)
    found = case_of(OPERATIONS["attention_backward"], "float32", Cpu(), "filling")
    assert found is not None
    assert judgeable(OPERATIONS["attention_backward"], found)


def test_sizes_grow_and_products_fit_the_device() -> None:
    for name in ("softmax", "gemm", "attention"):
        cases = [case_of(OPERATIONS[name], "float32", Cpu(), size) for size in ("small", "medium", "filling")]
        moved = [work(OPERATIONS[name], case).moved for case in cases if case]
        assert moved == sorted(set(moved))
        assert all(work(OPERATIONS[name], case).operations <= Cpu().operations for case in cases if case)


@pytest.mark.parametrize("platform", [Cpu(), Nvidia(), Nvidia(filling=2**23)], ids=["cpu", "nvidia", "odd"])
def test_every_operation_has_cases_of_every_size(platform: Platform) -> None:
    """Of every dtype, also where the number of elements is no square."""
    for name in KNOWN:
        operation = OPERATIONS[name]
        for dtype in operation.dtypes:
            for size in ("small", "medium", "filling"):
                case = case_of(operation, dtype, platform, size)
                assert case is not None
                operation.check(case)
                assert work(operation, case).operations <= platform.operations


def test_fields_are_of_ladders_and_of_devices() -> None:
    own = [one for one in CATALOGUE.implementations.values() if one.operation in ("gemm_bias", "exp")]
    subjects = [
        Subject(OPERATIONS[one.operation], one, platform)
        for one in own
        for platform in (Cpu(), Interpreter())
        if not platform.refusal(one.paradigm)
    ]
    found = fields(subjects)
    assert {(field.operation.name, field.platform.name) for field in found} == {("gemm_bias", "cpu")}
    assert {field.size for field in found} == {"small", "medium", "filling"}
    assert {one.implementation.id for one in found[0].subjects} == {"gemm_bias/torch/eager", "gemm_bias/torch/addmm"}
    everything = fields(subjects, every=True)
    assert {field.operation.name for field in everything} == {"gemm_bias", "exp"}
    assert "gemm_bias/inductor/compiled" in {one.implementation.id for one in everything[-1].subjects}


HOLDER = """
import sys, time
from platforms.turns import alone, beside_others
with (alone if sys.argv[2] == "alone" else beside_others)(sys.argv[1]):
    print(time.time(), flush=True)
    time.sleep(0.2)
    print(time.time(), flush=True)
"""


def holder(kind: str, folder: Path) -> subprocess.Popen[str]:
    """A process that takes its turn on a device, and prints from when to when it has it."""
    arguments = [sys.executable, "-c", HOLDER, "a device", kind]
    environment = {**os.environ, "TMPDIR": str(folder)}
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment)


def test_whoever_times_is_alone(tmp_path: Path) -> None:
    run = [holder(kind, tmp_path) for kind in ("alone", "alone", "beside", "alone")]
    spans = sorted([float(time) for time in process.communicate(timeout=60)[0].split()] for process in run)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))


def test_a_device_that_is_held_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with alone("a device"):
        waiting = holder("beside", tmp_path)
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(timeout=1.0)
    assert waiting.wait(timeout=60) == 0


class OutOfResources(Exception):
    """Named as Triton's own."""


class CompilationError(Exception):
    """Named as Triton's own."""


def raised(error: Exception, *, cause: Exception | None = None) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OutOfResources("shared memory"), "does not fit"),
        (MemoryError(), "does not fit"),
        (RuntimeError("CUDA error: cannot allocate memory"), "does not fit"),
        (CompilationError("at 3:4"), "does not compile"),
        (raised(RuntimeError("wrapped"), cause=CompilationError("at 3:4")), "does not compile"),
        (ValueError("no such layout"), "failed"),
    ],
)
def test_obstacles(error: Exception, expected: str) -> None:
    assert obstacle(error) == expected


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is asked of a card in the place of NVIDIA's, in order; a call whose name has "late" in it is not ahead."""
    torch = pytest.importorskip("torch")
    done: list[str] = []

    class Event:
        def __init__(self, *, enable_timing: bool) -> None:
            assert enable_timing

        def record(self) -> None:
            done.append("record")

        def synchronize(self) -> None:
            done.append("synchronize")

        def query(self) -> bool:
            return "late" in done[-1]

        def elapsed_time(self, other: object) -> float:
            return 0.25  # milliseconds

    class Properties:
        L2_cache_size = 2**12

    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "_sleep", lambda cycles: done.append(f"wait {cycles}"), raising=False)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: Properties)
    return done


def test_device_events_time_the_call_alone(done: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The caches are cleared and the device is kept waiting before the first event, and not between the two."""
    from platforms.vendors.nvidia_stopwatch import Cycles

    watch = Cycles("cpu")
    monkeypatch.setattr(watch, "flush", lambda: done.append("flush"))
    assert watch.cache == 2**12
    assert watch.seconds(lambda: done.append("call")) == 0.25e-3
    assert done == ["wait 400000", "record", "call", "record", "synchronize"]
    done.clear()
    assert watch.seconds(lambda: done.append("call"), cleared=True) == 0.25e-3
    assert done == ["flush", "wait 400000", "record", "call", "record", "synchronize"]
    done.clear()
    assert watch.spin() == 0.25e-3
    assert done == ["record", "wait 100000", "record", "synchronize"]


def test_a_host_that_is_slow_to_launch_is_waited_for(done: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its launch would be timed otherwise; what is never ahead is timed all the same."""
    from platforms.vendors.nvidia_stopwatch import Cycles

    watch = Cycles("cpu")
    monkeypatch.setattr(watch, "flush", lambda: done.append("flush"))
    calls = iter(("late", "in time", "late", "late", "in time"))

    def waits(**how: bool) -> list[str]:
        done.clear()
        watch.seconds(lambda: done.append(next(calls)), **how)
        return [one for one in done if one.startswith(("wait", "flush"))]

    assert waits(cleared=True) == ["flush", "wait 400000", "flush", "wait 1600000"]
    assert waits() == ["wait 1600000", "wait 6400000"]
    assert waits() == ["wait 6400000"]


def test_the_host_is_timed_until_it_has_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    watch = Stopwatch(lambda: done.append("synchronize"), 2**10)
    monkeypatch.setattr(watch, "flush", lambda: done.append("flush"))
    took = watch.seconds(lambda: time.sleep(0.02), cleared=True)
    assert 0.02 <= took < 2.0
    assert done.pop(0) == "flush"
    assert done == ["synchronize", "synchronize"]
    assert watch.spin() > 0


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"index0": "32K", "index2": "1024K", "index3": "32768K"}, 2**25),
        ({"index0": "32K", "index1": "?"}, 2**15),
    ],
)
def test_the_caches_to_be_cleared_are_those_of_a_core(tmp_path: Path, files: dict[str, str], expected: int) -> None:
    for name, size in files.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "size").write_text(f"{size}\n")
    assert host_cache(tmp_path) == expected


def test_a_system_that_hides_its_caches_has_some_cleared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"SC_LEVEL2_CACHE_SIZE": 2**20, "SC_LEVEL3_CACHE_SIZE": 2**24}
    monkeypatch.setattr(os, "sysconf", lambda name: said.get(name, 0))
    assert host_cache(tmp_path) == 2**24
    said.clear()
    assert host_cache(tmp_path) == 2**25


class Tuner:
    """Named in a function that it tunes, as Triton's are."""

    def __init__(self) -> None:
        self.configs = ["wide", "tall"]


@pytest.mark.parametrize(("device", "compiling"), [("cpu", "beside"), ("cuda:0", "free")])
def test_nobody_waits_behind_a_compiler(device: str, compiling: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tuner measures alone what has been compiled before: beside others on the host, which is busy with that."""
    pytest.importorskip("torch")
    from platforms import race

    turns, done = ["free"], []  # type: tuple[list[str], list[str]]
    tuner, known = Tuner(), set()  # type: tuple[Tuner, set[str]]

    def function() -> None:
        for config in tuner.configs:
            if config not in known:
                known.add(config)
                done.append(f"{config} compiled {turns[-1]}")
        done.append(f"{' '.join(tuner.configs)} called {turns[-1]}")
        if tuner.configs == ["tall"]:
            raise RuntimeError("it does not fit")

    @contextmanager
    def turn(kind: str) -> Iterator[None]:
        turns.append(kind)
        yield
        turns.pop()

    monkeypatch.setattr(race, "alone", lambda hardware: turn("alone"))
    monkeypatch.setattr(race, "beside_others", lambda hardware: turn("beside"))
    monkeypatch.setattr(race, "tuners", lambda function: iter([tuner]))
    catalogue = SimpleNamespace(implementations={"relu/triton/tuned": SimpleNamespace(function=function)})
    platform = SimpleNamespace(device=device, hardware="a device")
    monkeypatch.setattr(race.Runner, "current", SimpleNamespace(catalogue=catalogue, platform=platform), raising=False)

    def call(entrant: str) -> Callable[[int], None]:
        setting = entrant.partition("[")[2].removesuffix("]")
        return lambda number: race._held(function, setting)() if setting else function()

    track: Any = SimpleNamespace(call=call)
    race._first(track, "relu/triton/tuned")
    compiled = [f"{one} {what} {compiling}" for one in ("wide", "tall") for what in ("compiled", "called")]
    assert done == [*compiled, "wide tall called alone"]
    done.clear()
    race._first(track, "relu/triton/tuned[wide]")
    assert done == [f"wide called {compiling}"]
