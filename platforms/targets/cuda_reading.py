"""What nvcc makes of a source for an architecture, all of its kernels at once: a reading for each."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from kernels.toolchains import cache
from kernels.toolchains.cuda import device_compiler, nvcc
from kernels.toolchains.cxx.build import INCLUDE
from platforms.targets import code
from platforms.targets.architecture import Architecture
from platforms.targets.known import how
from platforms.targets.reading import Reading, printed

WHOLE = ""
"""The label of a reading of all of a source: there is no code of it."""


def read(source: Path, label: str, one: Architecture) -> Reading:
    """Return the reading of a kernel of ``source``, which ``label`` names as C++ does, without its arguments."""
    found = listing(source, one)
    missing = Reading(target=one.name, error=f"there is no {label} in the code")
    return found.get(label) or found.get(WHOLE) or missing


def listing(source: Path, one: Architecture) -> dict[str, Reading]:
    """Return the readings of all kernels of ``source`` by label, or that of :data:`WHOLE` alone; raises BuildError."""
    file = cache.folder() / f"{source.parent.name}-{digest(source, one.name, version(), how())}.json"
    if file.exists():
        return {label: Reading.from_value(value) for label, value in json.loads(file.read_text("utf-8")).items()}
    found = _listing(source, one)
    if not any(reading.unfinished for reading in found.values()):
        fresh = file.with_suffix(f".{os.getpid()}")
        fresh.write_text(json.dumps({label: reading.to_value() for label, reading in found.items()}), "utf-8")
        fresh.replace(file)
    return found


def digest(source: Path, *parts: str) -> str:
    """Return a digest of a source with all that it may include, and of ``parts``."""
    texts = [file.read_bytes() for file in (source, *sorted(INCLUDE.iterdir()))]
    return hashlib.sha256(repr((texts, parts)).encode()).hexdigest()[:24]


@functools.cache
def version() -> str:
    """Return the version of nvcc; raises BuildError where there is none."""
    said = subprocess.run([nvcc(), "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"V(\d+\.\d+\.\d+)", said)
    return found[1] if found else "unknown"


def _listing(source: Path, one: Architecture) -> dict[str, Reading]:
    return compiled([*device_compiler(one.name), f"-I{INCLUDE}"], source, one)


def compiled(command: Sequence[str], source: Path, one: Architecture) -> dict[str, Reading]:
    """Return the readings of the kernels that ``command`` makes of ``source``, or that of :data:`WHOLE` alone."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        whole = [
            *command,
            "-cubin",
            "-Xptxas",
            "-v",
            "--keep",
            "--keep-dir",
            folder,
            str(source),
            "-o",
            f"{folder}/out",
        ]
        ended = subprocess.run(whole, capture_output=True, text=True, errors="replace", check=False)
        if ended.returncode:
            return {WHOLE: _refused(one, ended.stderr or ended.stdout, time.perf_counter() - started)}
        (ptx,) = Path(folder).glob("*.ptx")
        entries = dict(_entries(ptx.read_text(encoding="utf-8")))
    logs = dict(_sections(ended.stderr))
    labels = _labels(list(entries))
    return {
        labels[name]: Reading(
            target=one.name,
            shared=code.number(r"(\d+) bytes smem", logs.get(name, "")),
            **code.of_ptx(text, logs.get(name, "")),
            **code.instructions(text),
            seconds=(time.perf_counter() - started) / len(entries),
        )
        for name, text in entries.items()
    }


def _refused(one: Architecture, said: str, seconds: float) -> Reading:
    if "nsupported gpu architecture" in said:
        return Reading(target=one.name, unfinished=f"this nvcc does not know {one.name}", seconds=seconds)
    return Reading(target=one.name, error=printed(said) or said.strip().partition("\n")[0], seconds=seconds)


def _entries(ptx: str) -> Iterator[tuple[str, str]]:
    """Yield name and code of each kernel in PTX."""
    for part in re.split(r"\n(?=(?:\.visible |\.weak )?\.(?:entry|func) )", ptx):
        found = re.match(r"(?:\.visible |\.weak )?\.entry (\w+)", part)
        if found:
            yield found[1], part


def _sections(log: str) -> Iterator[tuple[str, str]]:
    """Yield name of each kernel and what NVIDIA's assembler says of it."""
    for part in log.split("Compiling entry function '")[1:]:
        yield part.partition("'")[0], part


def _labels(names: list[str]) -> dict[str, str]:
    """Return each mangled name with the function and its template arguments as C++ writes them, if that can be told."""
    try:
        ended = subprocess.run(["c++filt", *names], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return {name: name for name in names}
    return {name: _label(whole) for name, whole in zip(names, ended.stdout.splitlines(), strict=True)}


def _label(whole: str) -> str:
    """Return "by_block<float, Tree>" of the whole signature, without namespaces that have no name."""
    short = whole.replace("(anonymous namespace)::", "").partition("(")[0]
    return short.removeprefix("void ")
