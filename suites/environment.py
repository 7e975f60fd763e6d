"""What a bundle says of its run: when, where, with which versions and arguments."""

from __future__ import annotations

import json
import subprocess
from datetime import datetime, timezone
from typing import Any

import pytest

from platforms.probe import Probe
from platforms.survey import machine
from suites.options import ROOT


def environment(config: pytest.Config, found: Probe) -> dict[str, Any]:
    """Return the facts about this run and machine, as JSON values; platforms add their own when they are opened."""
    return {
        "started": f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ}",
        "portolan": revision(),
        **machine(),
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
