"""What a bundle says of its run: when, where, with which versions and arguments."""

from __future__ import annotations

import json
import platform as host
import subprocess
import sys
from datetime import datetime, timezone
from importlib import metadata
from typing import Any

import pytest

from platforms.probe import Probe
from platforms.processor import processor
from suites.options import ROOT

_PACKAGES = (
    "torch",
    "triton",
    "numpy",
    "ninetoothed",
    "tilelang",
    "pyopencl",
    "execnet",
    "hypothesis",
    "pytest",
    "pytest-xdist",
)


def environment(config: pytest.Config, found: Probe) -> dict[str, Any]:
    """Return the facts about this run and machine, as JSON values; platforms add their own when they are opened."""
    return {
        "started": f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ}",
        "portolan": revision(),
        "host": host.node(),
        "system": host.platform(),
        "processor": processor(),
        "python": sys.version.split()[0],
        "packages": _versions(),
        "arguments": list(config.invocation_params.args),
        "probe": json.loads(found.to_json()),
    }


def revision() -> str:
    """Return the git revision of this checkout, "unknown" where it is none or git is missing."""
    try:
        asked = subprocess.run(
            ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return asked.stdout.strip()


def _versions() -> dict[str, str]:
    there = {package.metadata["Name"].lower(): package.version for package in metadata.distributions()}
    return {name: there[name] for name in _PACKAGES if name in there}
