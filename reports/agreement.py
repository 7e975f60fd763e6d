"""Who agrees with whom: groups of implementations and platforms whose outputs are bit for bit the same.

Read from what the suite of agreement leaves in a bundle's environment: for each operation and dtype the groups, the
largest first, and how far one of each is from the first of the largest.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reports.bundle import BundleError
from reports.ink import clip, counted, figure, plain

PREFIX = "agreement "
"""What the keys of the environment begin with that this is read from; the operation follows."""

_SHOWN = 30
_LONGEST = 60
_SUBJECT = re.compile(r"[^/@]+/[^/@]+/[^/@]+@.+")
_TITLE = "agreement (=: bit for bit the same; in brackets the largest difference over the sum of both bounds):"


def render(environment: Mapping[str, Any], *, width: int, full: bool = False) -> str:
    """Return the groups of every operation, those of its dtypes that are alike together; "" if none were made."""
    lines = [line for operation, found in agreements(environment) for line in _lines(operation, found, width)]
    if not lines:
        return ""
    shown = lines if full else lines[:_SHOWN]
    rest = [f"  and {counted(len(lines) - len(shown), 'more line')}"] if len(shown) < len(lines) else []
    return "\n".join([_TITLE, *shown, *rest])


def agreements(environment: Mapping[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield each operation that has agreements, and them; raises BundleError for those that are not what runs write."""
    for key in sorted(environment):
        if key.startswith(PREFIX):
            found = environment[key]
            if not isinstance(found, list) or not all(map(_sound, found)):
                raise BundleError(f'"{key}" must be a list of agreements, each a dtype with its groups and pairs')
            yield key.removeprefix(PREFIX), found


def _sound(one: Any) -> bool:
    try:
        groups, pairs = one["groups"], one["pairs"]
        subjects = [subject for group in groups for subject in group]
        figures = [pair[name] for pair in pairs for name in ("share", "open", "differing")]
        texts = [one["dtype"], *(pair[name] for pair in pairs for name in ("one", "other", "cause"))]
    except (TypeError, KeyError):
        return False
    return (
        isinstance(groups, list)
        and all(isinstance(group, list) and group for group in groups)
        and all(isinstance(subject, str) and _SUBJECT.fullmatch(subject) for subject in subjects)
        and all(isinstance(figure, (int, float)) for figure in figures)
        and all(isinstance(text, str) for text in texts)
    )


def _lines(operation: str, found: list[dict[str, Any]], width: int) -> Iterator[str]:
    alike: dict[str, list[dict[str, Any]]] = {}
    for one in found:
        if one["groups"]:  # none where nothing was answered
            alike.setdefault(str(one["groups"]), []).append(one)
    for several in alike.values():
        text = f"{operation}, {' '.join(one['dtype'] for one in several)}: {_groups(several)}"
        yield from textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="    ", break_long_words=False)


def _groups(several: list[dict[str, Any]]) -> str:
    """Return the groups that several dtypes have in common, each but the first with how far it is from that."""
    first, *others = several[0]["groups"]
    said = [named(first)]
    for group in others:
        ends = {"one": first[0], "other": group[0]}
        pairs = [pair for one in several for pair in one["pairs"] if ends.items() <= pair.items()]
        said.append(named(group) + (_far(max(pairs, key=lambda pair: pair["share"])) if pairs else ""))
    return " | ".join(said)


def named(group: Sequence[str]) -> str:
    """Return the subjects of a group without their operation, those of one paradigm and platform together."""
    names: dict[tuple[str, str], list[str]] = {}
    for subject in group:
        implementation, _, platform = subject.partition("@")
        _, paradigm, name = implementation.split("/")
        names.setdefault((paradigm, platform), []).append(name)
    return " = ".join(f"{paradigm}/{','.join(several)}@{platform}" for (paradigm, platform), several in names.items())


def _far(pair: dict[str, Any]) -> str:
    if pair["open"] and pair["open"] == pair["differing"]:
        return " (only what is left open)"
    # A cause may follow the name of the implementation that it is the cause of.
    cause = plain(pair["cause"]).removeprefix(f"{pair['one']}: ").removeprefix(f"{pair['other']}: ")
    return f" ({figure(pair['share'])}{', ' if cause else ''}{clip(cause, _LONGEST)})"
