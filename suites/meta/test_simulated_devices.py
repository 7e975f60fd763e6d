"""Simulated accelerators: a device type of its own, streams, graphs and planted arithmetic, from probe to report."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from golden.case import Case
from kernels.registry import load
from platforms.detect import detect
from platforms.pool import Pool
from platforms.probe import Probe
from platforms.simulated.kinds import WIDE_FLOATS
from platforms.simulated.platforms import SIMULATED, Simulated
from reports.bundle import Bundle, read
from reports.record import Record
from suites.meta.cli import MUTANTS
from suites.run import Run
from suites.subject import Subject

ROOT = Path(__file__).resolve().parents[2]

HERE = {one.name: one for one in SIMULATED}

TORCH = Probe(torch_version="2.13.0+cpu")


def python(code: str) -> str:
    """Return what ``code`` prints, in a process of its own: one has one such device, under one name."""
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=240, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_they_are_used_on_request_alone_and_say_what_they_are() -> None:
    found = {one.name: one for one in detect(TORCH).found if isinstance(one, Simulated)}
    assert {name: one.device for name, one in found.items()} == {
        "simulated-mlu": "mlu:0",
        "simulated-npu": "npu:0",
        "simulated-musa": "musa:0",
        "simulated-gcu": "gcu:0",
    }
    assert all(one.on_request and one.untimed for one in found.values())
    assert {one.hardware for one in found.values()} == {"host"}


def test_where_torch_or_a_real_card_stands_against_it_that_is_told() -> None:
    absent = dict(detect(Probe(torch_version="2.9.1")).absent)
    assert absent["simulated-mlu"] == "torch 2.9.1 has no backends in Python; 2.10 has"
    absent = dict(detect(Probe(torch_version="2.13.0", private="npu")).absent)
    assert absent["simulated-mlu"] == "torch's device type for extensions is taken here, by npu"


START = """
from platforms.simulated.platforms import SIMULATED
platform = next(one for one in SIMULATED if one.name == {name!r})
platform.prepare()
platform.open()
import torch
def tried(function):
    try:
        return function()
    except Exception as error:
        return type(error).__name__ + ": " + str(error)
"""

DEVICE = """
x = torch.tensor([1.0, 2.0, -3.0]).to("mlu:0")
y = torch.arange(3.0, device="mlu")
platform.synchronize()
print((x @ y).cpu().item(), (x[None] + y[:, None]).sum(0).cpu().tolist(), y.device)
print(tried(lambda: x.numpy()))
print(tried(lambda: x + torch.ones(3)))
with platform.beside():
    z = 2 * x
print(tried(lambda: z.cpu()))
platform.synchronize()
print(z.cpu().tolist())
result, replay = platform.capture(lambda: 3 * x)
x.copy_(torch.tensor([4.0, 5.0, 6.0]))
result.fill_(9)
replay()
print(result.cpu().tolist())
print(tried(lambda: platform.capture(lambda: x.sum().item())))
print(platform.capabilities())
"""


def test_it_behaves_as_a_device_that_is_not_the_host() -> None:
    assert python(START.format(name="simulated-mlu") + DEVICE).splitlines() == [
        "-4.0 [6.0, 9.0, -6.0] mlu:0",
        "TypeError: can't convert mlu:0 device type tensor to numpy; use Tensor.cpu() first",
        "RuntimeError: Expected all tensors to be on the same device, but found cpu and mlu:0 (aten.add.Tensor)",
        "Unsynchronized: stream 0 reads what stream 1 may still be writing: nothing waits for it",
        "[2.0, 4.0, -6.0]",
        "[12.0, 15.0, 18.0]",
        "RuntimeError: _local_scalar_dense is not permitted while a graph is captured",
        "{'float64': 'it is kept as float32: 1.0000001192092898 times 1 gives 1.0000001192092896', "
        "'int64': 'it is kept as int32, which wraps around: 4611686018427387907 times 1 gives 3'}",
    ]


FLUSHES = """
x = torch.tensor([1e-39, 1.0]).to("npu:0")
print((2 * x).cpu().tolist(), x.clone().cpu()[0].item() > 0)
print(tried(lambda: torch.ones(2, dtype=torch.float64, device="npu:0")))
"""


def test_planted_flushing_is_of_what_computes_and_a_dtype_may_be_refused() -> None:
    assert python(START.format(name="simulated-npu") + FLUSHES).splitlines() == [
        "[0.0, 2.0] True",
        "RuntimeError: npu has no float64",
    ]


@pytest.mark.parametrize(
    ("name", "implementation", "cause"),
    [("simulated-mlu", "gemm/torch/eager", "operands of matrix products rounded to tf32")],
)
def test_what_is_planted_is_found_and_named(tmp_path: Path, name: str, implementation: str, cause: str) -> None:
    case = '{"operation":"gemm","dtype":"float32","dims":{"m":4,"n":5,"k":7},"seed":3}'
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--platform", name, "--implementation", implementation]
    command += ["--case", case, "--bundle", str(tmp_path / "bundle"), "suites/test_equivalence.py"]
    ran = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)
    environment, (record, *_), _ = read(tmp_path / "bundle")
    assert record.verdict == "wrong", ran.stdout
    assert f"explained by: {cause}" in ran.stdout
    facts = environment[f"platform {name}"]["facts"]
    assert WIDE_FLOATS in facts["simulated"]
    assert facts["caveats"] == ["it is simulated on the processor: nothing here is a result of Cambricon MLU (NeuWare)"]


PROFILE = """
from platforms.pool import Pool
from platforms.profile.measuring import answers, machines
from platforms.simulated.platforms import SIMULATED
platform = next(one for one in SIMULATED if one.name == "simulated-gcu")
with Pool() as pool:
    for machine in machines(pool, platform, "brief"):
        told = answers(pool, platform, machine, "brief")
        print(machine, sorted({one["subject"] for one in told if "float64" in one["subject"]}), end=": ")
        print({one["topic"]: one["answer"] for one in told if one["subject"] == "float32"}.get(TOPICS[machine]))
"""
TOPICS = {
    "torch": "rounding of arithmetic",
    "gemm/torch/eager": "accumulator of products",
    "gemm/torch/tf32": "accumulator of products",
    "sum/torch/eager": "accumulator of sums",
}


def test_a_device_that_lacks_a_dtype_is_asked_the_rest_of_its_profile() -> None:
    held = "24 bits, nearest even"
    assert python(f"TOPICS = {TOPICS}\n" + PROFILE).splitlines() == [
        "torch []: nearest even",
        *(f"{machine} []: {held}" for machine in ("gemm/torch/eager", "gemm/torch/tf32", "sum/torch/eager")),
    ]


def test_every_simulated_vendor_has_a_file() -> None:
    assert {one.vendor.name for one in SIMULATED} == {"cambricon", "ascend", "mthreads", "enflame"}


ROOTS = """
import numpy as np
from platforms.profile.functions import functions
from platforms.profile.torch_machine import TorchMachine
answers = {(one.topic, one.subject): one.evidence for one in functions(TorchMachine(platform.device))}
for dtype in ("float32", "float64"):
    print(answers["error of sqrt", dtype]["ulp"] > 1, answers["error of rsqrt", dtype]["ulp"] > 2)
"""


def test_planted_square_roots_are_seen_by_a_profile_in_float32_alone() -> None:
    printed = python(START.format(name="simulated-musa") + ROOTS).splitlines()
    assert printed == ["True False", "False False"]


class Judge:
    """Runs one case of an implementation, mutants among them, on a simulated device, and judges it."""

    def __init__(self, run: Run) -> None:
        self.catalogue = load([MUTANTS])
        self.run = run

    def __call__(self, platform: str, implementation: str, case: Case, contract: str = "") -> Record:
        made = self.catalogue.implementations[implementation]
        subject = Subject(self.catalogue.operations[made.operation], made, HERE[platform])
        return self.run.one(subject, case, suite="meta", contract=contract)


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    with Pool(kernels=[MUTANTS]) as pool, Bundle.create(tmp_path_factory.mktemp("simulated") / "b", {}) as bundle:
        yield Judge(Run(pool=pool, bundle=bundle))


@pytest.mark.parametrize(
    ("platform", "operation", "params", "said"),
    [
        ("simulated-npu", "cast", {"dtype": "float64"}, "out is of float64: RuntimeError: npu has no float64"),
        ("simulated-gcu", "cast", {"dtype": "float64"}, "out is of float64: RuntimeError: gcu has no float64"),
        ("simulated-gcu", "argmax", {"dim": 0}, "out is of int64: RuntimeError: gcu has no int64"),
    ],
)
def test_a_tensor_beside_the_cases_dtype_that_the_device_lacks_is_the_reason_not_to_run(
    judge: Judge, platform: str, operation: str, params: dict[str, object], said: str
) -> None:
    record = judge(platform, f"{operation}/torch/eager", Case(operation, "float32", {"x": [5]}, params))
    assert (record.verdict, record.message) == ("unsupported", said)


def test_indices_that_a_device_keeps_with_fewer_bits_are_judged(judge: Judge) -> None:
    case = Case("argmax", "float32", {"x": [5]}, {"dim": 0})
    assert judge("simulated-mlu", "argmax/torch/eager", case).verdict == "exact"
    wide = judge("simulated-mlu", "relu/torch/eager", Case("relu", "int64", {"x": [5]}))
    assert wide.verdict == "unsupported"
    assert wide.message.startswith("it is kept as int32, which wraps around: ")


@pytest.mark.parametrize(
    ("mutant", "contract", "verdict", "said"),
    [
        ("breaks_streams", "streams", "crashed", "stream 0 reads what stream "),
        ("breaks_streams_early", "streams", "crashed", "may still be writing: nothing waits for it"),
        ("breaks_graphs", "graphs", "wrong", "32 of 40 elements"),
        ("keeps_streams", "streams", "exact", ""),
        ("keeps_streams", "graphs", "exact", ""),
    ],
)
def test_work_that_nobody_waits_for_is_noticed_on_a_simulated_device(
    judge: Judge, mutant: str, contract: str, verdict: str, said: str
) -> None:
    record = judge("simulated-mlu", f"relu/torch/{mutant}", Case("relu", "float32", {"x": [40]}), contract)
    assert record.verdict == verdict
    assert said in record.message


@pytest.mark.parametrize("platform", ["simulated-mlu", "simulated-npu"])
@pytest.mark.parametrize(
    ("mutant", "operation", "dims", "params", "verdict"),
    [
        ("wrong_one_past_the_end", "add", {"x": [6], "y": [6]}, {}, "out of bounds"),
        ("wrong_last_row_unwritten", "softmax", {"x": [3, 5]}, {"dim": -1}, "unwritten"),
        ("wrong_input_overwritten", "softmax", {"x": [3, 5]}, {"dim": -1}, "input changed"),
        ("wrong_last_k_tile_dropped", "gemm", {"m": 3, "n": 4, "k": 40}, {}, "wrong"),
    ],
)
def test_wrong_kernels_are_noticed_on_a_simulated_device_too(
    judge: Judge,
    platform: str,
    mutant: str,
    operation: str,
    dims: dict[str, list[int] | int],
    params: dict[str, object],
    verdict: str,
) -> None:
    record = judge(platform, f"{operation}/torch/{mutant}", Case(operation, "float32", dims, params))
    assert record.verdict == verdict, record.message
