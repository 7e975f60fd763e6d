"""Is a kernel that fits no room of an architecture found by whoever asks as users do, and is one that fits let be?"""

from __future__ import annotations

from pathlib import Path

import pytest

from platforms.targets.architecture import ARCHITECTURES
from reports.bundle import read
from reports.targets import KEY
from suites.meta.cli import run_pytest

pytest.importorskip("triton", reason="what compiles for absent hardware here is Triton")

SOURCE = Path(__file__).parent / "portable_kernels" / "products.py"


FITTING = """

@implementation("gemm", paradigm="triton", dtypes=("float16",))
def fitting(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return _product(a, b, "ieee", 64, 4)
"""


def test_what_does_not_fit_is_told(tmp_path: Path) -> None:
    """Six buffers of 16 KiB do not fit everywhere; the same product with three of them does."""
    text = SOURCE.read_text()
    assert text.count('"ieee", 128, 4)') == 1
    file = tmp_path / "mine.py"
    file.write_text(text.replace('"ieee", 128, 4)', '"ieee", 64, 7)') + FITTING)
    asked = ("--kernels", file, "--implementation", "gemm/triton/four_stages,gemm/triton/fitting")
    ended = run_pytest(*asked, bundle=tmp_path / "bundle", suite="portability")
    assert ended.status == 0, ended.text
    assert "1 skipped" in ended.text
    said = read(tmp_path / "bundle").environment[KEY]
    found = {row[0]: dict(zip(said["headings"][1:], row[1:], strict=True)) for row in said["rows"]}
    # For sm_75 nothing is copied ahead, so that it needs no buffers.
    small = {name for name, one in ARCHITECTURES.items() if name != "sm_75" and one.shared < 98304}
    assert {name: (cells["compiles"], cells["does not fit"]) for name, cells in found.items()} == {
        name: (1, 1) if name in small else (2, 0) for name in ARCHITECTURES
    }
    assert {name for name, cells in found.items() if not cells["matrix units"]} == {"sm_75"}
    (told,) = [line for line in said["remarks"] if "bytes of shared memory" in line]
    assert "four_stages" in told
    assert "98304 bytes of shared memory: fits sm_80" in told
    assert all(f"{name} (" in told for name in small)
