"""Numerical profiles side by side, from the JSON that ``python -m platforms profile --json`` printed."""

from __future__ import annotations

import json
from pathlib import Path

from suites.tables.markdown import document, table


def profiles(folder: Path) -> str:
    """Return the document of all profiles in ``folder``."""
    cells: dict[tuple[str, str], dict[str, str]] = {}
    trees: list[list[str]] = []
    for file in sorted(folder.glob("*.json")):
        for platform, answers in json.loads(file.read_text(encoding="utf-8")).items():
            for one in answers:
                column = f"{platform}: {one['machine']}"
                cells.setdefault((one["topic"], one["subject"]), {})[column] = one["answer"]
                if one["topic"].startswith("order of") and one["subject"] == "float32" and "tree" in one["evidence"]:
                    trees.append([column, one["answer"], f"`{one['evidence']['tree']}`"])
    columns = list(dict.fromkeys(column for row in cells.values() for column in row))
    rows = [[*question, *(row.get(column, "") for column in columns)] for question, row in cells.items()]
    return document(
        "Numerical profiles",
        "How platforms compute, as probes found it. Made by `python -m suites.tables profiles` from `docs/profiles/`, "
        "which holds what `python -m platforms profile --json` printed on each machine.",
        table(["question", "of", *columns], rows),
        "## Summation trees of float32",
        table(["of", "shape", "tree"], trees),
    )
