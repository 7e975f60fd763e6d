"""Which platforms a machine has is decided from its probe alone, and whatever drivers do, a probe comes back."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kernels.registry import load
from platforms.claims import KNOWN
from platforms.cpp import Cpp
from platforms.cpu import Cpu
from platforms.cuda_cpu import ORDER, CudaCpu
from platforms.detect import Detection, DetectionError, detect, vendors
from platforms.gather import probe
from platforms.interpreter import Interpreter
from platforms.platform import platform_from_value
from platforms.probe import Device, Probe
from platforms.vendors.nvidia import Nvidia
from suites.meta.fingerprints import FINGERPRINTS, TRAPS, Machine, cuda, machine
from suites.subject import Selection, select
from suites.tables.detection import answered, detection

ROOT = Path(__file__).resolve().parents[2]


def names(detection: Detection) -> list[str]:
    return [platform.name for platform in detection.found if not platform.on_request]


HOSTS = ["cpu", "cpu-default", "interpreter"]


def reason(detection: Detection, name: str) -> str:
    return dict(detection.absent)[name]


HOSTS = ["cpu", "cpu-default", "interpreter"]

MACHINES = {**FINGERPRINTS, **TRAPS}


@pytest.mark.parametrize("one", MACHINES.values(), ids=MACHINES)
def test_a_machine_is_the_vendors_whose_card_is_there_and_whoever_is_absent_says_why(one: Machine) -> None:
    vendor, said = answered(one)
    assert vendor == one.vendor
    assert one.refused in said
    for name, words in one.said.items():
        assert words in reason(detect(one.probe, chosen=one.chosen), name)
    if one.refused:
        with pytest.raises(DetectionError) as error:
            detect(one.probe)
        assert str(error.value) == one.refused
    elif one.vendor:
        card = next(p for p in detect(one.probe, chosen=one.chosen).found if p.name == one.vendor)
        assert card.device == f"{type(card).vendor.kind}:0"  # type: ignore[attr-defined]


def test_the_page_of_detection_is_what_is_answered() -> None:
    assert (ROOT / "docs/detection.md").read_text(encoding="utf-8") == detection()


def test_every_vendor_has_a_fingerprint() -> None:
    assert {one.vendor for one in FINGERPRINTS.values() if one.vendor} == set(vendors())
    without = {name for one in FINGERPRINTS.values() if not one.vendor for name in one.said}
    assert without == {vendor.name for vendor in KNOWN} - set(vendors())


@pytest.mark.parametrize(
    ("capability", "found"),
    [
        ("AVX512", ["cpu", "cpu-default", "cpu-avx2"]),
        ("AVX2", ["cpu", "cpu-default"]),
        ("DEFAULT", ["cpu"]),
        ("SVE256", ["cpu"]),
    ],
)
def test_code_paths_below_the_best_are_platforms_of_their_own(capability: str, found: list[str]) -> None:
    detection = detect(machine(cpu_capability=capability))
    here = [platform for platform in detection.found if platform.name.startswith("cpu")]
    assert [platform.name for platform in here] == found
    assert [platform.environment.get("ATEN_CPU_CAPABILITY", "") for platform in here] == [
        name.partition("-")[2] for name in found
    ]
    assert {"cpu-default", "cpu-avx2", "cpu-avx512"} - set(found) <= set(dict(detection.absent))
    for platform in here[1:]:
        assert platform.refusal("torch") == ""
        assert platform.name in platform.refusal("inductor")


def test_without_triton_there_is_no_interpreter() -> None:
    detection = detect(machine(triton_version=""))
    assert names(detection) == ["cpu", "cpu-default"]
    assert reason(detection, "interpreter") == "triton: is not installed"
    broken = detect(machine(triton_version="", errors={"triton": "ImportError: libtriton.so"}))
    assert reason(broken, "interpreter") == "triton: ImportError: libtriton.so"


def test_without_torch_nothing_is_found() -> None:
    assert detect(TRAPS["torch that does not import"].probe).found == []
    assert reason(detect(Probe()), "cpu") == "torch: is not installed"


def test_devices_are_dealt_out_to_processes_side_by_side() -> None:
    (platform,) = (one for one in detect(cuda("NVIDIA H200", count=3)).found if one.name == "nvidia")
    dealt = [platform.for_worker(index).environment["CUDA_VISIBLE_DEVICES"] for index in range(5)]
    assert dealt == ["0", "1", "2", "0", "1"]
    assert "CUDA_VISIBLE_DEVICES" not in platform.environment
    masked = cuda("NVIDIA H200", count=2, env={"CUDA_VISIBLE_DEVICES": "GPU-a1, MIG-b2"})
    (platform,) = (one for one in detect(masked).found if one.name == "nvidia")
    assert [platform.for_worker(index).environment["CUDA_VISIBLE_DEVICES"] for index in range(3)] == [
        "GPU-a1",
        "MIG-b2",
        "GPU-a1",
    ]
    assert Cpu().for_worker(3) == Cpu()


def test_paradigms_that_do_not_run_say_why() -> None:
    assert "no backend for a CPU" in Cpu().refusal("triton")
    assert "nothing else" in Interpreter().refusal("torch")
    assert Nvidia().refusal("opencl") == f"platform nvidia runs {', '.join(Nvidia().paradigms)}, not opencl"
    assert Interpreter().refusal("triton") == ""


def test_orders_of_the_interpreter_have_names_of_their_own() -> None:
    assert [Interpreter(order=order).name for order in ("forward", "reversed", "shuffled")] == [
        "interpreter",
        "interpreter-reversed",
        "interpreter-shuffled",
    ]
    with pytest.raises(ValueError, match="unknown order 'sideways'; there are forward, reversed, shuffled"):
        Interpreter(order="sideways")


@pytest.mark.parametrize(
    "platform",
    [
        Cpu(path="avx2", environment={"A": "b"}),
        Interpreter(order="reversed", races=False),
        Nvidia(visible=("GPU-1", "3")),
    ],
    ids=lambda one: one.name,
)
def test_a_platform_comes_back_from_json_as_it_was(platform: Any) -> None:
    assert platform_from_value(json.loads(json.dumps(platform.to_value()))) == platform


def test_what_is_no_platform_is_refused() -> None:
    with pytest.raises(TypeError, match=r"platforms\.probe:Probe is not a platform"):
        platform_from_value({"class": "platforms.probe:Probe", "fields": {}})


def test_a_probe_comes_back_from_json_as_it_was() -> None:
    full = cuda(
        "NVIDIA H200", count=2, env={"PPU_SDK": "x"}, errors={"triton": "ImportError: é"}, modules=("torch_mlu",)
    )
    full = dataclasses.replace(full, devices=(Device("cuda", 0, "a", 2**40, "9.0", "gfx", {"warp_size": 32}),))
    assert Probe.from_json(full.to_json()) == full
    with pytest.raises(ValueError, match="it has the fields attributes, "):
        Probe.from_json('{"colour": 3}')


# The real probe, over a torch that this test writes.

FAKE_TORCH = """
import sys, types
print("welcome to a noisy driver")
__version__ = "9.9.9+fake"
version = types.ModuleType("torch.version")
version.cuda, version.hip = "12.8", None
class _C:
    _get_privateuse1_backend_name = staticmethod(lambda: "privateuseone")
class backends:
    class cpu:
        get_cpu_capability = staticmethod(lambda: "AVX2")
class mps:
    is_available = staticmethod(lambda: False)
"""

CUDA_AVAILABLE = """
class cuda:
    is_available = staticmethod(lambda: True)
    device_count = staticmethod(lambda: 2)
    @staticmethod
    def get_device_properties(index):
        return types.SimpleNamespace(name="NVIDIA Fake", total_memory=2**34, major=9, minor=0, warp_size=32, uuid="u")
"""

CUDA_HANGS = """
import time
class cuda:
    is_available = staticmethod(lambda: time.sleep(1000))
"""

CUDA_CRASHES = """
import ctypes
class cuda:
    is_available = staticmethod(lambda: ctypes.string_at(8))
"""

CUDA_WITHOUT_DRIVER = """
def _init():
    raise RuntimeError("Found no NVIDIA driver")
class cuda:
    is_available = staticmethod(lambda: False)
    init = staticmethod(_init)
"""


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder from which the probe's subprocess imports torch and triton first; triton there does not import."""
    (tmp_path / "triton.py").write_text("raise ImportError('libtriton.so: no such file')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return tmp_path


def test_a_probe_finds_versions_devices_and_errors(fake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (fake / "torch.py").write_text(FAKE_TORCH + CUDA_AVAILABLE)
    (fake / "torch_mlu.py").write_text("raise SystemExit('never to be imported')")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,5")
    found = probe()
    assert found.torch_version == "9.9.9+fake"
    assert found.version == {"cuda": "12.8"}
    assert found.available == ("cuda",)
    assert found.devices[1] == Device("cuda", 1, "NVIDIA Fake", 2**34, "9.0", "", {"warp_size": 32})
    assert found.modules == ("torch_mlu",)
    assert found.env == {"CUDA_VISIBLE_DEVICES": "4,5"}
    assert found.errors == {"triton": "ImportError: libtriton.so: no such file"}
    (platform,) = (one for one in detect(found).found if one.name == "nvidia")
    assert platform.for_worker(1).environment["CUDA_VISIBLE_DEVICES"] == "5"


@pytest.mark.parametrize(
    ("torch", "step", "said"),
    [
        ("import time; time.sleep(1000)", "torch", "gave no answer in 2 s"),
        ("raise OSError('libmkl.so: no such file')", "torch", "OSError: libmkl.so: no such file"),
        ("import os; os._exit(7)", "torch", "ended with exit code 7"),
        ("import ctypes; ctypes.string_at(8)", "torch", "crashed with SIGSEGV"),
        (FAKE_TORCH + CUDA_HANGS, "cuda", "gave no answer in 2 s"),
        (FAKE_TORCH + CUDA_CRASHES, "cuda", "crashed with SIGSEGV"),
        (FAKE_TORCH + CUDA_WITHOUT_DRIVER, "cuda", "RuntimeError: Found no NVIDIA driver"),
    ],
)
def test_a_probe_comes_back_whatever_torch_does(fake: Path, torch: str, step: str, said: str) -> None:
    (fake / "torch.py").write_text(torch)
    found = probe(time_limit=2.0)
    assert found.errors[step].startswith(said)
    detection = detect(found)
    assert said in reason(detection, "nvidia")
    assert ("cpu" in names(detection)) == (step == "cuda")


def test_the_command_line_lists_what_is_here_and_why_the_rest_is_not(fake: Path) -> None:
    (fake / "torch.py").write_text(FAKE_TORCH + CUDA_AVAILABLE)
    listed = subprocess.run([sys.executable, "-m", "platforms"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "torch 9.9.9+fake, triton absent" in listed.stdout
    assert "nvidia" in listed.stdout
    assert "2 x NVIDIA Fake (9.0)" in listed.stdout
    assert "  interpreter: triton: ImportError: libtriton.so: no such file" in listed.stdout.splitlines()
    (fake / "torch.py").write_text("raise OSError('libmkl.so: no such file')")
    broken = subprocess.run(
        [sys.executable, "-m", "platforms", "--json"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert broken.returncode == 1
    assert json.loads(broken.stdout)["found"] == []
    assert json.loads(broken.stdout)["absent"]["cpu"] == "torch: OSError: libmkl.so: no such file"


def test_other_orders_of_programs_are_platforms_on_request() -> None:
    detection = detect(cuda("NVIDIA H200"))
    orders = {one.name: one.order for one in detection.found if isinstance(one, Interpreter) and one.on_request}
    assert orders == {"interpreter-reversed": "reversed", "interpreter-shuffled": "shuffled"}
    chosen, _ = select(load(), detection, Selection())
    assert {subject.platform.name for subject in chosen} == {"cpu", "cpu-default", "interpreter", "nvidia"}
    asked, _ = select(load(), detection, Selection(platforms=("interpreter-shuffled",)))
    assert {subject.platform.name for subject in asked} == {"interpreter-shuffled"}
    assert {subject.implementation.paradigm for subject in asked} == {"triton"}


def test_what_an_implementation_needs_a_platform_has_or_it_is_not_run_and_says_so(tmp_path: Path) -> None:
    file = tmp_path / "kernel.py"
    source = "from kernels import implementation\n"
    for name, needs in (("plain", ()), ("met", ("shared memory",)), ("fast", ("shared memory", "matrix unit"))):
        source += f"implementation('relu', paradigm='torch', name={name!r}, needs={needs})(lambda x: x)\n"
    file.write_text(source)
    mine = Selection(implementations=tuple(f"relu/torch/{name}" for name in ("plain", "met", "fast")))
    before_matrix_units = dataclasses.replace(
        cuda("Tesla P100"), devices=(Device("cuda", 0, "Tesla P100", capability="6.0"),), cpu_capability="DEFAULT"
    )
    chosen, unrun = select(load([file]), detect(before_matrix_units), mine)
    assert {one.id for one in chosen} == {"relu/torch/plain@cpu", "relu/torch/plain@nvidia", "relu/torch/met@nvidia"}
    assert {what: why for what, why in unrun if what.startswith("relu/torch/")} == {
        "relu/torch/met on cpu": "cpu has no shared memory",
        "relu/torch/fast on cpu": "cpu has no shared memory, no matrix unit",
        "relu/torch/fast on nvidia": "nvidia has no matrix unit",
    }
    chosen, _ = select(load([file]), detect(cuda("NVIDIA H200")), mine)
    assert "relu/torch/fast@nvidia" in {one.id for one in chosen}


def test_a_platform_offers_features_that_there_are() -> None:
    with pytest.raises(
        ValueError, match="unknown feature 'warp drive'; there are shared memory, matrix unit, bulk copies, symmetric"
    ):
        Cpu(features=("warp drive",))


def test_targets_of_cpp_need_a_compiler_and_say_so() -> None:
    assert reason(detect(machine()), "cpp-native") == (
        "there is no C++ compiler, none of g++, clang++, c++; sudo apt-get install g++"
    )
    both = detect(machine(machine="x86_64", tools=("g++",)))
    assert names(both) == [*HOSTS, "cpp-x86-64", "cpp-native", "cuda-cpu"]
    arm = detect(machine(machine="aarch64", tools=("clang++",)))
    assert names(arm) == [*HOSTS, "cpp-native", "cuda-cpu"]
    assert reason(arm, "cpp-x86-64") == "this machine is aarch64"


def test_an_emulated_target_needs_its_emulator_and_its_compiler() -> None:
    tools = ("qemu-s390x-static", "s390x-linux-gnu-g++", "qemu-aarch64", "riscv64-linux-gnu-g++")
    detection = detect(machine(tools=tools))
    assert names(detection) == [*HOSTS, "qemu-s390x"]
    target = next(platform for platform in detection.found if isinstance(platform, Cpp)).target
    assert (target.compiler[0], target.emulator, target.byteorder) == (tools[1], tools[:1], "big")
    assert reason(detection, "qemu-aarch64") == (
        "not installed: aarch64-linux-gnu-g++; sudo apt-get install g++-aarch64-linux-gnu"
    )
    assert reason(detection, "qemu-riscv64") == "not installed: qemu-riscv64; sudo apt-get install qemu-user"
    assert reason(detection, "qemu-ppc64le") == (
        "not installed: powerpc64le-linux-gnu-g++, qemu-ppc64le; "
        "sudo apt-get install g++-powerpc64le-linux-gnu qemu-user"
    )


def test_fibers_come_in_two_orders_one_of_them_on_request() -> None:
    fibers = [one for one in detect(machine(tools=("c++",))).found if isinstance(one, CudaCpu)]
    assert [(one.name, one.environment[ORDER], one.on_request) for one in fibers] == [
        ("cuda-cpu", "forward", False),
        ("cuda-cpu-reversed", "reversed", True),
    ]
    assert [platform_from_value(one.to_value()) for one in fibers] == fibers
    assert reason(detect(machine()), "cuda-cpu").startswith("there is no C++ compiler")
    with pytest.raises(ValueError, match="unknown order 'sideways'"):
        CudaCpu(order="sideways")
