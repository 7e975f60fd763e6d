"""One launch compiled for one architecture, and its code read. In a process that may be killed: some take minutes."""

from __future__ import annotations

import contextlib
import io
import re
import time
from typing import Any

import triton
from triton import knobs
from triton.compiler import ASTSource

from platforms.targets.absent import target_of
from platforms.targets.architecture import Architecture
from platforms.targets.launch import Launch
from platforms.targets.reading import Reading

_MATRIX = {
    "mma": r"\bw?mma\.sync\S*",
    "wgmma": r"\bwgmma\.mma_async\S*",
    "tcgen05": r"\btcgen05\.mma\S*",
    "mfma": r"\bv_s?mfma[c_]\S+",
    "wmma": r"\bv_s?wmma\S+",
}
_COPIES = {
    "cp.async": r"\bcp\.async\.c[ag]",
    "bulk": r"\bcp\.async\.bulk",
    "to LDS": r"\b(?:global_load_lds|buffer_load_\w+ .*\blds)\b",
}
_LONGEST = 200  # characters of an error
_KINDS = 3


def read(launch: Launch, one: Architecture) -> Reading:
    """Return what the compiler makes of ``launch`` for an architecture; what it refuses is a reading too."""
    started = time.perf_counter()
    source = ASTSource(launch.kernel, dict(launch.signature), dict(launch.constants), dict(launch.attributes))
    knobs.nvidia.dump_ptxas_log = True
    log = io.StringIO()
    try:
        with contextlib.redirect_stdout(log):
            compiled = triton.compile(source, target=target_of(one), options=dict(launch.options))
    except Exception as error:  # whatever it is, it is what there is to know
        return Reading(target=one.name, error=_line(error), seconds=time.perf_counter() - started)
    text = compiled.asm.get("ptx") or compiled.asm["amdgcn"]
    matrix = {name: re.findall(pattern, text) for name, pattern in _MATRIX.items()}
    dot = re.search(r"tt\.dot\b.*", compiled.asm["ttir"])
    figures: dict[str, Any] = _of_ptxas(log.getvalue()) if "ptx" in compiled.asm else _of_metadata(text)
    return Reading(
        target=one.name,
        shared=compiled.metadata.shared,
        **figures,
        matrix=tuple(name for name, found in matrix.items() if found),
        kinds=tuple(sorted({kind for found in matrix.values() for kind in found})[:_KINDS]),
        dots=bool(dot),
        narrow=bool(dot and re.search(r"f8E\w+>|xi8>", dot[0])),
        copies=tuple(name for name, pattern in _COPIES.items() if re.search(pattern, text)),
        seconds=time.perf_counter() - started,
    )


def _line(error: BaseException) -> str:
    """Return the innermost cause in one line: outer errors only say where."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
    return f"{type(error).__name__}: {lines[-1]}"[:_LONGEST]


def printed(text: str) -> str:
    """Return the first error that a compiler printed in ``text``, without the place, or ""."""
    found = re.search(r"error: (.*)", text)
    return found[1].strip()[:_LONGEST] if found else ""


def _of_ptxas(log: str) -> dict[str, int]:
    """Return registers, spills and scratch that NVIDIA's assembler printed; a spilled register has four bytes."""
    stored = _number(r"(\d+) bytes spill stores", log)
    frame = _number(r"(\d+) bytes stack frame", log)
    return {"registers": _number(r"Used (\d+) registers", log), "spills": -(-stored // 4), "scratch": frame}


def _of_metadata(code: str) -> dict[str, int]:
    """Return registers, spills and scratch that AMD's assembly says of itself."""
    vector, accumulators = (_number(rf"\.{name}:\s*(\d+)", code) for name in ("vgpr_count", "agpr_count"))
    return {
        "registers": max(vector, accumulators),
        "spills": _number(r"\.vgpr_spill_count:\s*(\d+)", code),
        "scratch": _number(r"\.private_segment_fixed_size:\s*(\d+)", code),
    }


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    return int(found[1]) if found else 0
