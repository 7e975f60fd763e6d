"""A platform's numerical profile as a run leaves it in its bundle: read with suspicion, and told in one line.

It is a fact of the environment: how much was asked, how long that took, and the answers, each of one machine (a
paradigm's own arithmetic, or an implementation) on one topic and subject.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from reports.bundle import BundleError
from reports.ink import clip, plain

PREFIX = "profile "
"""What the keys of the environment begin with that this is read from; the platform follows."""

_FIELDS = ("machine", "topic", "subject", "answer", "breaks")
_LATER = {"breaks": ""}  # what earlier versions did not write, and what that means
_TITLE = "how platforms compute (python -m platforms profile tells more):"
_LONGEST = 60
_SHOWN = 3
_TOPICS = {
    "subnormal operands": "subnormals",
    "rounding of arithmetic": "rounding",
    "a * b + c": "a * b + c",
    "operands of products": "operands",
    "accumulator of products": "products in",
    "accumulator of sums": "sums in",
    "float32 out of range as integer": "floats out of range",
}


def profiles(environment: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the profile of each platform, those of earlier versions with what is written since then.

    Raises BundleError for one that is not what runs write.
    """
    found = {key.removeprefix(PREFIX): value for key, value in environment.items() if key.startswith(PREFIX)}
    return {platform: _checked(platform, profile) for platform, profile in found.items()}


def render(environment: Mapping[str, Any], *, width: int, full: bool = False) -> str:
    """Return a line for each platform that has a profile, or all that is worth telling if ``full``; "" for none.

    What is not as its files declare has lines of its own, of which all are shown if ``full``.
    """
    lines: list[str] = []
    for platform, profile in sorted(profiles(environment).items()):
        said = f"{platform}: {'; '.join(_told(profile['answers'])) or 'no answer'}"
        broken = [
            f"NOT AS DECLARED: {plain(one['machine'])}: {plain(one['breaks'])}"
            for one in profile["answers"]
            if one["breaks"]
        ]
        shown = broken if full else broken[:_SHOWN]
        rest = [f"and {len(broken) - len(shown)} more not as declared"] if len(shown) < len(broken) else []
        for indent, line in (("  ", said), *(("    ", one) for one in (*shown, *rest))):
            lines += (
                textwrap.wrap(line, width, initial_indent=indent, subsequent_indent="    ")
                if full
                else [clip(indent + line, width)]
            )
    return "\n".join([_TITLE, *lines]) if lines else ""


def _checked(platform: str, profile: Any) -> dict[str, Any]:
    right = isinstance(profile, dict) and isinstance(profile.get("extent"), str)
    answers = profile.get("answers") if right else None
    if not isinstance(answers, list):
        raise BundleError(f'"{PREFIX}{platform}" must have an "extent", a text, and "answers", a list')
    return {**profile, "answers": [_answer(platform, one) for one in answers]}


def _answer(platform: str, said: Any) -> dict[str, Any]:
    whole = {**_LATER, **said} if isinstance(said, dict) else {}
    if not all(isinstance(whole.get(name), str) for name in _FIELDS):
        wanted = ", ".join(_FIELDS)
        raise BundleError(f'an answer in "{PREFIX}{platform}" must have the texts {wanted}, not {plain(str(said))}')
    return whole


def _told(answers: list[dict[str, str]]) -> Iterator[str]:
    """Yield what is answered on each topic that is worth telling, the commonest answer and then what differs."""
    for topic, word in _TOPICS.items():
        of: dict[str, list[str]] = {}
        for one in answers:
            if one["topic"] == topic:
                of.setdefault(plain(one["answer"]), []).append(plain(f"{one['machine']} {one['subject']}".strip()))
        common, *others = sorted(of.items(), key=lambda item: -len(item[1])) or [("", [])]
        differing = [f"{answer} of {clip(', '.join(whose), _LONGEST)}" for answer, whose in others]
        if common[0]:
            yield f"{word} {common[0]}" + (f", but {', '.join(differing)}" if differing else "")
    worst = max((one for one in answers if one["topic"].startswith("error of ")), key=_ulp, default=None)
    if worst:
        name = worst["topic"].removeprefix("error of ")
        yield f"functions within {worst['answer']} ({name}, {worst['machine']} {worst['subject']})"


def _ulp(answer: Mapping[str, str]) -> float:
    try:
        return float(answer["answer"].partition(" ")[0])
    except ValueError:
        return 0.0
