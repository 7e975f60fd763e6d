"""Vendors' compilers, none of which is here: what they would be told, by stand-ins that write it down and compile."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import kernels
from kernels.toolchains import native
from kernels.toolchains.cache import CACHE
from kernels.toolchains.compiler import DIALECTS, NVCC, Compiler
from kernels.toolchains.cxx.build import INCLUDE, BuildError
from kernels.toolchains.native import VARIABLE, NativeSource, bring, chosen, compiler, library
from platforms.native_trial import lacking_in_native
from platforms.vendors import VENDORS
from platforms.vendors.metax import Metax

SOURCES = Path(__file__).parent / "native_sources"
OWN = {one.vendor.name: one.vendor.compiler for one in VENDORS if one.vendor.compiler}
"""The vendors that have a compiler of their own."""

COMPILERS: dict[str, Compiler] = {"nvidia": NVCC, **OWN}
ARCHITECTURES = {"metax": "", "mthreads": "mp_31", "cambricon": "compute_50"}
HOMES = {
    "nvidia": ("CUDA_HOME", "bin/nvcc"),
    "amd": ("ROCM_PATH", "bin/hipcc"),
    "hygon": ("DTK_ROOT", "bin/hipcc"),
    "metax": ("MACA_PATH", "mxgpu_llvm/bin/mxcc"),
    "mthreads": ("MUSA_HOME", "bin/mcc"),
    "cambricon": ("NEUWARE_HOME", "bin/cncc"),
}
TOLD = {
    "nvidia": "-O3 -std=c++17 -x cu -arch=sm_90 -shared -Xcompiler -fPIC",
    "amd": "-O3 -std=c++17 -x hip --offload-arch=gfx942 -shared -fPIC",
    "hygon": "-O3 -std=c++17 -x hip --offload-arch=gfx936 -shared -fPIC",
    "metax": "-O3 -std=c++17 -x maca -shared -fPIC --maca-path=HOME",
    "mthreads": "-O3 -std=c++17 -x musa --offload-arch=mp_31 -shared -fPIC "
    "-IHOME/include -LHOME/lib -Wl,--no-as-needed -lmusart",
    "cambricon": "-O3 -std=c++17 --bang-arch=compute_50 --shared -fPIC "
    "-IHOME/include -LHOME/lib64 -Wl,--no-as-needed -lcnrt -lstdc++",
}
STREAM = 4096
DEVICES: dict[str, tuple[str, str, Any]] = {
    "nvidia": ("cuda", "get_device_capability", (9, 0)),
    "amd": ("cuda", "get_device_properties", SimpleNamespace(gcnArchName="gfx942:sramecc+:xnack-")),
    "hygon": ("cuda", "get_device_properties", SimpleNamespace(gcnArchName="gfx936:sramecc+:xnack-")),
    "metax": ("cuda", "get_device_capability", (8, 0)),
    "mthreads": ("musa", "get_device_capability", (3, 1)),
    "cambricon": ("mlu", "get_device_capability", (5, 0)),
}
"""The type of a vendor's devices in torch, and how one of them answers about its architecture."""

# It stands for every compiler: what it was told, and a library for the processor of the source that lies beside it.
STAND_IN = """#!{python}
import json, pathlib, subprocess, sys
told = sys.argv[1:]
if told == ["--version"]:
    sys.exit(print("stand-in {compiler}"))
pathlib.Path({record!r}).write_text(json.dumps(told))
out = told[told.index("-o") + 1]
sys.exit(subprocess.call(["g++", "-std=c++17", "-shared", "-fPIC", "-I{include}", {source!r}, "-o", out]))
"""


class Toolkit:
    """A vendor's toolkit with a stand-in for its compiler, named by its variable, beside a PATH without one."""

    def __init__(self, folder: Path, vendor: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home, self.record = folder / "toolkit", folder / "told.json"
        self.variable, within = HOMES[vendor]
        self.compiler = self.home / within
        self.compiler.parent.mkdir(parents=True)
        source = SOURCES / "stand_in.cpp"
        self.compiler.write_text(
            STAND_IN.format(
                python=sys.executable,
                compiler=self.compiler.name,
                record=str(self.record),
                include=INCLUDE,
                source=str(source),
            )
        )
        self.compiler.chmod(0o755)
        monkeypatch.setenv(CACHE, str(folder / "cache"))
        monkeypatch.setenv(self.variable, str(self.home))

    def told(self) -> list[str]:
        """What the compiler was told, without the headers of every build, the source and the output."""
        said: list[str] = json.loads(self.record.read_text())
        assert (said[-4], said[-2]) == (f"-I{INCLUDE}", "-o")
        return said[:-4]


@pytest.fixture(autouse=True)
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has been brought no compiler yet, and forgets afterwards which it was brought."""
    monkeypatch.setattr(native, "_COMPILERS", {"cuda": NVCC})
    monkeypatch.setenv(VARIABLE, "cuda")


@pytest.fixture(params=list(COMPILERS))
def vendor(request: pytest.FixtureRequest) -> str:
    bring(COMPILERS[request.param])
    return str(request.param)


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine that has no vendor's compiler, whatever this one has."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("g++", "as", "ld"):
        (tools / name).symlink_to(shutil.which(name) or pytest.skip(f"needs {name}"))
    monkeypatch.setenv("PATH", str(tools))
    for one in COMPILERS.values():
        for variable in one.home:
            monkeypatch.delenv(variable, raising=False)


@dataclass(frozen=True)
class Device:
    type: str
    index: int = 0


class Elsewhere:
    """A tensor that says it is on another device; its memory is the processor's."""

    def __init__(self, tensor: torch.Tensor, device: Device) -> None:
        self.tensor, self.device = tensor, device

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tensor, name)


def device_of(vendor: str, monkeypatch: pytest.MonkeyPatch) -> Device:
    """A device of the vendor, which torch knows as far as a source asks of it."""
    kind, answer, value = DEVICES[vendor]
    stream = SimpleNamespace(**{f"{kind}_stream": STREAM})
    namespace = SimpleNamespace(current_device=lambda: 0, current_stream=lambda: stream)
    setattr(namespace, answer, lambda device: value)
    monkeypatch.setattr(torch, kind, namespace, raising=False)
    return Device(kind)


def test_a_compiler_is_told_what_its_vendor_says_and_what_it_makes_is_called(
    bare: None, vendor: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toolkit, one = Toolkit(tmp_path, vendor, monkeypatch), COMPILERS[vendor]
    device = device_of(vendor, monkeypatch)
    source = tmp_path / "kernels.py"
    source.with_suffix(one.suffix).write_text("// what the stand-in does not read\n")
    numbers = torch.tensor([1.5, -2.0]), torch.zeros(2), torch.zeros(1, dtype=torch.int64)
    NativeSource(source, one.paradigm).call("doubled", *[Elsewhere(one, device) for one in numbers])  # type: ignore[misc]
    assert toolkit.told() == TOLD[vendor].replace("HOME", str(toolkit.home)).split()
    assert numbers[1].tolist() == [3.0, -4.0]
    assert numbers[2].tolist() == [STREAM]


@pytest.mark.parametrize("vendor", ["metax", "mthreads", "cambricon"])
def test_a_toolkit_that_nobody_names_is_where_the_compiler_on_path_lies(
    bare: None, vendor: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(COMPILERS[vendor])
    toolkit = Toolkit(tmp_path, vendor, monkeypatch)
    monkeypatch.delenv(toolkit.variable)
    (tmp_path / "tools" / toolkit.compiler.name).symlink_to(toolkit.compiler)
    source = tmp_path / "kernels.other"
    source.write_text("")
    library(source, COMPILERS[vendor].paradigm, ARCHITECTURES[vendor])
    assert toolkit.told() == TOLD[vendor].replace("HOME", str(toolkit.home)).split()


def test_another_program_of_the_same_name_is_not_taken_for_the_compiler(
    bare: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(COMPILERS["mthreads"])
    toolkit = Toolkit(tmp_path, "mthreads", monkeypatch)
    clashing = tmp_path / "tools" / "mcc"
    clashing.write_text("#!/bin/sh\n")
    clashing.chmod(0o755)
    assert compiler("musa") == str(toolkit.compiler)
    monkeypatch.delenv(toolkit.variable)
    assert compiler("musa") == str(clashing)


@pytest.mark.parametrize("vendor", ["amd", "hygon", "metax", "mthreads"])
def test_cuda_sources_are_read_through_the_header_of_the_paradigm(
    bare: None, vendor: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = COMPILERS[vendor]
    bring(one)
    toolkit = Toolkit(tmp_path, vendor, monkeypatch)
    source = tmp_path / "cuda.cu"
    source.write_text("")
    library(source, chosen(), ARCHITECTURES.get(vendor, "gfx936"))
    assert toolkit.told()[-3:] == [f"-I{DIALECTS}", "-include", str(DIALECTS / f"{one.paradigm}.hpp")]


def test_a_compiler_that_is_missing_is_one_reason_that_says_what_helps(
    bare: None, vendor: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = replace(COMPILERS[vendor], folder=str(tmp_path / "nowhere"))
    bring(one)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    places = f"{', '.join(one.home)}, on PATH, in {one.folder}{' or a package of pip' if one.package else ''}"
    device = device_of(vendor, monkeypatch)
    with pytest.raises(BuildError) as raised:
        NativeSource(__file__, one.paradigm).call("doubled", Elsewhere(torch.zeros(1), device))  # type: ignore[arg-type]
    assert str(raised.value) == (
        f"there is no {' or '.join(one.names)}: not in {places}; "
        f"install the vendor's toolkit, or name its folder: export {one.home[0]}=..."
    )


def test_a_paradigm_whose_compiler_nobody_has_brought_is_named_when_a_source_is_called() -> None:
    source = NativeSource(__file__, "tops")
    with pytest.raises(BuildError, match=r"no compiler is known for 'tops', but for cuda; the platform of a vendor"):
        source.call("doubled", torch.zeros(1))


@pytest.mark.parametrize("kind", [one for one in VENDORS if one.vendor.compiler], ids=lambda one: one.vendor.name)
def test_a_vendor_runs_its_own_paradigm_and_tries_it(kind: Any) -> None:
    one = kind.vendor.compiler
    bring(one)
    assert one.paradigm in kind().paradigms
    assert list(lacking_in_native(one, "cpu")) == [one.paradigm], "on a processor nothing of it runs, for one reason"


def test_a_vendor_has_cuda_sources_compiled_by_its_own_compiler() -> None:
    Metax().prepare()
    assert chosen() == "maca"


@pytest.mark.parametrize("vendor", COMPILERS)
def test_all_that_a_compiler_is_told_has_a_source_or_is_called_a_guess(vendor: str) -> None:
    one = COMPILERS[vendor]
    sourced = [flag.rstrip(",") for flag in " ".join(one.sources).split()]
    assert set(one.told().split()) <= set(sourced)
    assert all(one.sources.values())


SHUFFLES = {
    "hip": "template <typename T> __device__ T __shfl(T, int, int);\n"
    "template <typename T> __device__ T __shfl_xor(T, int, int);\n"
    "hipError_t hipGetLastError();\nconst char *hipGetErrorString(hipError_t);\n",
    "maca": "PORTOLAN_RUNTIME(mc)\nPORTOLAN_SHUFFLES(unsigned long long)\n",
    "musa": "PORTOLAN_RUNTIME(musa)\nPORTOLAN_SHUFFLES(unsigned)\n",
}
RUNTIMES = {"hip": "hip/hip_runtime.h", "maca": "mc_runtime.h", "musa": "musa_runtime.h"}
CLANG = shutil.which("clang-19") or shutil.which("clang")


@pytest.mark.skipif(not CLANG, reason="needs clang")
@pytest.mark.parametrize("paradigm", ["hip", "maca", "musa"])
@pytest.mark.parametrize("operation", ["attention", "dequant_gemm"])
def test_sources_of_the_catalogue_mean_something_under_the_names_of_another_runtime(
    operation: str, paradigm: str, tmp_path: Path
) -> None:
    """Clang reads them for the host, with declarations that stand for the runtime: nothing is known of its compiler."""
    runtime = tmp_path / RUNTIMES[paradigm]
    runtime.parent.mkdir(exist_ok=True)
    runtime.write_text(f'#pragma once\n#include "{SOURCES / "runtime.hpp"}"\n{SHUFFLES[paradigm]}')
    source = Path(kernels.__file__).parent / operation / "cuda.cu"
    ended = read(source, paradigm, [f"-I{tmp_path}", *(() if paradigm == "hip" else ("-U__HIP__",))])
    assert ended.returncode == 0, ended.stderr[:2000]


def read(source: Path, paradigm: str, more: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """What clang, as a compiler of HIP for the host alone, says of ``source`` read through a paradigm's header."""
    dialect = shlex.split(f"-I{DIALECTS} -include {DIALECTS / f'{paradigm}.hpp'} -I{INCLUDE}")
    flags = shlex.split("-x hip --cuda-host-only -nogpuinc -nogpulib -fsyntax-only -std=c++17")
    return subprocess.run(
        [str(CLANG), *flags, *more, *dialect, str(source)], capture_output=True, text=True, check=False
    )
