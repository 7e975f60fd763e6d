"""What is read off the code that compilers write, and off what they say while writing it."""

from __future__ import annotations

import re
from typing import Any

WARP = 32
"""Threads of a warp, which code for NVIDIA does not say: all have the same."""

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
_KINDS = 3


def instructions(code: str) -> dict[str, Any]:
    """Return the matrix instructions and asynchronous copies in PTX or in AMD's assembly, as a reading has them."""
    matrix = {name: re.findall(pattern, code) for name, pattern in _MATRIX.items()}
    return {
        "matrix": tuple(name for name, found in matrix.items() if found),
        "kinds": tuple(sorted({kind for found in matrix.values() for kind in found})[:_KINDS]),
        "copies": tuple(name for name, pattern in _COPIES.items() if re.search(pattern, code)),
    }


def of_ptx(code: str, log: str) -> dict[str, Any]:
    """Return what NVIDIA's assembler printed of registers, and what PTX says of threads; a register has four bytes."""
    return {
        "threads": number(r"\.reqntid (\d+)", code) or None,
        "lanes": WARP,
        "registers": number(r"Used (\d+) registers", log),
        "spills": -(-number(r"(\d+) bytes spill stores", log) // 4),
        "scratch": number(r"(\d+) bytes stack frame", log),
    }


def of_metadata(code: str) -> dict[str, Any]:
    """Return what AMD's assembly says of itself."""
    vector, accumulators = (number(rf"\.{name}:\s*(\d+)", code) for name in ("vgpr_count", "agpr_count"))
    return {
        "threads": number(r"\.max_flat_workgroup_size:\s*(\d+)", code),
        "lanes": number(r"\.wavefront_size:\s*(\d+)", code),
        "registers": max(vector, accumulators),
        "spills": number(r"\.vgpr_spill_count:\s*(\d+)", code),
        "scratch": number(r"\.private_segment_fixed_size:\s*(\d+)", code),
    }


def number(pattern: str, text: str) -> int:
    """Return the number that ``pattern`` captures where it is first found in ``text``, or 0."""
    found = re.search(pattern, text)
    return int(found[1]) if found else 0
