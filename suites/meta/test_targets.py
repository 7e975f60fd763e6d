"""What is said of hardware that is not here: what fits, what compiles, what its code uses, and what nobody knows."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from kernels.registry import Catalogue, load
from platforms.targets.architecture import ARCHITECTURES
from platforms.targets.reading import Reading, memory

pytest.importorskip("triton", reason="what compiles for absent hardware here is Triton")

from platforms.targets import triton_reading
from platforms.targets.audit import TIME_LIMIT, Audit, audit
from platforms.targets.known import Known
from platforms.targets.table import cells, remarks, summary

_KERNELS = Path(__file__).parent / "portable_kernels"


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load([_KERNELS])


def audited(catalogue: Catalogue, known: Path, name: str, *targets: str, time_limit: float = TIME_LIMIT) -> Audit:
    """Return the audit of one kernel for ``targets``, with what was read before in the file ``known``."""
    architectures = [ARCHITECTURES[one] for one in targets]
    return audit(
        catalogue,
        architectures=architectures,
        patterns=[f"gemm/triton/{name}"],
        jobs=2,
        time_limit=time_limit,
        known=Known(known),
    )


def readings(made: Audit) -> dict[str, Reading]:
    """Return the readings of the one launch of ``made`` by architecture."""
    (one,) = made.compiled.values()
    return one.readings


def test_shared_memory_is_held_against_each_architecture(catalogue: Catalogue, tmp_path: Path) -> None:
    made = audited(catalogue, tmp_path / "known", "four_stages", "sm_80", "sm_90", "gfx942")
    found = readings(made)
    assert {name: one.verdict for name, one in found.items()} == {
        "sm_80": "compiles",
        "sm_90": "compiles",
        "gfx942": "does not fit",
    }
    assert found["sm_80"].shared == found["gfx942"].shared == 98304
    assert "98304 bytes of shared memory: fits sm_80, not gfx942 (65536)" in memory(found.values())
    assert [found[name].matrix for name in ("sm_80", "sm_90", "gfx942")] == [("mma",), ("wgmma",), ("mfma",)]
    assert "cp.async" in found["sm_80"].copies
    assert list(cells(made)) == [["gemm/triton/four_stages", "float16", "mma", "wgmma", "does not fit"]]
    assert any("not gfx942 (65536)" in line for line in remarks(made))


def test_what_an_architecture_lacks_is_an_error_or_a_fallback(catalogue: Catalogue, tmp_path: Path) -> None:
    made = audited(catalogue, tmp_path / "known", "rounded", "sm_75", "sm_80", "gfx950")
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


def test_nothing_is_compiled_twice(catalogue: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = audited(catalogue, tmp_path / "known", "rounded", "sm_80")
    monkeypatch.setattr(triton_reading, "read", lambda *_: os._exit(9))
    again = audited(catalogue, tmp_path / "known", "rounded", "sm_80")
    assert again.to_value() == first.to_value()
    assert Audit.from_value(again.to_value()).to_value() == first.to_value()


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
    found = readings(audited(catalogue, tmp_path / "known", "rounded", "sm_80", "sm_90", "sm_120", time_limit=0.5))
    assert found["sm_80"].error == "the compiler ended its process with 9"
    assert found["sm_90"].verdict == "not known"
    assert found["sm_90"].unfinished == "not compiled within 0.5 s"
    assert found["sm_120"].verdict == "compiles"


@pytest.mark.parametrize(
    ("reading", "findings"),
    [
        (Reading(target="gfx1100", shared=32768, spills=330), ("330 register spills",)),
        (
            Reading(target="sm_80", shared=0, dots=True, narrow=True, matrix=("mma",), kinds=("m16n8k16.f16.f16",)),
            ("operands of 8 bits are widened to f16",),
        ),
        (Reading(target="sm_89", shared=0, dots=True, narrow=True, matrix=("mma",), kinds=("m16n8k32.e4m3",)), ()),
        (Reading(target="sm_120", shared=101376), ()),
        (Reading(target="sm_120", shared=101377), ("101377 bytes of shared memory, of 101376",)),
    ],
)
def test_findings(reading: Reading, findings: tuple[str, ...]) -> None:
    assert reading.findings == findings
