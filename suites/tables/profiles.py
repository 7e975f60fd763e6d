"""Numerical profiles side by side, from the JSON that ``python -m platforms profile --json`` printed."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from platforms.profile.drawing import Picture, pictures, svg
from suites.tables.markdown import document, table

Answers = Mapping[str, Sequence[Mapping[str, Any]]]
"""What was answered on each platform."""

_DRAWN = ("float32", "float16")
_LISTED = 3
_PLAIN = ("sequential", "sequential from the end")
_SECTIONS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("Single operations", lambda topic: not topic.endswith(("of sums", "of products", "at once", "zeros", "summed"))),
    ("Matrix products", lambda topic: "product" in topic),
    ("Sums", lambda topic: "sum of" in topic or "sums" in topic),
)


def profiles(folder: Path) -> str:
    """Return the document of all profiles in ``folder``."""
    answers = _read(folder)
    findings = [
        f"{platform}: {one['machine']}: {one['breaks']}"
        for platform, several in answers.items()
        for one in several
        if one["breaks"]
    ]
    shown = [f"![{one.title}](profiles/{one.name}.svg)" for one in _drawn(answers)]
    return document(
        "Numerical profiles",
        "How platforms compute, as probes found it. Made by `python -m suites.tables profiles` from `docs/profiles/`, "
        "which holds what `python -m platforms profile --json` printed on each machine. Every run leaves a brief "
        "profile in its bundle; `python -m reports show` tells it, `python -m reports profiles` compares those of "
        "several runs, and `suites/test_numerics.py` holds them against what contracts ask for and files declare "
        "(`platforms/profile/rules.py`). A probe that fits no answer, or several, says *unknown*. "
        "`suites/meta/test_profile.py` puts the same probes to simulated machines that Hypothesis draws.",
        (folder / "machines.md").read_text(encoding="utf-8").strip(),
        *(part for section in _SECTIONS for part in _section(answers, *section)),
        "## Not as declared",
        "\n".join(f"- {one}" for one in findings) or "Nothing.",
        "## In which order is added up",
        "`python -m platforms profile --trees` draws them in text, with a folder behind it as pictures. Terms stand "
        "below, the sum above; red steps add more than two terms at once; lines below join the equal parts.",
        *shown,
    )


def drawings(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the pictures in that document: the names of their files in ``folder``, and what these hold."""
    for one in _drawn(_read(folder)):
        yield f"{one.name}.svg", svg(one.tree, one.title)


def _read(folder: Path) -> Answers:
    files = (json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json")))
    return {platform: answers for profile in files for platform, answers in profile.items()}


def _drawn(answers: Answers) -> Iterator[Picture]:
    """Yield the trees that are worth a picture: not those of plain running sums, and each once a platform."""
    for platform, several in answers.items():
        telling = [one for one in several if one["subject"] in _DRAWN and one["answer"] not in _PLAIN]
        yield from {picture.tree: picture for picture in reversed([*pictures(platform, telling)])}.values()


def _section(answers: Answers, title: str, belongs: Callable[[str], bool]) -> Iterator[str]:
    """Yield a heading and a table of questions by machines; subjects that are answered alike share a line."""
    cells: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for platform, several in answers.items():
        for one in several:
            if belongs(one["topic"]):
                cells[one["topic"], one["subject"]][f"{platform}: {one['machine']}"] = one["answer"]
    columns = list(dict.fromkeys(column for row in cells.values() for column in row))
    topics = list(dict.fromkeys(topic for topic, _ in cells))
    ordered = sorted(cells.items(), key=lambda cell: topics.index(cell[0][0]))
    rows = [
        [topic, _listed([subject for (_, subject), _ in alike]), *(row.get(column, "") for column in columns)]
        for (topic, row), alike in groupby(ordered, lambda cell: (cell[0][0], cell[1]))
    ]
    yield f"## {title}"
    yield table(["question", "of", *columns], rows)


def _listed(subjects: Sequence[str]) -> str:
    shown = subjects if len(subjects) <= _LISTED + 1 else subjects[:_LISTED]
    return ", ".join(shown) + (f" and {len(subjects) - len(shown)} more" if len(shown) < len(subjects) else "")
