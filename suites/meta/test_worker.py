"""A kernel that crashes, hangs, raises or ends its process costs one outcome, and the next case runs all the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from golden.case import Case
from golden.inputs import digest, make_inputs
from platforms.claims import HIDING
from platforms.cpu import Cpu
from platforms.outcome import Damage, Outcome
from platforms.platform import Platform
from platforms.pool import GatewayLost, Pool, WorkerError
from suites.meta.processes import WITH_PROC, alive, children, descendants

ROOT = Path(__file__).resolve().parents[2]
CASE = Case.parse('{"operation":"relu","dtype":"float32","dims":{"x":[3,17]},"seed":5}')
CPU = Cpu()

KERNELS = """
import ctypes, os, re, sys
import torch
from kernels import implementation

@implementation("relu", paradigm="torch")
def good(x):
    return torch.relu(x)

@implementation("relu", paradigm="torch")
def segfaults(x):
    print("about to read address 8", file=sys.stderr)
    return ctypes.string_at(8)

@implementation("relu", paradigm="torch")
def aborts(x):
    os.abort()

@implementation("relu", paradigm="torch")
def ends_at_once(x):
    os._exit(3)

@implementation("relu", paradigm="torch")
def exits(x):
    sys.exit(4)

@implementation("relu", paradigm="torch")
def loops(x):
    while True:
        pass

@implementation("relu", paradigm="torch")
def loops_in_c(x):
    # Takes for ever inside one call, without letting another thread run.
    re.match("(a+)+$", 64 * "a" + "b")

@implementation("relu", paradigm="torch")
def talks(x):
    for number in range(200_000):
        print("line", number, "." * 40)
    os._exit(5)

@implementation("relu", paradigm="torch")
def talks_without_end(x):
    while True:
        os.write(2, b"x" * 65536)

@implementation("relu", paradigm="torch")
def conflicts(x):
    raise RuntimeError("a conflict between programs 0 and 1")

@implementation("relu", paradigm="torch")
def loses_the_device(x):
    os.environ["PORTOLAN_TEST_DEVICE"] = "lost"
    print("assertion `index < size` failed", file=sys.stderr)
    raise RuntimeError("device-side assert")

@implementation("relu", paradigm="torch")
def raises(x):
    raise KeyError("no such luck")

@implementation("relu", paradigm="torch")
def returns_nothing(x):
    torch.relu(x)

@implementation("relu", paradigm="torch")
def returns_list(x):
    return [torch.relu(x), torch.relu(x)]

@implementation("relu", paradigm="torch")
def returns_twice(x):
    out = torch.relu(x)
    return out, out

@implementation("relu", paradigm="torch")
def returns_truth(x):
    return x > 0

@implementation("relu", paradigm="torch")
def returns_its_input(x):
    return x[1:]

@implementation("relu", paradigm="torch")
def transposed(x):
    return torch.relu(x).t().contiguous().t()

@implementation("relu", paradigm="torch")
def leaves_settings_changed(x):
    torch.set_float32_matmul_precision("medium")
    torch.set_default_dtype(torch.float64)
    torch.set_flush_denormal(True)
    return torch.relu(x)

@implementation("relu", paradigm="torch")
def tells_settings(x):
    tiny = torch.tensor(1e-40) * 1
    told = [torch.get_float32_matmul_precision() == "highest", torch.get_default_dtype() == torch.float32, tiny > 0]
    return torch.tensor(told, dtype=torch.int8)

@implementation("relu", paradigm="inductor")
def never_compiled(x):
    return torch.relu(x)

@implementation("relu", paradigm="torch", dtypes=("float64",))
def wide_only(x):
    return torch.relu(x)

@implementation("relu", paradigm="torch", needs=("matrix unit",))
def needs_a_unit(x):
    return torch.relu(x)
"""


@dataclass(frozen=True, kw_only=True)
class Fussy(Cpu):
    """A platform that reports conflicts, has no float16, can lose its device, and if ``closed`` never has one."""

    name: str = "fussy"
    closed: bool = False

    def open(self) -> None:
        super().open()
        if self.closed:
            raise RuntimeError("no device in slot 7")

    def synchronize(self) -> None:
        if os.environ.get("PORTOLAN_TEST_DEVICE") == "lost":
            raise RuntimeError("device lost")

    def capabilities(self) -> dict[str, str]:
        return {"float16": "too narrow"}

    def classify(self, error: BaseException) -> str | None:
        return "conflict" if "conflict" in str(error) else None


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kernels") / "faults.py"
    path.write_text(KERNELS)
    return path


@pytest.fixture(scope="module")
def pool(kernels: Path) -> Iterator[Pool]:
    with Pool(kernels=[kernels], time_limit=20.0) as pool:
        pool.describe(CPU)
        yield pool


def run(pool: Pool, name: str, *, time_limit: float | None = None, platform: Platform = CPU) -> Outcome:
    return pool.run(platform, f"relu/torch/{name}", CASE, time_limit=time_limit)


def expected() -> np.ndarray:
    return np.maximum(make_inputs(CASE, {"x": (3, 17)})["x"], 0)


def assert_good(outcome: Outcome) -> None:
    assert outcome.status == "returned", outcome
    assert outcome.output is not None
    assert [(result.dtype, result.shape) for result in outcome.results] == [("float32", (3, 17))]
    assert outcome.damage == ()
    assert np.array_equal(outcome.output, expected())


def runner_of(pool: Pool) -> int:
    return pool.call(CPU, "os:getpid")


def test_output_and_inputs_are_the_ones_the_case_says(pool: Pool) -> None:
    outcome = run(pool, "good")
    assert_good(outcome)
    assert outcome.input_digest == digest(make_inputs(CASE, {"x": (3, 17)}))
    assert 0 < outcome.seconds < 1


def test_a_result_that_is_not_contiguous_arrives_in_its_logical_order(pool: Pool) -> None:
    assert_good(run(pool, "transposed"))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("segfaults", ["killed by SIGSEGV", "about to read address 8", "in segfaults"]),
        ("aborts", ["killed by SIGABRT", "in aborts"]),
        ("ends_at_once", ["exit code 3"]),
        ("exits", ["exit code 4"]),
        ("talks", ["exit code 5", "line 199999 ..."]),
    ],
)
def test_a_crash_is_an_outcome_and_the_next_case_runs(pool: Pool, name: str, said: list[str]) -> None:
    before = runner_of(pool)
    outcome = run(pool, name)
    assert outcome.status == "crashed"
    assert outcome.output is None
    for words in said:
        assert words in outcome.message
    assert len(outcome.message.splitlines()) <= 21
    started = time.perf_counter()
    assert_good(run(pool, "good"))
    assert time.perf_counter() - started < 10
    assert runner_of(pool) != before


@pytest.mark.parametrize("name", ["loops", "loops_in_c"])
def test_what_does_not_come_back_is_killed_after_the_limit_and_says_where_it_was(pool: Pool, name: str) -> None:
    started = time.perf_counter()
    outcome = run(pool, name, time_limit=1.0)
    assert outcome.status == "hung"
    assert 1.0 <= outcome.seconds <= time.perf_counter() - started < 10
    assert "no answer in 1 s" in outcome.message
    assert f"in {name}" in outcome.message
    assert_good(run(pool, "good"))


def test_what_prints_without_end_is_killed_before_the_disk_is_full(pool: Pool) -> None:
    outcome = run(pool, "talks_without_end")
    assert outcome.status == "hung"
    assert "printed more than 64 MiB without an end" in outcome.message
    assert len(outcome.message) < 10_000
    assert_good(run(pool, "good"))


def test_a_platform_says_what_is_damage_what_it_lacks_and_whether_its_device_is_lost(pool: Pool) -> None:
    odd = {"PORTOLAN_ODD": "a//b=c d\n'e"}
    fussy = Fussy(environment=odd, paradigms=("torch",), refusals={"inductor": "too plain"})
    assert pool.call(fussy, "os:getenv", key="PORTOLAN_ODD") == odd["PORTOLAN_ODD"]
    conflict = run(pool, "conflicts", platform=fussy)
    assert conflict.status == "raised"
    assert conflict.damage == (Damage("conflict", "a conflict between programs 0 and 1"),)
    narrow = pool.run(fussy, "relu/torch/good", Case.parse(CASE.line.replace("float32", "float16")))
    assert (narrow.status, narrow.message) == ("unsupported", "fussy cannot do float16: too narrow")
    refused = pool.run(fussy, "relu/inductor/never_compiled", CASE)
    assert (refused.status, refused.message) == ("unsupported", "too plain")
    lacking = run(pool, "needs_a_unit", platform=fussy)
    assert (lacking.status, lacking.message) == ("unsupported", "fussy has no matrix unit")
    before = pool.call(fussy, "os:getpid")
    lost = run(pool, "loses_the_device", platform=fussy)
    assert lost.status == "crashed"
    assert lost.message.startswith("RuntimeError: device-side assert")
    assert lost.message.endswith("assertion `index < size` failed")
    assert_good(run(pool, "good", platform=fussy))
    assert pool.call(fussy, "os:getpid") != before


def test_a_platform_that_does_not_open_says_why(pool: Pool) -> None:
    with pytest.raises(WorkerError, match=r"platform shut cannot be used: RuntimeError: no device in slot 7"):
        run(pool, "good", platform=Fussy(name="shut", closed=True))


def test_an_exception_says_type_text_and_line_and_costs_no_process(pool: Pool, kernels: Path) -> None:
    before = runner_of(pool)
    outcome = run(pool, "raises")
    line = KERNELS.splitlines().index('    raise KeyError("no such luck")') + 1
    assert outcome.status == "raised"
    assert outcome.message.splitlines() == [
        "KeyError: 'no such luck'",
        f'  {kernels}:{line} in raises: raise KeyError("no such luck")',
    ]
    assert outcome.input_digest
    assert runner_of(pool) == before
    assert_good(run(pool, "good"))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("returns_nothing", "returned None"),
        ("returns_list", "returned a list of 2"),
        ("returns_twice", "results that share memory"),
        ("returns_truth", "a tensor of bool"),
        ("returns_its_input", "memory of its input x"),
    ],
)
def test_what_is_not_a_new_tensor_is_refused_with_the_reason(pool: Pool, name: str, said: str) -> None:
    outcome = run(pool, name)
    assert outcome.status == "raised"
    assert said in outcome.message


def test_settings_that_a_kernel_changes_do_not_reach_the_next(pool: Pool) -> None:
    assert_good(run(pool, "leaves_settings_changed"))
    assert run(pool, "tells_settings").output.tolist() == [1, 1, 1]  # type: ignore[union-attr]


def test_a_dtype_that_an_implementation_is_not_written_for_is_unsupported(pool: Pool) -> None:
    outcome = run(pool, "wide_only")
    assert outcome.status == "unsupported"
    assert outcome.message == "relu/torch/wide_only is written for float64, not float32"


def test_what_makes_no_sense_raises_and_names_the_thing(pool: Pool) -> None:
    with pytest.raises(WorkerError, match=r"no implementation 'relu/torch/nowhere'; of that operation .*/good"):
        run(pool, "nowhere")
    with pytest.raises(WorkerError, match=r"relu\(x\) has no tensor 'y'"):
        pool.run(
            CPU, "relu/torch/good", Case.parse(CASE.line.replace('"seed"', '"tensors":{"y":{"regime":"nan"}},"seed"'))
        )
    with pytest.raises(WorkerError, match="no function 'os:nothing'"):
        pool.call(CPU, "os:nothing")


def test_a_worker_of_the_processor_is_shown_no_other_device(pool: Pool) -> None:
    """Kernel files import libraries that ask for devices, and a fork of a process that did cannot compile."""
    for variable in HIDING:
        assert pool.call(CPU, "os:getenv", key=variable) == "-1"


def test_calls_take_and_return_json_and_raise_what_the_function_raised(pool: Pool) -> None:
    assert pool.call(CPU, "textwrap:shorten", text="one two three", width=9) == "one [...]"
    with pytest.raises(WorkerError, match="ValueError: placeholder too large"):
        pool.call(CPU, "textwrap:shorten", text="one two three", width=1)
    with pytest.raises(WorkerError, match="killed by SIGABRT"):
        pool.call(CPU, "os:abort")
    assert_good(run(pool, "good"))


def test_description_has_facts_and_capabilities(pool: Pool) -> None:
    described = pool.describe(CPU)
    assert described["facts"]["device"] == "cpu"
    assert described["facts"]["threads"] == 1
    assert not set(described["capabilities"]) & {"float32", "torch"}


@WITH_PROC
def test_a_platform_that_cannot_be_forked_starts_fresh_processes(kernels: Path) -> None:
    fresh = Cpu(start_method="spawn")
    with Pool(kernels=[kernels]) as pool:
        assert_good(run(pool, "good", platform=fresh))
        assert pool.call(fresh, "os:getppid") in children()[os.getpid()]


def test_a_kernel_file_that_does_not_import_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("import torch\nnonsense(")
    with Pool(kernels=[broken]) as pool, pytest.raises(WorkerError, match=r"platform cpu cannot be used.*broken\.py:2"):
        run(pool, "good")


@WITH_PROC
def test_a_lost_gateway_is_one_error_and_then_there_is_a_new_one(pool: Pool) -> None:
    runner = runner_of(pool)
    (keeper,) = (child for child in children()[os.getpid()] if runner in descendants(child))
    os.kill(keeper, signal.SIGKILL)
    with pytest.raises(GatewayLost, match="worker of platform cpu is gone"):
        run(pool, "good")
    assert_good(run(pool, "good"))
    assert runner_of(pool) != runner


def test_in_process_runs_here_and_a_crash_that_can_be_caught_is_an_outcome(kernels: Path) -> None:
    with Pool(kernels=[kernels], in_process=True) as pool:
        assert_good(run(pool, "good"))
        assert pool.call(CPU, "os:getpid") == os.getpid()
        assert run(pool, "exits").message == "ended itself with exit code 4"
        assert run(pool, "raises").status == "raised"


# What is left behind when the process that opened the pool ends.

PARENT = """
import signal
import sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell has its background jobs ignore
sys.path.insert(0, {root!r})
from golden.case import Case
from platforms.cpu import Cpu
from platforms.pool import Pool

case = Case.parse({line!r})
pool = Pool(kernels=[{kernels!r}], time_limit=120)
print(pool.call(Cpu(), "os:getpid"), flush=True)
pool.run(Cpu(), "relu/torch/{name}", case)
"""


@WITH_PROC
@pytest.mark.parametrize(
    ("victim", "how", "name"),
    [("parent", "SIGKILL", "loops_in_c"), ("parent", "SIGINT", "loops"), ("keeper", "SIGKILL", "loops_in_c")],
)
def test_no_process_outlives_the_one_that_waits_for_it(kernels: Path, victim: str, how: str, name: str) -> None:
    source = PARENT.format(root=str(ROOT), line=CASE.line, kernels=str(kernels), name=name)
    command = [sys.executable, "-c", source]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as parent:
        assert parent.stdout is not None
        runner = int(parent.stdout.readline())
        time.sleep(0.3)  # into the loop
        processes = descendants(parent.pid)
        assert runner in processes
        (keeper,) = children()[parent.pid]
        os.kill({"parent": parent.pid, "keeper": keeper}[victim], signal.Signals[how])
        assert parent.wait(20) != 0
    deadline = time.monotonic() + 10
    while any(alive(process) for process in processes) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [process for process in processes if alive(process)]
