"""Kernels that break one rule each, correct twins of them, and what the guarded interpreter must make of both.

They run in a process of their own, since the interpreter is chosen before Triton is imported:
``TRITON_INTERPRET=1 python -m suites.meta.guarded_kernels``. A function whose name begins with ``check_`` is a check.
"""

from __future__ import annotations

import re
from pathlib import Path

TOPICS = ("arithmetic", "casts", "bounds", "conflicts", "order")


def names() -> list[str]:
    """Return the names of all checks, ``topic.name``, without importing them."""
    here = Path(__file__).parent
    return [
        f"{topic}.{name}"
        for topic in TOPICS
        for name in re.findall(r"^def check_(\w+)\(", (here / f"{topic}.py").read_text("utf-8"), re.MULTILINE)
    ]
