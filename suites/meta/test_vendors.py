"""Every vendor's file is whole, and what is said of vendors elsewhere is made of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from platforms.platform import platform_from_value
from platforms.vendors import VENDORS
from suites.tables.vendors import MET, vendors

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_of_vendors_is_what_their_files_say() -> None:
    assert (ROOT / "docs/vendors.md").read_text(encoding="utf-8") == vendors()


@pytest.mark.parametrize("kind", VENDORS, ids=lambda one: one.vendor.name)
def test_a_vendor_has_a_command_that_audits_its_machine_and_a_platform_that_travels(kind: Any) -> None:
    platform = kind()
    vendor = platform.vendor
    assert platform.name == vendor.name
    assert platform.device == f"{vendor.kind}:0"
    assert platform_from_value(platform.to_value()) == platform
    if vendor.name not in MET:
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
