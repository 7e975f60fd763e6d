"""Kernels in C++ and in CUDA C++: what they do to memory is seen on every target, and each target has its own teeth."""

from __future__ import annotations

import platform as host
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

import kernels
from golden.case import Case
from golden.inputs import make_inputs
from kernels.registry import load
from kernels.toolchains import cuda
from kernels.toolchains.cache import CACHE
from kernels.toolchains.cxx.build import BuildError, build
from kernels.toolchains.cxx.target import Target
from platforms import cpp, cuda_cpu
from platforms.outcome import Outcome
from platforms.platform import Platform
from platforms.pool import Pool
from platforms.probe import Probe
from platforms.tools import COMPILERS, CROSS, TOOLS
from suites.meta.cli import MUTANTS

HERE = Probe(torch_version="here", machine=host.machine(), tools=tuple(name for name in TOOLS if shutil.which(name)))
PLATFORMS = {
    one.name: one
    for one in (*cpp.find(HERE, ()), *cuda_cpu.find(HERE, ()))
    if isinstance(one, Platform) and one.name != "cpp-x86-64"
}
NATIVE = [name for name in PLATFORMS if name == "cpp-native"]
EMULATED = [name for name in PLATFORMS if name.startswith("qemu-")]
CPP = NATIVE + EMULATED
FIBERS = ["cuda-cpu", "cuda-cpu-reversed"]

needs_compiler = pytest.mark.skipif(not NATIVE, reason=f"needs a C++ compiler, one of {', '.join(COMPILERS)}")
needs_s390x = pytest.mark.skipif("qemu-s390x" not in EMULATED, reason="needs qemu and a compiler for s390x")
needs_aarch64 = pytest.mark.skipif("qemu-aarch64" not in EMULATED, reason="needs qemu and a compiler for aarch64")

OPERATIONS = Path(kernels.__file__).parent
AMDGPU = 224
"""The machine of such code, as ELF numbers them."""

RELU = '{"operation":"relu","dtype":"%s","dims":{"x":[3,7]},"tensors":{"x":{"layout":"padded3+offset5"}},"seed":5}'
PRODUCT = (
    '{"operation":"dequant_gemm","dtype":"float16","dims":{"m":2,"n":5,"k":96},'
    '"params":{"bits":8,"group_size":32},"seed":5}'
)
SUM = '{"operation":"sum","dtype":"float32","dims":{"x":[2,64]},"params":{"dim":-1},"seed":5}'


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(kernels=[MUTANTS / f"{name}.py" for name in ("cpp_kernels", "cuda_changed", "cuda_kernels")]) as pool:
        yield pool


def run(pool: Pool, name: str, implementation: str, line: str) -> Outcome:
    return pool.run(PLATFORMS[name], implementation, Case.parse(line))


def expected(line: str) -> np.ndarray:
    """The result in float64, for dtypes that NumPy has."""
    case = Case.parse(line)
    x = make_inputs(case, load().operations[case.operation].forms(case))["x"]
    return np.maximum(x, 0) if case.operation == "relu" else x.astype(np.float64).sum(-1)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int32", "int8"])
@pytest.mark.parametrize("name", CPP)
def test_every_dtype_arrives_and_comes_back_as_it_is(pool: Pool, name: str, dtype: str) -> None:
    outcome = run(pool, name, "relu/cpp/flat", RELU % dtype)
    assert (outcome.status, outcome.damage) == ("returned", ()), outcome.message
    np.testing.assert_array_equal(outcome.output, expected(RELU % dtype))


@pytest.mark.parametrize(
    ("mutant", "kind", "detail"),
    [
        ("one_past_the_end", "out of bounds", "1 element after an allocated float32 tensor of shape (3, 7), first 0"),
        ("input_overwritten", "input changed", "of input x, first x[0, "),
        ("rest_unwritten", "unwritten", "1 of 21 output elements, first [2, 6]"),
    ],
)
@pytest.mark.parametrize("name", CPP)
def test_damage_is_seen_on_every_target(pool: Pool, name: str, mutant: str, kind: str, detail: str) -> None:
    damage = run(pool, name, f"relu/cpp/wrong_{mutant}", RELU % "float32").damage
    assert [one.kind for one in damage] == [kind]
    assert detail in damage[0].detail


@needs_s390x
@needs_compiler
def test_a_kernel_that_assumes_an_order_of_bytes_is_wrong_where_it_is_another(pool: Pool) -> None:
    line = RELU % "float32"
    here, there = (run(pool, name, "relu/cpp/wrong_sign_in_the_last_byte", line) for name in (*NATIVE, "qemu-s390x"))
    np.testing.assert_array_equal(here.output, expected(line))
    assert there.status == "returned"
    assert not np.array_equal(there.output, expected(line))  # type: ignore[arg-type]


@needs_aarch64
@pytest.mark.skipif(host.machine() != "x86_64", reason="needs a machine on which char is signed")
def test_a_kernel_that_assumes_a_signed_char_is_wrong_where_it_is_not(pool: Pool) -> None:
    line = RELU % "int8"
    here, there = (run(pool, name, "relu/cpp/wrong_char_taken_for_signed", line) for name in (*NATIVE, "qemu-aarch64"))
    np.testing.assert_array_equal(here.output, expected(line))
    assert not np.array_equal(there.output, expected(line))  # type: ignore[arg-type]


@needs_compiler
def test_a_missing_barrier_shows_when_fibers_take_turns_in_the_other_order(pool: Pool) -> None:
    mutant = "sum/cuda/wrong_barrier_missing"
    forward, backward = (run(pool, name, mutant, SUM).output for name in FIBERS)
    np.testing.assert_allclose(forward, expected(SUM), rtol=1e-5)  # type: ignore[arg-type]
    assert not np.allclose(backward, expected(SUM), rtol=1e-2)  # type: ignore[arg-type]


@needs_compiler
@pytest.mark.parametrize("rung", ["naive", "shared_tree", "warp_shuffles"])
@pytest.mark.parametrize("name", FIBERS)
def test_kernels_that_wait_are_right_in_either_order(pool: Pool, name: str, rung: str) -> None:
    output = run(pool, name, f"sum/cuda/{rung}", SUM).output
    np.testing.assert_allclose(output, expected(SUM), rtol=1e-5)  # type: ignore[arg-type]


@needs_compiler
@pytest.mark.parametrize(
    ("mutant", "shown"),
    [
        ("few_rows", []),
        ("wrong_copy_not_awaited", ["cuda-cpu"]),  # the others make copies at once
        ("wrong_groups_of_no_slice", ["cuda-cpu", "cuda-cpu-reversed"]),
    ],
)
def test_copies_that_are_not_waited_for_show_where_they_are_made_late(
    pool: Pool, mutant: str, shown: list[str]
) -> None:
    right = run(pool, "cuda-cpu", "dequant_gemm/cuda/naive", PRODUCT).output
    outputs = {name: run(pool, name, f"dequant_gemm/cuda/{mutant}", PRODUCT).output for name in FIBERS}
    assert [name for name, output in outputs.items() if not np.allclose(output, right, rtol=1e-2)] == shown  # type: ignore[arg-type]


@needs_compiler
@pytest.mark.parametrize(
    ("mutant", "message"),
    [
        ("barrier_divergent", "threads of a block wait at different barriers: line 30 and 32"),
        ("lanes_missing", "threads wait for others of their block that never come"),
    ],
)
def test_threads_that_wait_for_nobody_are_told(pool: Pool, mutant: str, message: str) -> None:
    outcome = run(pool, "cuda-cpu", f"sum/cuda/wrong_{mutant}", SUM)
    assert outcome.status == "raised"
    assert message in outcome.message


@needs_compiler
def test_a_build_is_made_once_and_anew_when_its_source_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    source, command = tmp_path / "one.cpp", [HERE.tools[0], "-shared", "-fPIC"]
    source.write_text("int one() { return 1; }")
    first = build([source], command)
    time = first.stat().st_mtime_ns
    assert (build([source], command), first.stat().st_mtime_ns) == (first, time)
    source.write_text("int one() { return 2; }")
    assert build([source], command) != first
    source.write_text("int one() { return; }")
    with pytest.raises(BuildError, match="exit code 1"):
        build([source], command)


def test_device_code_needs_no_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE, str(tmp_path))
    source = tmp_path / "empty.cu"
    source.write_text("__global__ void empty() {}\n")
    try:
        cuda.nvcc()
    except BuildError as missing:
        pytest.skip(str(missing))
    assert cuda.device_code(source, "sm_90").read_bytes()[:4] == b"\x7fELF"
    with pytest.raises(BuildError, match="sm_1"):
        cuda.device_code(source, "sm_1")


def test_a_clang_without_its_linker_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clang = tmp_path / "clang"
    clang.write_text("#!/bin/sh\necho lld\n")
    clang.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BuildError, match="no clang with its linker on PATH"):
        cuda.clang()
    (tmp_path / "lld").symlink_to(clang)
    assert cuda.clang() == "clang"


@pytest.mark.parametrize("source", sorted(OPERATIONS.glob("*/cuda.cu")), ids=lambda path: path.parent.name)
def test_every_cuda_source_compiles_for_gpus_that_nvcc_does_not_know(source: Path) -> None:
    try:
        cuda.clang()
    except BuildError as missing:
        pytest.skip(str(missing))
    code = cuda.device_code(source, "gfx942").read_bytes()
    assert code[:4] == b"\x7fELF"
    assert int.from_bytes(code[18:20], "little") == AMDGPU
    names = set(re.findall(r"__global__ void(?: __launch_bounds__\(.*\))?\s+(\w+)", source.read_text()))
    assert {name for name in names if f"{len(name)}{name}".encode() in code} == names


def test_a_target_survives_json_and_nothing_else_is_one() -> None:
    target = Target((CROSS["s390x"], "-O3"), ("qemu-s390x",), "big")
    assert Target.from_json(target.to_json()) == target
    with pytest.raises(ValueError, match="not a target"):
        Target.from_json('{"compiler": 3}')


def test_storages_that_are_too_large_to_send_are_refused() -> None:
    from kernels.toolchains.cxx import emulated

    x = torch.empty(emulated.LARGEST + 1, dtype=torch.uint8)
    with pytest.raises(MemoryError, match="256 MiB"):
        emulated.call(Path("no program"), Target(("c++",), ("qemu",)), "flat", [x], (), ())
