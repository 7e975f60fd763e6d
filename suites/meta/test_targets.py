"""What is said of hardware that is not here: what fits, what compiles, what its code uses, and what nobody knows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kernels.registry import Catalogue, load
from kernels.toolchains.cuda import nvcc
from kernels.toolchains.cxx.build import BuildError
from platforms.targets.architecture import ARCHITECTURES
from platforms.targets.reading import Reading, memory

pytest.importorskip("triton", reason="what compiles for absent hardware here is Triton")

from platforms.targets import command, launches, triton_builds, triton_reading
from platforms.targets.audit import Audit, Compiled, Use, audit, merged
from platforms.targets.cards import absent, misfits
from platforms.targets.contrast import contrast, told
from platforms.targets.cuda_builds import reached
from platforms.targets.known import Known
from platforms.targets.table import cells, remarks, summary
from platforms.targets.triton_builds import Launch

ROOT = Path(__file__).parents[2]
_KERNELS = Path(__file__).parent / "portable_kernels"


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load([_KERNELS])


def audited(catalogue: Catalogue, known: Path, name: str, *targets: str, **more: Any) -> Audit:
    """Return the audit of one kernel for ``targets``, with what was read before in the folder ``known``."""
    architectures = [ARCHITECTURES[one] for one in targets]
    return audit(catalogue, architectures=architectures, patterns=[name], jobs=2, known=Known(known), **more)


def readings(made: Audit) -> dict[str, Reading]:
    """Return the readings of the one launch of ``made`` by architecture."""
    (one,) = made.compiled.values()
    return one.readings


def test_shared_memory_is_held_against_each_architecture(catalogue: Catalogue, tmp_path: Path) -> None:
    made = audited(catalogue, tmp_path, "gemm/triton/four_stages", "sm_80", "sm_90", "gfx942")
    found = readings(made)
    assert {name: one.verdict for name, one in found.items()} == {
        "sm_80": "compiles",
        "sm_90": "compiles",
        "gfx942": "does not fit",
    }
    assert found["sm_80"].shared == found["gfx942"].shared == 98304
    assert "98304 bytes of shared memory: fits sm_80, not gfx942 (65536)" in memory(found.values())
    assert [found[name].matrix for name in ("sm_80", "sm_90", "gfx942")] == [("mma",), ("wgmma",), ("mfma",)]
    assert [(found[name].lanes, found[name].threads) for name in ("sm_80", "gfx942")] == [(32, 128), (64, 256)]
    assert "cp.async" in found["sm_80"].copies
    assert list(cells(made)) == [["gemm/triton/four_stages", "float16", "mma", "wgmma", "does not fit"]]
    assert any("not gfx942 (65536)" in line for line in remarks(made))
    assert list(told(made, "sm_80", "gfx942"))[:2] == [
        "32 lanes a wave on sm_80, 64 on gfx942",
        "98304 bytes of shared memory: fits sm_80, not gfx942 (65536): gemm/triton/four_stages float16",
    ]


def test_what_an_architecture_lacks_is_an_error_or_a_fallback(catalogue: Catalogue, tmp_path: Path) -> None:
    made = audited(catalogue, tmp_path, "gemm/triton/rounded", "sm_75", "sm_80", "gfx950")
    found = readings(made)
    assert found["sm_75"].dots
    assert found["sm_75"].findings[-1] == "no matrix instruction: products by FMA"
    assert found["sm_80"].matrix == ("mma",)
    assert found["gfx950"].verdict == "does not compile"
    assert "tf32" in found["gfx950"].error
    # compiles, does not fit, does not compile, not known; spills; with matrix units; by FMA instead
    assert [row[:8] for row in summary(made)] == [
        ["sm_75", 1, 0, 0, 0, bool(found["sm_75"].spills), 0, 1],
        ["sm_80", 1, 0, 0, 0, 0, 1, 0],
        ["gfx950", 0, 0, 1, 0, 0, 0, 0],
    ]
    assert "tensor cores (mma) on sm_80, plain FMA on sm_75: gemm/triton/rounded float32" in told(
        made, "sm_80", "sm_75"
    )
    assert any(line.startswith("compiles for sm_80, not for gfx950: ") for line in told(made, "gfx950", "sm_80"))


def test_a_tile_too_tall_for_the_registers_of_an_architecture_spills_there(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    made = audited(catalogue, tmp_path, "attention/triton/tall", "sm_80", "gfx1100")
    found = readings(made)
    assert found["sm_80"].spills == 0
    assert found["gfx1100"].spills
    assert found["gfx1100"].matrix == ("wmma",)
    assert found["gfx1100"].findings == (f"{found['gfx1100'].spills} register spills",)
    (spilled,) = [line for line in told(made, "sm_80", "gfx1100") if "spills" in line]
    assert spilled == f"{found['gfx1100'].findings[0]} on gfx1100, none on sm_80: attention/triton/tall float16"


def test_kernels_in_cuda(catalogue: Catalogue, tmp_path: Path) -> None:
    nvcc_or_skip()
    made = audited(catalogue, tmp_path, "gemm/cuda/units", "sm_75", "sm_80")
    found = readings(made)
    assert found["sm_80"].matrix == ("mma",)
    assert found["sm_80"].registers
    assert found["sm_75"].findings == ("no matrix instruction: products by FMA",)


def test_kernels_that_an_entry_launches_are_read_off_the_source() -> None:
    text = """
template <typename T>
__global__ void __launch_bounds__(128) by_block(T *out) {
    const int naive = 0;  // tiled
}

template <typename R>
const char *normalized(const Call &call) {
    return launch(by_block<float, R>, 1, 32, call.stream);
}

ENTRY(naive, call) { return normalized<Tree>(call); }

ENTRY(tiled, call) {
    return launch(other<float>, 1, 32, call.stream);
}
"""
    assert {"by_block", "Tree", "normalized"} <= reached(text, "naive")
    assert not {"other", "tiled"} & reached(text, "naive")
    assert "other" in reached(text, "tiled")
    assert not {"by_block", "Tree"} & reached(text, "tiled")


@pytest.mark.parametrize(
    ("target", "dtype", "verdict", "said"),
    [
        ("sm_80", "float8_e4m3", "does not compile", "its library does not have for sm_80"),
        ("sm_89", "float8_e4m3", "compiles", "e4m3"),
        ("gfx90a", "float8_e4m3fn", "does not compile", "_mfma_f32_16x16x32_fp8_fp8, which gfx90a does not have"),
    ],
)
def test_code_that_an_architecture_cannot_run_is_no_code(target: str, dtype: str, verdict: str, said: str) -> None:
    pytest.importorskip("tilelang", reason="a program in TileLang")
    if target.startswith("sm"):
        nvcc_or_skip()
    from platforms.targets import tilelang_reading
    from suites.meta import eight_bits

    found = tilelang_reading.read(eight_bits.product(dtype), ARCHITECTURES[target])
    assert found.verdict == verdict
    assert said in f"{found.error} {' '.join(found.kinds)}"


def nvcc_or_skip() -> None:
    """Skip a test that needs nvcc where it is not here."""
    try:
        nvcc()
    except BuildError as error:
        pytest.skip(str(error))


def test_nothing_is_compiled_twice(catalogue: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = audited(catalogue, tmp_path, "gemm/triton/rounded", "sm_80")
    monkeypatch.setattr(triton_reading, "read", lambda *_: os._exit(9))
    again = audited(catalogue, tmp_path, "gemm/triton/rounded", "sm_80")
    assert again.to_value() == first.to_value()
    assert Audit.from_value(again.to_value()).to_value() == first.to_value()


def test_nobody_is_called_twice(catalogue: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is launched is known from sources that are as they were, and what is not compiled yet is found again."""
    first = audited(catalogue, tmp_path, "gemm/triton/rounded", "sm_80")
    calls: list[str] = []
    called = triton_builds.called

    def counted(*asked: Any, **more: Any) -> None:
        calls.append(asked[1].id)
        called(*asked, **more)

    monkeypatch.setattr(triton_builds, "called", counted)
    for file in tmp_path.glob("targets-*"):
        file.unlink()
    again = audited(catalogue, tmp_path, "gemm/triton/rounded", "sm_80")
    assert calls == []  # but by the worker that compiles
    assert [(use.key, use.grid) for use in again.uses] == [(use.key, use.grid) for use in first.uses]
    assert readings(again)["sm_80"].matrix == ("mma",)


def test_other_sources_are_asked_anew(tmp_path: Path) -> None:
    def state(text: str) -> str:
        file = tmp_path / "mine.py"
        file.write_text(text)
        launches._state.cache_clear()
        launches._digest.cache_clear()
        return launches._state(str(file))

    first = state("BLOCK = 64\n")
    assert state("BLOCK = 64\n") == first
    assert state("BLOCK = 128\n") != first


def test_a_compiler_that_dies_or_does_not_end_is_said_and_the_rest_goes_on(
    catalogue: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def moody(launch: object, one: object) -> Reading:
        name = getattr(one, "name", "")
        if name == "sm_80":
            os._exit(9)
        if name == "sm_90":
            time.sleep(60)
        return Reading(target=name, shared=0)

    monkeypatch.setattr(triton_reading, "read", moody)
    found = readings(audited(catalogue, tmp_path, "gemm/triton/rounded", "sm_80", "sm_90", "sm_120", time_limit=0.5))
    assert found["sm_80"].error == "the compiler ended its process with 9"
    assert found["sm_90"].verdict == "not known"
    assert found["sm_90"].unfinished == "not compiled within 0.5 s"
    assert found["sm_120"].verdict == "compiles"


KILLED = """
import os, signal, sys, time
from platforms.targets.architecture import ARCHITECTURES
from platforms.targets.reading import Reading
from platforms.targets.workers import compiled

class Build:
    def read(self, one):
        print(os.getpid(), flush=True)
        return Reading(target=one.name, shared=0)

found = compiled([(Build(), ARCHITECTURES["sm_80"])] * 3, jobs=2, time_limit=60)
next(found)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_no_compiler_outlives_whoever_asked() -> None:
    """Their end of the pipe is held by each other, so that nothing is to be read from it when the asker is killed."""
    asked = [sys.executable, "-c", KILLED]
    ended = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    compilers = {int(line) for line in ended.stdout.split()}
    assert ended.returncode == -9
    assert compilers
    for _ in range(100):
        if not (left := [one for one in compilers if Path(f"/proc/{one}").exists()]):
            return
        time.sleep(0.1)
    pytest.fail(f"{left} are still there")


@pytest.mark.parametrize(
    ("reading", "findings"),
    [
        (Reading(target="gfx1100", shared=32768, spills=330), ("330 register spills",)),
        (
            Reading(target="sm_80", shared=0, dots=True, narrow=True, matrix=("mma",), kinds=("m16n8k16.f16.f16",)),
            ("operands of 8 bits are widened to f16",),
        ),
        (Reading(target="sm_89", shared=0, dots=True, narrow=True, matrix=("mma",), kinds=("m16n8k32.e4m3",)), ()),
        (Reading(target="sm_120", shared=101376, threads=1024), ()),
        (Reading(target="sm_100", shared=0, tensor_memory=1024), ("1024 columns of tensor memory, of 512",)),
        (Reading(target="gfx942", shared=0, threads=2048), ("2048 threads, of 1024",)),
        (Reading(target="sm_120", shared=101377), ("101377 bytes of shared memory, of 101376",)),
    ],
)
def test_findings(reading: Reading, findings: tuple[str, ...]) -> None:
    assert reading.findings == findings


@pytest.mark.parametrize(
    ("here", "there", "sentences"),
    [
        (
            Reading(target="sm_80", shared=0, spills=0, copies=("cp.async",)),
            Reading(target="gfx1100", shared=0, spills=330),
            [
                ("register spills on gfx1100, none on sm_80", 330),
                ("asynchronous copies (cp.async) on sm_80, none on gfx1100", None),
            ],
        ),
        (
            Reading(target="sm_89", shared=0, dots=True, narrow=True, matrix=("mma",), kinds=("m16n8k32.e4m3",)),
            Reading(target="sm_80", shared=0, dots=True, narrow=True, matrix=("mma",), kinds=("m16n8k16.f16.f16",)),
            [("operands of 8 bits as they are on sm_89, widened to f16 on sm_80", None)],
        ),
        (
            Reading(target="sm_90", shared=0, threads=2048),
            Reading(target="sm_80", unfinished="not compiled within 1 s"),
            [("nobody knows of sm_80: not compiled within 1 s", None)],
        ),
        (Reading(target="sm_90", error="E: no"), Reading(target="sm_80", error="E: no"), []),
    ],
)
def test_contrast(here: Reading, there: Reading, sentences: list[tuple[str, int | None]]) -> None:
    assert list(contrast(here, there)) == sentences


def test_wrong_use_is_one_error(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert command.main(["--target", "sm_81"]) == 2
    assert capsys.readouterr().err.startswith("targets: no target 'sm_81'; there are sm_75, sm_80")
    assert command.main(["--from", "sm_80"]) == 2
    assert capsys.readouterr().err == "targets: --from and --to go together, without --target\n"
    file = tmp_path / "audit.json"
    file.write_text("{}")
    assert command.main(["--read", str(file)]) == 2
    assert capsys.readouterr().err.startswith(f"targets: {file} holds no audit of targets")


def test_an_audit_can_be_shown_elsewhere(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    made = Audit(("a compiler",), ("sm_75", "sm_80"), uses=[Use("gemm/triton/a", "float16", "key", ("sm_80", "sm_75"))])
    made.compiled["key"] = Compiled("gemm.triton.a", "M=64")
    for reading in (
        Reading(target="sm_75", shared=65537, dots=True, registers=255),
        Reading(target="sm_80", shared=65537, dots=True, registers=128, matrix=("mma",)),
    ):
        made.compiled["key"].readings[reading.target] = reading
    file, page = tmp_path / "audit.json", tmp_path / "page.md"
    file.write_text(json.dumps(made.to_value()))
    assert command.main(["--read", str(file), "--from", "sm_80", "--to", "sm_75"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "65537 bytes of shared memory: fits sm_80, not sm_75 (65536): gemm/triton/a float16",
        "tensor cores (mma) on sm_80, plain FMA on sm_75: gemm/triton/a float16",
    ]
    assert command.main(["--read", str(file), "--write", str(page)]) == 0
    assert "| gemm/triton/a    | float16 | does not fit | mma     |" in page.read_text()
    assert command.main(["--read", str(file), "--from", "sm_80", "--to", "sm_90"]) == 2
    assert capsys.readouterr().err == "targets: the audit has nothing of sm_90\n"


def test_a_launch_is_held_against_cards_whose_compilers_are_not_here() -> None:
    def made(grid: tuple[int, ...], *warps: int) -> Audit:
        made = Audit(("a compiler",), ("sm_80",))
        for one in warps:
            made.uses.append(Use("gemm/triton/a", "float16", str(one), ("sm_80",), grid))
            made.compiled[str(one)] = Compiled("gemm.triton.a", f"num_warps={one}")
            made.compiled[str(one)].readings["sm_80"] = Reading(target="sm_80", shared=0, lanes=32, threads=32 * one)
        return made

    cards = dict(absent())
    # For the first two there are compilers, and of the last only is known how many cores it has.
    assert not any(name.startswith(("NVIDIA", "AMD", "Enflame")) for name in cards)
    metax = "MetaX C550", cards["MetaX C550"]
    refused = "gemm/triton/a float16: gemm.triton.a would not fit MetaX C550: 1024 threads, limit 512"
    assert list(misfits(made((1,), 8), *metax)) == []
    assert list(misfits(made((1,), 16), *metax)) == [refused]
    assert list(misfits(made((1,), 8, 16), *metax)) == [f"{refused}; 1 of 2 configurations remain"]
    assert next(misfits(made((1,), 16, 17), *metax)).endswith("limit 512; none of 2 configurations remains")
    assert list(misfits(made((65536, 65536), 4), *metax)) == []
    assert next(misfits(made((1, 65537), 4), *metax)).endswith(" 65537 programs along y, limit 65536")


def test_the_grid_is_that_of_the_typical_case(catalogue: Catalogue, tmp_path: Path) -> None:
    made = audited(catalogue, tmp_path, "add/triton/flat", "sm_80", within=0)
    assert {use.grid for use in made.uses if use.dtype == "float32"} == {(2**24 // 1024,)}


def test_a_fixed_grid_is_counted(tmp_path: Path) -> None:
    """Four programs, whatever there is to do, are seen where nothing can be timed; a grid that grows is not told of."""
    slow = load([Path(__file__).parent / "slow_kernels"])
    made = audit(
        slow,
        architectures=[ARCHITECTURES["sm_80"]],
        patterns=["relu/triton/on_a_fixed_grid", "relu/triton/contiguous"],
        dtypes=["float32"],
        known=Known(tmp_path),
        within=0,
    )
    assert {use.implementation for use in made.uses} == {"relu/triton/on_a_fixed_grid", "relu/triton/contiguous"}
    (told_of,) = [line for line in remarks(made) if "has a grid of" in line]
    assert told_of.startswith("relu/triton/on_a_fixed_grid float32: ")
    assert "has a grid of 4, whatever there is to do" in told_of


def test_several_audits_are_one_that_knows_more() -> None:
    def made(compiler: str, **unfinished: str) -> Audit:
        made = Audit((compiler,), ("sm_80",))
        for name, why in unfinished.items():
            key = f"{compiler} {name}"
            made.uses.append(Use(f"gemm/triton/{name}", "float16", key, ("sm_80",)))
            made.compiled[key] = Compiled(name, "")
            made.compiled[key].readings["sm_80"] = Reading(target="sm_80", unfinished=why)
        return made

    one = merged([made("old", a="", b="late", c="late"), made("new", a="", b="", c="late", d="")])
    assert [use.key for use in one.uses] == ["old a", "new b", "new d", "old c"]
    assert set(one.compiled) == {"old a", "new b", "new d", "old c"}
    assert one.compilers == ("old", "new")


@pytest.mark.parametrize(
    ("module", "name"),
    [("kernels.gemm.triton", "gemm.triton.tiled"), ("/home/somebody/.cache/0123.py", "generated.tiled")],
)
def test_a_kernel_is_called_the_same_on_every_machine(module: str, name: str) -> None:
    function = SimpleNamespace(__module__=module, __name__="_tiled")
    assert Launch(SimpleNamespace(fn=function), {}, {}, {}, {}).name == name
