"""Is every OpenCL device found from its probe, and are wrong kernels caught on one that is here?"""

from __future__ import annotations

import dataclasses
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from platforms.detect import Detection, detect
from platforms.gather import probe
from platforms.opencl import Opencl
from platforms.opencl_devices import DriverError, bundled, listed
from platforms.probe import OpenclDevice, Probe
from suites.meta.cli import MUTANTS, run_pytest

POCL = OpenclDevice("Portable Computing Language", "pthread-haswell", "OpenCL 3.0", "3.1+debian")
INTEL = OpenclDevice("Intel(R) OpenCL", "a processor", "OpenCL 3.1", "2026.22", library="/venv/lib/libintelocl.so")
BARE = Probe(torch_version="2.13.0", pyopencl_version="2026.1.4")


def machine(*devices: OpenclDevice, **changes: Any) -> Probe:
    return dataclasses.replace(BARE, opencl=devices, **changes)


def found(probe: Probe) -> dict[str, Opencl]:
    return {one.name: one for one in detect(probe).found if isinstance(one, Opencl)}


def reason(detection: Detection) -> str:
    return dict(detection.absent)["opencl"]


def test_each_device_is_a_platform_named_after_its_driver() -> None:
    here = found(machine(POCL, INTEL))
    assert list(here) == ["opencl-pocl", "opencl-intel"]
    assert here["opencl-pocl"].chip == "pthread-haswell"
    assert here["opencl-pocl"].environment == {"PYOPENCL_CTX": "0:0"}
    library = "/venv/lib/libintelocl.so"
    assert here["opencl-intel"].environment == {
        "OCL_ICD_VENDORS": library,
        "OCL_ICD_FILENAMES": library,
        "PYOPENCL_CTX": "0:0",
    }
    assert all(one.paradigms == ("opencl",) and not one.on_request for one in here.values())


@pytest.mark.parametrize(
    ("says", "name"),
    [
        ("Intel(R) OpenCL Graphics", "opencl-intel-gpu"),
        ("Intel(R) FPGA Emulation Platform for OpenCL(TM)", "opencl-intel-fpga"),
        ("NVIDIA CUDA", "opencl-nvidia"),
        ("AMD Accelerated Parallel Processing", "opencl-amd"),
        ("ARM Platform", "opencl-arm"),
        ("QUALCOMM Snapdragon(TM)", "opencl-qualcomm"),
        ("rusticl", "opencl-rusticl"),
        ("Frobnicator(TM) 9000 Compute", "opencl-frobnicator-tm"),
        ("", "opencl-unknown"),
    ],
)
def test_drivers_have_short_names(says: str, name: str) -> None:
    assert list(found(machine(OpenclDevice(says)))) == [name]


def test_several_devices_of_one_driver_are_numbered() -> None:
    two = [dataclasses.replace(POCL, choice=choice) for choice in ("1:0", "1:1")]
    here = found(machine(*two))
    assert {name: one.environment["PYOPENCL_CTX"] for name, one in here.items()} == {
        "opencl-pocl": "1:0",
        "opencl-pocl-2": "1:1",
    }


def test_a_driver_that_the_system_and_pip_both_have_is_one() -> None:
    system = dataclasses.replace(INTEL, library="", choice="1:0")
    here = found(machine(POCL, system, INTEL))
    assert list(here) == ["opencl-pocl", "opencl-intel"]
    assert here["opencl-intel"].environment == {"PYOPENCL_CTX": "1:0"}


def test_what_is_missing_is_told_with_what_installs_it() -> None:
    assert reason(detect(Probe())) == "torch: is not installed"
    without = detect(Probe(torch_version="2.13.0"))
    assert reason(without) == "pyopencl: is not installed; python -m pip install -r requirements-opencl.txt"
    assert reason(detect(BARE)).startswith("there is no driver; python -m pip install -r requirements-opencl.txt, or ")
    assert "apt-get install pocl-opencl-icd" in reason(detect(BARE))
    broken = machine(errors={"opencl": "DriverError: crashed with SIGSEGV"})
    assert reason(detect(broken)).startswith("DriverError: crashed with SIGSEGV; ")
    assert "opencl" not in dict(detect(machine(POCL)).absent)


def test_a_probe_with_devices_comes_back_from_json_as_it_was() -> None:
    assert Probe.from_json(machine(POCL, INTEL).to_json()) == machine(POCL, INTEL)


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("raise ImportError('libOpenCL.so.1: no such file')", "ended with exit code 1 ImportError: libOpenCL.so.1"),
        ("import ctypes; ctypes.string_at(8)", "crashed with SIGSEGV"),
        ("import time; time.sleep(1000)", "gave no answer in 5 s"),
    ],
)
def test_a_driver_may_do_anything(module: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyopencl.py").write_text(module)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr("platforms.opencl_devices.TIME_LIMIT", 5.0)
    with pytest.raises(DriverError, match=f"^{re.escape(said)}"):
        listed()


def test_no_driver_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = "class LogicError(Exception):\n    code = -1001\ndef get_platforms():\n    raise LogicError\n"
    (tmp_path / "pyopencl.py").write_text(fake)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert listed() == []


def test_a_driver_that_pip_has_installed_is_a_file() -> None:
    assert all(Path(library).is_file() for library in bundled())
    assert all(Path(library).is_relative_to(Path(sys.prefix).resolve()) for library in bundled())


@pytest.fixture(scope="module")
def platform() -> Opencl:
    """An OpenCL device of this machine; without one the tests that need it are skipped, with the reason."""
    detection = detect(probe())
    devices = [one for one in detection.found if isinstance(one, Opencl)]
    if not devices:
        pytest.skip(f"there is no OpenCL device: {reason(detection)}")
    return devices[0]


def test_right_kernels_pass_and_wrong_ones_are_caught(platform: Opencl, tmp_path: Path) -> None:
    case = '{"operation":"relu","dtype":"float32","dims":{"x":[3,67]},"tensors":{"x":{"regime":"nan"}},"seed":5}'
    chosen = ("--implementation", "*/opencl/wrong_*,relu/opencl/vectorized", "--platform", platform.name)
    ended = run_pytest("--kernels", MUTANTS / "opencl_kernels.py", "--case", case, *chosen, bundle=tmp_path / "bundle")
    assert {record.implementation: record.verdict for record in ended.records} == {
        "relu/opencl/vectorized": "exact",
        "relu/opencl/wrong_input_overwritten": "input changed",
        "relu/opencl/wrong_last_unwritten": "unwritten",
        "relu/opencl/wrong_nan_dropped": "wrong",
        "relu/opencl/wrong_one_too_many": "out of bounds",
    }
