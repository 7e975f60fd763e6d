"""Is a rung that is slow on purpose noticed, by a count or a ratio of several times; and is what is wrong not timed?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kernels.registry import Catalogue, load
from platforms.accesses import widest
from platforms.cpu import Cpu
from platforms.detect import detect
from platforms.gather import probe
from platforms.opencl import Opencl
from platforms.platform import Platform
from platforms.pool import Pool
from reports.bundle import read_heats
from reports.heat import Heat
from reports.ladder.rungs import rungs
from suites.carryover.fields import fields
from suites.carryover.racing import raced
from suites.meta.cli import run_pytest
from suites.subject import Subject

SLOW = Path(__file__).parent / "slow_kernels"


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load([SLOW])


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(kernels=[SLOW]) as pool:
        yield pool


def raced_on(pool: Pool, catalogue: Catalogue, platform: Platform, *names: str, size: str = "medium") -> Heat:
    """The heat of implementations of relu on ``platform``, over seven rounds or more."""
    own = [catalogue.implementations[f"relu/{name}"] for name in names]
    subjects = [Subject(catalogue.operations["relu"], one, platform) for one in own]
    (field,) = [field for field in fields(subjects) if field.size == size]
    return raced(pool, field, lacking={}, rounds=7)


def standings(heat: Heat) -> dict[str, str]:
    return {rung.arm.implementation: rung.standing for rung in rungs([heat])}


def test_compiled_in_every_call(pool: Pool, catalogue: Catalogue) -> None:
    heat = raced_on(pool, catalogue, Cpu(), "torch/eager", "inductor/compiles_every_time")
    assert {arm.implementation: arm.compilations for arm in heat.arms} == {
        "relu/torch/eager": 0,
        "relu/inductor/compiles_every_time": len(heat.spins),
    }
    assert standings(heat) == {"relu/inductor/compiles_every_time": "slower"}


def test_needless_loads(pool: Pool, catalogue: Catalogue) -> None:
    platform = next((one for one in detect(probe()).found if isinstance(one, Opencl)), None)
    if platform is None:
        pytest.skip("there is no OpenCL device")
    heat = raced_on(pool, catalogue, platform, "opencl/naive", "opencl/vectorized", "opencl/loads_needlessly")
    assert [arm.compilations for arm in heat.arms] == [0, 0, 0]
    assert standings(heat)["relu/opencl/loads_needlessly"] == "slower"


def test_what_is_wrong_is_not_timed(pool: Pool, catalogue: Catalogue) -> None:
    heat = raced_on(pool, catalogue, Cpu(), "torch/in_place", "torch/eager", "torch/unwritten", "torch/right_at_first")
    in_place, eager, unwritten, right_at_first = heat.arms
    assert (in_place.status, in_place.seconds) == ("wrong", ())
    assert "in the memory of input x" in in_place.message
    assert eager.status == "timed"
    assert 7 <= len(eager.seconds) == len(heat.spins) <= 35
    assert (unwritten.status, unwritten.verdict, unwritten.seconds) == ("wrong", "wrong", ())
    assert (right_at_first.status, right_at_first.seconds) == ("wrong", ())
    assert right_at_first.message.startswith(f"after {len(heat.spins)} rounds: ")
    assert set(standings(heat).values()) == {"wrong"}


def test_a_session_ends_with_a_line_a_technique(tmp_path: Path) -> None:
    case = '{"operation":"gemm_bias","dtype":"float32","dims":{"m":3,"n":4,"k":5},"seed":0}'
    chosen = ("--platform", "cpu", "--paradigm", "torch", "--hypothesis-profile", "smoke")
    ended = run_pytest("--timed", "--case", case, *chosen, bundle=tmp_path / "bundle")
    assert ended.status == 0, ended.text
    assert {record.verdict for record in ended.records} <= {"exact", "within"}
    heats = read_heats(tmp_path / "bundle")
    assert [heat.size for heat in heats] == ["filling", "medium", "small"]
    assert [[arm.status for arm in heat.arms] for heat in heats] == [["timed", "timed"]] * 3
    assert "\n- bias in the epilogue: " in ended.text
    assert (tmp_path / "bundle" / "manifest.json").read_text().count('"heats.jsonl"') == 1


@pytest.mark.parametrize("hinted", [True, False])
def test_no_hint_of_alignment_is_counted(catalogue: Catalogue, hinted: bool) -> None:
    triton = pytest.importorskip("triton")
    if "relu/triton/unhinted" not in catalogue.implementations:
        pytest.skip("Triton's kernels are absent")
    kernel = catalogue.implementations["relu/triton/unhinted"].function.__globals__["_contiguous"]
    signature = {"x": "*fp32", "out": "*fp32", "count": "i32", "LOADS": "constexpr", "BLOCK": "constexpr"}
    aligned = {(place,): [["tt.divisibility", 16]] for place in ((0, 1, 2) if hinted else (2,))}
    source = triton.compiler.ASTSource(kernel, signature, {(3,): 0, (4,): 1024}, aligned)
    found = triton.compile(source, target=triton.backends.compiler.GPUTarget("cuda", 80, 32))
    assert widest(found.asm["ptx"]) == (128 if hinted else 32)


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("ld.global.v4.b32 {%r1}; st.global.b32 [%rd1];", 128),
        ("ld.global.L1::evict_last.v2.b64 {%rd1}", 128),
        ("ld.volatile.global.b16 %rs1", 16),
        ("ld.shared.v4.b32 {%r1}", 0),
        ("global_load_dwordx4 v[0:3]", 128),
        ("buffer_store_dword v1", 32),
        ("global_load_b64 v[0:1]", 64),
        ("global_load_ushort v1", 16),
        ("", 0),
    ],
)
def test_widest(text: str, bits: int) -> None:
    assert widest(text) == bits
