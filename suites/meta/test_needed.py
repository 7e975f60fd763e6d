"""On a machine that lacks a package, the first line says which, and what to do about it with and without a network."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from suites.needed import REQUIREMENTS, message, missing

ROOT = Path(__file__).resolve().parents[2]

WITHOUT = """
import importlib.metadata, sys
import pytest
version = importlib.metadata.version
def without(name):
    if name == "hypothesis":
        raise importlib.metadata.PackageNotFoundError(name)
    return version(name)
importlib.metadata.version = without
sys.path.insert(0, ".")
sys.exit(pytest.main(["-p", "no:cacheprovider", *sys.argv[1:]]))
"""


def test_what_is_not_installed_or_too_old_is_missing_and_what_an_option_needs_is_not() -> None:
    lines = ["# why", "", "numpy>=1.26", "pytest>=999", "no-such-package-here>=1", "pytest-xdist>=999"]
    assert [str(one) for one in missing(lines)] == ["pytest>=999", "no-such-package-here>=1"]
    assert missing(REQUIREMENTS.read_text(encoding="utf-8").splitlines()) == []


def test_pytest_without_hypothesis_is_one_error_that_says_what_to_do() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT, "--platform", "cpu"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 4
    lacking = missing(["hypothesis>=999"])
    expected = message(lacking).replace("999", "6.100")
    assert ran.stderr.strip() == f"ERROR: {expected}"
    assert f"{sys.executable} -m pip install -r requirements.txt" in expected
    assert "pip download --dest wheels" in expected
    assert ran.stdout == ""
