"""Every vendor's file is whole, and what is said of vendors elsewhere is made of it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from platforms.detect import detect
from platforms.outside import PlatformFileError
from platforms.platform import platform_from_value
from platforms.probe import Probe
from platforms.vendors import VENDORS
from reports.bundle import read
from suites.tables.vendors import vendors

ROOT = Path(__file__).resolve().parents[2]
ACME = Path(__file__).parent / "outside"


def test_the_page_of_vendors_is_what_their_files_say() -> None:
    assert (ROOT / "docs/vendors.md").read_text(encoding="utf-8") == vendors()


@pytest.mark.parametrize("kind", VENDORS, ids=lambda one: one.vendor.name)
def test_a_vendor_has_a_command_that_audits_its_machine_and_a_platform_that_travels(kind: Any) -> None:
    platform = kind()
    vendor = platform.vendor
    assert platform.name == vendor.name
    assert platform.device == f"{vendor.kind}:0"
    assert platform_from_value(platform.to_value()) == platform
    if not vendor.met:
        command = f"    {vendor.toxenv}: python -m pytest --platform cpu,{vendor.name} {{posargs}}"
        assert command in (ROOT / "tox.ini").read_text(encoding="utf-8").splitlines()
        assert f"`tox -e {vendor.toxenv}`" in vendors()


def test_devices_of_every_vendor_are_dealt_out_by_its_own_variable() -> None:
    kinds: tuple[Any, ...] = VENDORS
    two = {kind.vendor.name: kind(visible=("4", "5")) for kind in kinds}
    dealt = {name: dict(platform.for_worker(3).environment) for name, platform in two.items()}
    assert dealt["cambricon"] == {"MLU_VISIBLE_DEVICES": "5"}
    assert dealt["ascend"] == {"ASCEND_RT_VISIBLE_DEVICES": "5"}
    assert dealt["mthreads"] == {"MUSA_VISIBLE_DEVICES": "5"}
    assert dealt["metax"] == {"MACA_VISIBLE_DEVICES": "5"}
    assert dealt["amd"] == {"HIP_VISIBLE_DEVICES": "5"}
    assert dealt["apple"] == {}
    assert len({platform.hardware for platform in two.values()}) == len(VENDORS)


OUTSIDE = """
from dataclasses import dataclass
from platforms.cpu import Cpu

@dataclass(frozen=True, kw_only=True)
class Borrowed(Cpu):
    name: str = "borrowed"
    paradigms: tuple[str, ...] = ("torch",)

def find(probe, claims):
    yield Borrowed()
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments, "suites/test_equivalence.py"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)


def test_a_platform_may_come_from_a_file_outside(tmp_path: Path) -> None:
    file = tmp_path / "ours.py"
    file.write_text(OUTSIDE)
    case = '{"operation":"relu","dtype":"float32","dims":{"x":[5]},"seed":1}'
    asked = ["--platform", "borrowed", "--implementation", "relu/torch/eager", "--case", case]
    ran = run("--platforms", str(file), *asked, "--bundle", str(tmp_path / "bundle"))
    assert ran.returncode == 0, ran.stdout
    assert [(one.platform, one.verdict) for one in read(tmp_path / "bundle").records] == [("borrowed", "exact")]


ACMECC = """#!/bin/sh
echo "$@" >> "$(dirname "$0")/told"
exec g++ "$@"
"""


@pytest.mark.skipif(not shutil.which("g++"), reason="needs g++, which the stand-in for a compiler calls")
def test_a_platform_from_outside_brings_a_device_type_and_a_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own compiler builds its own kernel, on tensors of its own device; PyTorch's kernels run there too."""
    compiler = tmp_path / "acme" / "bin" / "acmecc"
    compiler.parent.mkdir(parents=True)
    compiler.write_text(ACMECC)
    compiler.chmod(0o755)
    monkeypatch.setenv("ACME_HOME", str(tmp_path / "acme"))
    monkeypatch.setenv("PORTOLAN_CACHE", str(tmp_path / "cache"))
    asked = ["--platforms", str(ACME / "acme.py"), "--kernels", str(ACME / "acme_kernels.py"), "--platform", "acme"]
    asked += ["--implementation", "relu/acme/flat,relu/torch/eager", "--hypothesis-profile", "smoke"]
    ran = run(*asked, "--bundle", str(tmp_path / "bundle"))
    assert ran.returncode == 0, ran.stdout
    records = read(tmp_path / "bundle").records
    assert {(one.implementation, one.verdict) for one in records if one.dtype == "float32"} == {
        ("relu/acme/flat", "exact"),
        ("relu/torch/eager", "exact"),
    }
    told = {line.partition(" -I")[0] for line in (compiler.parent / "told").read_text().splitlines()}
    assert "-O2 -std=c++17 -x c++ -shared -fPIC" in told


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import no_such_vendor", "does not import: ModuleNotFoundError: No module named 'no_such_vendor'"),
        ("found = 1", "has no function find(probe, claims)"),
        (None, "there is no such Python file"),
    ],
)
def test_a_file_of_platforms_that_is_none_is_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str | None, said: str
) -> None:
    file = tmp_path / "wrong.py"
    if source is not None:
        file.write_text(source)
    monkeypatch.setenv("PORTOLAN_PLATFORMS", str(file))
    with pytest.raises(PlatformFileError, match=re.escape(said)):
        detect(Probe(torch_version="2.13.0"))
