"""The compiler's own sanitizers for what it compiles: of addresses, and of behaviour that C++ leaves undefined.

A library that is watched needs the runtime of the sanitizer in its process from the first, so that it is loaded before
Python. Both go on after a report, on standard error.
"""

from __future__ import annotations

import functools
import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from kernels.toolchains.cxx.target import VARIABLE, Target
from platforms.log import taken_from
from platforms.outcome import Damage
from platforms.platform import Absent, Platform

NAME = "AddressSanitizer and UndefinedBehaviorSanitizer"

_FLAGS = ("-O1", "-g", "-fsanitize=address,undefined", "-fsanitize-recover=address,undefined")
_RUNTIMES = ("libasan.so", "libstdc++.so")
"""The second because the first looks for what throws exceptions only once, when it is loaded."""

_OPTIONS = "halt_on_error=0:detect_leaks=0:detect_odr_violation=0"
# Libraries of one process may have globals of one name; and Python ends with memory that it has not given back.

_ADDRESS = re.compile(r"ERROR: AddressSanitizer: (\S+)(?:.*\n(?=((?:READ|WRITE) of size \d+)))?")
_FRAME = re.compile(r"#\d+ 0x\w+ in (.+? \S+?:\d+)")
_UNDEFINED = re.compile(r"^(?:.*/)?(\S+?:\d+):\d+: runtime error: (.+)$", re.MULTILINE)


def sanitized(platform: Platform, *flags: str) -> Platform | Absent:
    """Return ``platform``, whose target :data:`kernels.toolchains.cxx.target.VARIABLE` says, with the sanitizers.

    ``flags`` are given to the compiler too. Absent where there is no runtime that Python can be started with.
    """
    target = Target.from_json(platform.environment[VARIABLE])
    if target.emulator:
        return Absent(platform.name, f"{target.emulator[0]} runs its programs, which no sanitizer is linked into")
    runtimes = {name: _runtime(target.compiler[0], name) for name in _RUNTIMES}
    if missing := [name for name, path in runtimes.items() if path is None]:
        return Absent(platform.name, f"{target.compiler[0]} has no {', no '.join(missing)}")
    watched = replace(target, compiler=(*target.compiler, *_FLAGS, *flags))
    environment = {
        VARIABLE: watched.to_json(),
        "LD_PRELOAD": " ".join(map(str, runtimes.values())),
        "ASAN_OPTIONS": _OPTIONS,
    }
    return replace(platform, environment={**platform.environment, **environment}, sanitizer=NAME)


def findings() -> Iterator[Damage]:
    """Yield what kernels did according to the reports of the sanitizers since this was called last."""
    yield from told(taken_from(2))


def told(report: str) -> Iterator[Damage]:
    """Yield what kernels did according to a ``report``, all that the sanitizers have written."""
    for found in _ADDRESS.finditer(report):
        frame = _FRAME.search(report, found.end())
        where = f" in {_short(frame[1])}" if frame else ""
        yield Damage("out of bounds", f"AddressSanitizer: {found[1]}, {found[2] or 'access'}{where}")
    for found in _UNDEFINED.finditer(report):
        yield Damage("undefined", f"UndefinedBehaviorSanitizer: {found[2]} in {found[1]}")


def _short(frame: str) -> str:
    """Return a frame with the name of its file alone."""
    function, _, place = frame.rpartition(" ")
    return f"{function} {Path(place).name}"


@functools.cache
def _runtime(compiler: str, name: str) -> Path | None:
    try:
        ended = subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    path = Path(ended.stdout.strip())
    return path.resolve() if path.is_absolute() and path.is_file() else None
