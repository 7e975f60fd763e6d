"""Does a sanitizer see what leaves no trace, blame no kernel that is right, and say where it cannot be had?"""

from __future__ import annotations

from pathlib import Path

import pytest

from platforms import cxx_sanitizer
from platforms.cpp import Cpp, compiled
from platforms.detect import Detection, sanitized
from platforms.interpreter import Interpreter
from platforms.vendors import nvidia_sanitizer
from platforms.vendors.nvidia import Nvidia
from reports.record import outcome
from suites.meta.cli import MUTANTS, Finished, run_pytest

UNSEEN = ("--kernels", MUTANTS / "unseen.py", "--implementation", "relu/cpp/*,relu/cuda/*")
HERE = ("--platform", "cpp-native,cuda-cpu", "--hypothesis-profile", "smoke")

THERE = isinstance(Cpp(name="cpp-native", environment=compiled("g++")).sanitized(), Cpp)

needs_compiler = pytest.mark.skipif(not THERE, reason="needs g++ with its sanitizers")

ADDRESS = """==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x5 at pc 0x1 bp 0x2 sp 0x3
WRITE of size 8 at 0x5 thread T0
    #0 0x1a2b in void flat<double>(Tensor const&, double*, long) /kernels/relu/cpp.cpp:14
    #1 0x1a2c in kernel_flat /kernels/relu/cpp.cpp:25
"""
UNDEFINED = "/kernels/relu/cpp.cpp:14:9: runtime error: shift exponent 70 is too large for 64-bit type 'long int'\n"
DEVICE = """========= COMPUTE-SANITIZER
========= Invalid __global__ read of size 4 bytes
=========     at void flat<float>(View<const float>, float *, long)+0x150 in cuda.cu:14
=========     by thread (63,0,0) in block (0,0,0)
=========     Address 0x7f0000000100 is out of bounds
========= Invalid __global__ read of size 4 bytes
=========     at void flat<float>(View<const float>, float *, long)+0x150 in cuda.cu:14
=========     by thread (62,0,0) in block (0,0,0)
"""


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """One run of kernels that leave no trace, and of correct ones, with a sanitizer."""
    return run_pytest(*UNSEEN, *HERE, "--sanitize", bundle=tmp_path_factory.mktemp("watched") / "bundle")


@needs_compiler
def test_what_leaves_no_trace_is_seen(watched: Finished) -> None:
    assert {name: (one.verdict, one.message.split(":")[0]) for name, one in watched.failures().items()} == {
        "relu/cpp/breaks_integers": ("undefined", "UndefinedBehaviorSanitizer"),
        "relu/cpp/breaks_reading": ("out of bounds", "AddressSanitizer"),
        "relu/cuda/breaks_shared": ("out of bounds", "AddressSanitizer"),
    }, watched.text


@needs_compiler
def test_the_place_is_named_and_the_case_replays_with_the_sanitizer(watched: Finished) -> None:
    assert "READ of size 4 in prefetching unseen.cpp:11" in watched.failures()["relu/cpp/breaks_reading"].message
    assert f"--kernels={MUTANTS / 'unseen.py'} --sanitize" in watched.text


@needs_compiler
def test_correct_kernels_are_not_blamed(watched: Finished) -> None:
    right = [record for record in watched.records if "/breaks_" not in record.implementation]
    assert {outcome(record) for record in right} == {"pass"}
    assert len({record.implementation for record in right}) == 6


@needs_compiler
def test_nothing_else_sees_it(tmp_path: Path) -> None:
    assert run_pytest(*UNSEEN, *HERE, bundle=tmp_path / "bundle").failures() == {}


def test_a_platform_without_one_is_absent_and_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    emulated = Cpp(name="qemu-s390x", environment=compiled("s390x-linux-gnu-g++", emulator=("qemu-s390x",)))
    elsewhere = Cpp(name="cpp-native", environment=compiled("c++-without"))
    detection = Detection([emulated, elsewhere, Interpreter(), Nvidia()], [("amd", "no device")])
    assert sanitized(detection) == Detection([], [
        ("amd", "no device"),
        ("qemu-s390x", "qemu-s390x runs its programs, which no sanitizer is linked into"),
        ("cpp-native", "c++-without has no libasan.so, no libstdc++.so"),
        ("interpreter", "platform interpreter checks every access in every run"),
        ("nvidia", "there is no compute-sanitizer, neither on PATH nor in CUDA_HOME or /usr/local/cuda"),
    ])  # fmt: skip


def test_a_device_is_watched_by_the_command_that_starts_its_worker(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    command = tmp_path / "bin" / "compute-sanitizer"
    command.parent.mkdir()
    command.touch()
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    platform = Nvidia().sanitized()
    assert isinstance(platform, Nvidia)
    assert platform.launcher[:2] == (str(command), "--tool=memcheck")
    assert (platform.start_method, platform.name, platform.sanitizer) == ("spawn", "nvidia", "compute-sanitizer")
    assert platform.environment["PYTORCH_NO_CUDA_MEMORY_CACHING"] == "1"


def test_reports_are_understood() -> None:
    assert [(one.kind, one.detail) for one in cxx_sanitizer.told(UNDEFINED + ADDRESS)] == [
        (
            "out of bounds",
            "AddressSanitizer: heap-buffer-overflow, WRITE of size 8 in "
            "void flat<double>(Tensor const&, double*, long) cpp.cpp:14",
        ),
        (
            "undefined",
            "UndefinedBehaviorSanitizer: shift exponent 70 is too large for 64-bit type 'long int' in cpp.cpp:14",
        ),
    ]
    assert [(one.kind, one.detail) for one in nvidia_sanitizer.told(DEVICE)] == [
        (
            "out of bounds",
            "compute-sanitizer: Invalid __global__ read of size 4 bytes in "
            "void flat<float>(View<const float>, float *, long)+0x150 in cuda.cu:14",
        )
    ]
    assert not [*cxx_sanitizer.told(""), *nvidia_sanitizer.told("========= ERROR SUMMARY: 0 errors\n")]
