"""What machine this is: facts for reports, and the probe that detection looks at."""

from __future__ import annotations

import json
import os
import platform as host
import sys
from importlib import metadata
from typing import Any

from platforms.gather import probe
from platforms.processor import processor

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


MACHINE = "PORTOLAN_MACHINE"
"""The environment variable that names the machine where its host name does not: each container has another one."""


def machine() -> dict[str, Any]:
    """Return what reports say of this machine and its Python, as JSON values."""
    return {
        "host": os.environ.get(MACHINE) or host.node(),
        "system": host.platform(),
        "processor": processor(),
        "python": sys.version.split()[0],
        "packages": _versions(),
    }


def survey() -> str:
    """Return the facts of :func:`machine` with the ``probe`` of this machine, as JSON."""
    return json.dumps({**machine(), "probe": json.loads(probe().to_json())})


def _versions() -> dict[str, str]:
    there = {package.metadata["Name"].lower(): package.version for package in metadata.distributions()}
    return {name: there[name] for name in _PACKAGES if name in there}
