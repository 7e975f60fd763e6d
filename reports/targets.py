"""Hardware that is not here: what compilers make of kernels for it, as a run leaves it in a bundle's environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tabulate import tabulate  # type: ignore[import-untyped]

from reports.ink import clip, counted, plain

KEY = "targets"
"""The key of the environment that this is read from: compilers, a table with its headings, and remarks."""

_SHOWN = 20


def render(environment: Mapping[str, Any], *, width: int, full: bool = False) -> str:
    """Return the table and what is to be said of single configurations; "" if nothing was compiled."""
    found = environment.get(KEY)
    if not found:
        return ""
    remarks = [plain(line) for line in found["remarks"]]
    shown = remarks if full else [clip(line, width - 2) for line in remarks[:_SHOWN]]
    rest = [f"  and {counted(len(remarks) - len(shown), 'more line')}"] if len(shown) < len(remarks) else []
    title = f"absent hardware ({', '.join(found['compilers'])}; compiled, never run):"
    table = tabulate(found["rows"], found["headings"]).splitlines()
    return "\n".join([title, *(f"  {line}" for line in [*table, *([""] if shown else []), *shown]), *rest])
