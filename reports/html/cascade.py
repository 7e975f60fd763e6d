"""The cascade plot of performance portability, as SVG that takes its colours from the page."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from reports.ink import clip, plain
from reports.ladder.portability import Portability

_LEFT, _TOP, _WIDTH, _HEIGHT = 42.0, 8.0, 200.0, 140.0  # where the plot is, beside its words
_LONGEST = 26
_LINE = 14.0  # from one line of words to the next
_STROKES = 6  # how many the style tells apart

Point = tuple[float, str]
"""An efficiency, 0 where nothing ran, and the device."""


def cascade(one: Portability) -> Markup:
    """Return efficiencies against the number of devices, a line for each paradigm or technique, from best to worst.

    After Sewall and others, "Interpreting and visualizing performance portability metrics", 2020. A line ends at its
    name and its performance portability; where a device has no kernel it is at 0.
    """
    lines = {
        name: sorted(((share or 0.0, plain(device)) for device, share in shares.items()), key=lambda point: -point[0])
        for name, shares in one.efficiencies.items()
    }
    ends = sorted(lines.items(), key=lambda line: -line[1][-1][0])
    height = max(_HEIGHT, _LINE * len(ends))
    parts = [_axes(len(ends[0][1]), height)]
    row = 0.0
    for number, (name, points) in enumerate(ends):
        # Names are kept from covering each other, and from leaving the picture.
        lowest = _TOP + height - _LINE * (len(ends) - 1 - number)
        row = min(max(_TOP + height * (1 - points[-1][0]), row + _LINE), lowest)
        title = f"{clip(plain(name), _LONGEST)} {percent(one.metric(name))}"
        parts.append(_line(title, points, height, row, number % _STROKES))
    label = "; ".join(
        f"{plain(name)} {percent(one.metric(name))}: {', '.join(map(_said, points))}" for name, points in ends
    )
    return Markup(
        '<svg class="cascade" viewBox="0 0 460 {:.0f}" role="img" aria-label="portability, and efficiencies from best '
        'to worst: {}">{}</svg>'
    ).format(height + 30, label, Markup("").join(parts))


def percent(share: float | None) -> str:
    """Return a share in percent, rounded; "-" for none."""
    return "-" if share is None else f"{100 * share:.0f} %"


def _axes(number: int, height: float) -> Markup:
    parts = [Markup('<path class="axis" d="M{:.0f} {:.0f}v{:.0f}h{:.0f}"/>').format(_LEFT, _TOP, height, _WIDTH)]
    word = Markup('<text class="{}" x="{:.1f}" y="{:.1f}">{}</text>')
    parts += [
        word.format("scale", _LEFT - 5, _TOP + 4 + height * (1 - share), percent(share)) for share in (0.0, 0.5, 1.0)
    ]
    parts += [word.format("count", _across(place, number), _TOP + 16 + height, place + 1) for place in range(number)]
    return Markup("").join(parts)


def _line(name: str, points: Sequence[Point], height: float, row: float, stroke: int) -> Markup:
    """Return one line with a dot for each point, and its name at the height of ``row`` beside its end."""
    spots = [(_across(place, len(points)), _TOP + height * (1 - share)) for place, (share, _) in enumerate(points)]
    dot = Markup('<circle cx="{:.1f}" cy="{:.1f}" r="3"><title>{}: {}</title></circle>')
    dots = Markup("").join(dot.format(*spot, name, _said(point)) for spot, point in zip(spots, points, strict=True))
    path, right = "L".join(f"{x:.1f} {y:.1f}" for x, y in spots), _LEFT + _WIDTH
    return Markup(
        '<g class="stroke-{}"><path d="M{}"/>{}<path class="leader" d="M{:.1f} {:.1f}L{:.0f} {:.1f}"/>'
        '<text x="{:.0f}" y="{:.1f}">{}</text></g>'
    ).format(stroke, path, dots, *spots[-1], right + 6, row, right + 10, row + 4, name)


def _across(place: int, number: int) -> float:
    return _LEFT + _WIDTH * (place + 0.5) / number


def _said(point: Point) -> str:
    share, device = point
    return f"{percent(share) if share else 'none'} on {device}"
