"""Pictures of summation trees: as text, and as SVG. The equal parts of a tree are named, with their sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

from platforms.profile.trees import Tree, from_brackets, leaves, parts, shape

_SHOWN = 3  # numbers of terms that are written out, of many

_STEP, _HEIGHT, _MARGIN = 14, 220, 24  # of an SVG, in pixels: between terms, of the tree, around it
_STYLE = (
    "text{font:11px sans-serif;fill:#333}.t{font-size:14px}.n{text-anchor:middle;font-size:9px;fill:#777}"
    "path{fill:none;stroke:#36c;stroke-width:1.3}.w{stroke:#c33;stroke-width:2.2}.k{stroke:#999}"
)


class Picture(NamedTuple):
    """A tree to draw: what a file of it is called, its title, and the tree."""

    name: str
    title: str
    tree: Tree


def pictures(platform: str, answers: Iterable[Mapping[str, Any]]) -> Iterator[Picture]:
    """Yield the trees that are evidence of ``answers``, each as :class:`platforms.profile.answer.Answer` has it."""
    for one in answers:
        if tree := one["evidence"].get("tree"):
            name = f"{platform}-{one['machine']}-{one['subject']}".replace("/", "-")
            title = f"{one['machine']} on {platform}, {one['subject']}: {one['answer']}"
            yield Picture(name, title, from_brackets(tree))


def drawn(tree: Tree) -> str:
    """Return the tree as lines of text, the last addition first; each of its equal parts is one line."""
    return "\n".join(_lines(tree, set(_blocks(tree)), "", ""))


def _lines(tree: Tree, blocks: set[Tree], here: str, below: str) -> Iterator[str]:
    if isinstance(tree, int) or tree in blocks:
        yield here + (str(tree) if isinstance(tree, int) else f"{_numbers(tree)}: {_named(tree)}")
        return
    operands = _operands(tree, blocks)
    yield here + ("one after another" if len(operands) > len(tree) else "+" if len(tree) == 2 else "at once")
    for place, operand in enumerate(operands):
        corner, rest = ("└─ ", "   ") if place == len(operands) - 1 else ("├─ ", "│  ")
        yield from _lines(operand, blocks, below + corner, below + rest)


def _blocks(tree: Tree) -> list[Tree]:
    """Return the equal parts of ``tree``, or of what an irregular one adds up."""
    if isinstance(tree, int):
        return []
    return parts(tree) or [block for child in tree for block in _blocks(child)]


def _operands(tree: tuple[Tree, ...], blocks: set[Tree]) -> list[Tree]:
    """Return what is added up one after another, as far as it is that; else what the last step adds."""
    if len(tree) > 2:
        return list(tree)
    total, last = tree
    if isinstance(total, int) or len(total) > 2 or total in blocks:
        return [total, last]
    return [*_operands(total, blocks), last]


def _numbers(tree: Tree) -> str:
    terms = sorted(leaves(tree))
    shown = terms if len(terms) <= _SHOWN + 1 else [*terms[:_SHOWN], "...", terms[-1]]
    return " ".join(map(str, shown))


def _named(block: Tree) -> str:
    count = len(leaves(block))
    return f"{count} terms, {shape(block)}" if count > 2 else f"{count} terms"


def svg(tree: Tree, title: str) -> str:
    """Return the tree as an SVG picture: terms below, the sum above; steps that add more than two terms are red.

    Below the terms stand their numbers, and a line joins each of the equal parts, whose size and shape are in words.
    """
    terms = leaves(tree)
    at = {term: _MARGIN + (place + 0.5) * _STEP for place, term in enumerate(terms)}
    floor, unit = _MARGIN + 20 + _HEIGHT, _HEIGHT / max(_height(tree), 1)
    width = max(2 * _MARGIN + len(terms) * _STEP, 2 * _MARGIN + 7 * len(title))
    drawing = [
        f'<text class="t" x="{_MARGIN}" y="{_MARGIN}">{escape(title)}</text>',
        *_paths(tree, at, floor, unit)[0],
        *(f'<text class="n" x="{at[term]:g}" y="{floor + 12}">{term}</text>' for term in terms),
        *_brackets(tree, at, floor + 18),
    ]
    size = f'width="{width}" height="{floor + 50}" viewBox="0 0 {width} {floor + 50}"'
    return "\n".join(
        [f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', f"<style>{_STYLE}</style>", *drawing, "</svg>", ""]
    )


def _height(tree: Tree) -> int:
    return 0 if isinstance(tree, int) else 1 + max(map(_height, tree))


def _paths(tree: Tree, at: dict[int, float], floor: float, unit: float) -> tuple[list[str], float, float]:
    """Return the paths of ``tree``, and where its root is."""
    if isinstance(tree, int):
        return [], at[tree], floor
    below = [_paths(child, at, floor, unit) for child in tree]
    y = floor - unit * _height(tree)
    xs = [x for _, x, _ in below]
    legs = "".join(f"M{x:g} {foot:g}V{y:g}" for _, x, foot in below)
    kind = ' class="w"' if len(tree) > 2 else ""
    path = f'<path{kind} d="{legs}M{min(xs):g} {y:g}H{max(xs):g}"/>'
    return [*(one for paths, _, _ in below for one in paths), path], sum(xs) / len(xs), y


def _brackets(tree: Tree, at: dict[int, float], y: float) -> Iterator[str]:
    """Yield a line under each of the equal parts, and what they are in words."""
    names: Counter[str] = Counter()
    for block in _blocks(tree):
        names[_named(block)] += 1
        left, right = (end(at[term] for term in leaves(block)) for end in (min, max))
        yield f'<path class="k" d="M{left:g} {y - 3:g}V{y:g}H{right:g}V{y - 3:g}"/>'
    said = "; ".join(f"{count} blocks of {name}" if count > 1 else name for name, count in names.items())
    yield f'<text x="{_MARGIN}" y="{y + 18:g}">{escape(said)}</text>'
