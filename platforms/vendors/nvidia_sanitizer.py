"""NVIDIA's compute-sanitizer: a command that starts a process and checks every access of its kernels.

Each tensor is then an allocation of its own, since it sees the ends of allocations alone. At the first bad access it
ends the process's use of the device, and writes its report to a file, from another process.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from platforms.outcome import Damage
from platforms.platform import Absent, Platform

NAME = "compute-sanitizer"

BUDGET = 2**12
"""Elements of a tensor of a case: each access takes some hundred times as long."""

_REPORT = "PORTOLAN_SANITIZER"
"""The environment variable that names the report's file."""

_ACCESS = re.compile(r"=+ ((?:Invalid|Misaligned) __\w+__ \w+ of size \d+ bytes)(?:\n=+ +at (\S.*))?")


def sanitized(platform: Platform) -> Platform | Absent:
    """Return ``platform`` with its workers started by the command, or why not."""
    command = _command()
    if command is None:
        return Absent(platform.name, f"there is no {NAME}, neither on PATH nor in CUDA_HOME or /usr/local/cuda")
    report = Path(tempfile.mkdtemp(dir=_folder().name)) / "report"
    launcher = (str(command), "--tool=memcheck", "--target-processes=all", f"--log-file={report}")
    environment = {**platform.environment, "PYTORCH_NO_CUDA_MEMORY_CACHING": "1", _REPORT: str(report)}
    return replace(
        platform,
        environment=environment,
        start_method="spawn",  # it follows processes that are started, and none that is forked
        budget=BUDGET,
        sanitizer=NAME,
        launcher=launcher,
    )


def findings() -> Iterator[Damage]:
    """Yield what kernels did according to what has been reported since this was called last."""
    report = Path(os.environ[_REPORT])
    if report.exists():
        yield from told(report.read_text(errors="replace").replace("\0", ""))
        os.truncate(report, 0)


def told(report: str) -> Iterator[Damage]:
    """Yield what kernels did according to a ``report``, once for each access and place in the code."""
    for what, where in dict.fromkeys(_ACCESS.findall(report)):
        yield Damage("out of bounds", f"{NAME}: {what}{f' in {where}' if where else ''}")


def _command() -> Path | None:
    folder = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"))
    there = [Path(found)] if (found := shutil.which(NAME)) else []
    there += [one for one in (folder / "bin" / NAME, folder / NAME / NAME) if one.is_file()]
    return next(iter(there), None)


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="portolan-sanitizer-")
