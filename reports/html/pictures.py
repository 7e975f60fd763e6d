"""Pictures for the HTML document, as SVG that takes its colours from the page: summation trees and error histograms."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from markupsafe import Markup

from reports.fleet.errors import EDGES
from reports.ink import figure
from reports.ladder.interval import Interval

_TOKENS = re.compile(r"[()]|\d+")
_MOST_TERMS = 256
_WIDTH, _HEIGHT = 640.0, 150.0
_RATIOS = 1 / 8, 8.0  # the ends of the axis of ratios

Tree = int | tuple["Tree", ...]


def tree(text: str, label: str) -> Markup:
    """Return the picture of a summation tree written as ``((0 1) 2)``, terms below and the sum on top.

    "" for what is not the tree of 2 to 256 terms, each there once.
    """
    parsed = _parsed(text)
    if parsed is None:
        return Markup("")
    places = {term: number for number, term in enumerate(_terms(parsed))}
    lines: list[tuple[float, float, float, float]] = []
    levels = _height(parsed)

    def place(node: Tree) -> tuple[float, float]:
        if isinstance(node, int):
            return (places[node] + 0.5) * _WIDTH / len(places), _HEIGHT
        ends = [place(child) for child in node]
        x, y = sum(end[0] for end in ends) / len(ends), _HEIGHT * (1 - _height(node) / levels)
        lines.extend((x, y, *end) for end in ends)
        return x, y

    place(parsed)
    path = "".join(f"M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}" for x, y, to_x, to_y in lines)
    return Markup(
        '<svg class="tree" viewBox="-4 -4 648 158" role="img" aria-label="{}" preserveAspectRatio="none">'
        '<path d="{}"/></svg>'
    ).format(label, path)


def histogram(counts: Sequence[int]) -> Markup:
    """Return the picture of how many records have which share of the bound, each bar with its numbers as a title."""
    most = max(counts, default=0)
    if not most:
        return Markup("")
    bars = Markup("").join(
        Markup('<rect class="{}" x="{}" y="{:.1f}" width="14" height="{:.1f}"><title>{}</title></rect>').format(
            "beyond" if place > EDGES.index(1.0) else "within",
            place * 16,
            32 - 32 * count / most,
            32 * count / most,
            f"{_range(place)}: {count}",
        )
        for place, count in enumerate(counts)
    )
    said = ", ".join(f"{_range(place)}: {count}" for place, count in enumerate(counts) if count)
    return Markup(
        '<svg class="histogram" viewBox="0 0 {} 34" role="img" aria-label="records by share of the bound: {}">{}</svg>'
    ).format(16 * len(counts), said, bars)


def intervals(gains: Sequence[Interval | None]) -> Markup:
    """Return the picture of ratios with their intervals, one below the other, on a logarithmic axis around 1."""
    parts = [
        Markup('<line class="even" x1="{0:.1f}" x2="{0:.1f}" y1="0" y2="{1}"/>').format(_along(1.0), 12 * len(gains))
    ]
    for number, gain in enumerate(gains):
        if gain:
            low, middle, high = map(_along, (gain.low, gain.ratio, gain.high))
            line = '<line x1="{:.1f}" x2="{:.1f}" y1="{y}" y2="{y}"/><circle cx="{:.1f}" cy="{y}" r="3"/>'
            parts.append(Markup(line).format(low, high, middle, y=12 * number + 6))
    label = "; ".join("not timed" if gain is None else f"{gain} times as fast" for gain in gains)
    return Markup('<svg class="intervals" viewBox="0 0 160 {}" role="img" aria-label="{}">{}</svg>').format(
        12 * len(gains), label, Markup("").join(parts)
    )


def _along(ratio: float) -> float:
    least, most = _RATIOS
    return 160 * math.log(min(max(ratio, least), most) / least) / math.log(most / least)


def _range(place: int) -> str:
    if place == 0:
        return "exact"
    if place == len(EDGES):
        return f"above {figure(EDGES[-1])}"
    return f"{figure(EDGES[place - 1])} to {figure(EDGES[place])}" if place > 1 else f"up to {EDGES[1]:g}"


def _parsed(text: str) -> Tree | None:
    if re.sub(r"[()\d ]", "", text) or len(text) > 64 * _MOST_TERMS:
        return None
    stack: list[list[Tree]] = [[]]
    for token in _TOKENS.findall(text):
        if token == "(":
            stack.append([])
        elif token == ")":
            children = stack.pop()
            if not stack or len(children) < 2:
                return None
            stack[-1].append(tuple(children))
        else:
            stack[-1].append(int(token[:4]))
    if len(stack) != 1 or len(stack[0]) != 1 or isinstance(stack[0][0], int):
        return None
    found = _terms(stack[0][0])
    return stack[0][0] if len(found) == len(set(found)) <= _MOST_TERMS else None


def _terms(node: Tree) -> list[int]:
    return [node] if isinstance(node, int) else [term for child in node for term in _terms(child)]


def _height(node: Tree) -> int:
    return 0 if isinstance(node, int) else 1 + max(map(_height, node))
