"""What the machine's processor says of itself: its name, its cores, and its clocks where they can be read."""

from __future__ import annotations

import contextlib
import os
import platform
import re
from pathlib import Path
from typing import Any

_CLOCKS = Path("/sys/devices/system/cpu/cpu0/cpufreq")


def processor() -> dict[str, Any]:
    """Return name, cores, and clocks in MHz: the current one, and the highest where the system tells."""
    said = ""
    with contextlib.suppress(OSError):
        said = Path("/proc/cpuinfo").read_text()
    clocks = {"clock": _number(_field(said, "cpu MHz")), "highest_clock": _kilohertz("cpuinfo_max_freq")}
    return {
        "name": _field(said, "model name") or platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        **{name: value for name, value in clocks.items() if value is not None},
    }


def _field(said: str, name: str) -> str:
    found = re.search(rf"^{name}\s*: (.+)$", said, re.MULTILINE)
    return found[1].strip() if found else ""


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"[0-9.]+", text) else None


def _kilohertz(name: str) -> float | None:
    try:
        return int((_CLOCKS / name).read_text()) / 1000
    except (OSError, ValueError):
        return None
