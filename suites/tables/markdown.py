"""A Markdown document of headings, sentences and tables."""

from __future__ import annotations

from collections.abc import Sequence

from tabulate import tabulate


def table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table; nothing in a cell can end it early."""
    cells = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return tabulate(cells, headers, tablefmt="github", disable_numparse=True)


def document(title: str, *parts: str) -> str:
    """Return a document: a title and its parts, a blank line between them."""
    return "\n\n".join([f"# {title}", *parts]) + "\n"
