"""A Markdown document of headings, sentences and tables."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tabulate import tabulate


def table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table; nothing in a cell can end it early."""
    cells = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return tabulate(cells, headers, tablefmt="github", disable_numparse=True)


def document(title: str, *parts: str) -> str:
    """Return a document: a title and its parts, a blank line between them."""
    return "\n\n".join([f"# {title}", *parts]) + "\n"


@dataclass(frozen=True)
class Page:
    """The ``text`` of a document as it was written before, whose rows that begin with one of ``kept`` stay.

    A row that begins with nothing goes with the one above it.
    """

    text: str = ""
    kept: Collection[str] = ()

    def rows(self, headers: Sequence[str]) -> list[list[str]]:
        """Return the rows that stay of the table with these ``headers``; none where there is no such table."""
        rows, inside, stays = list[list[str]](), False, False
        for line in self.text.splitlines():
            cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            inside = bool(cells) and (inside or cells == [*headers])
            stays = inside and (cells[0] in self.kept if cells[0] else stays)
            if stays:
                rows.append(cells)
        return rows


EMPTY = Page()
