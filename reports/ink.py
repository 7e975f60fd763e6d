"""How results are put on a terminal: which characters, which colours, how a number is written.

Everything shown is printable ASCII on one line, whatever a compiler or a driver put into a message, so that no
terminal, log or pipe can choke on it; colour is the only exception, and only where it was asked for.
"""

from __future__ import annotations

import math
import re

_COLOURS = {"pass": "32", "fail": "31;1", "none": "33"}
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")


def plain(text: str) -> str:
    """Return the first line of ``text`` that says anything, in printable ASCII; "" if none does.

    Escape sequences are left out and other characters are written as Python escapes.
    """
    for line in _ESCAPE.sub("", text).splitlines():
        words = " ".join(line.split())
        if words:
            return "".join(one if " " <= one <= "~" else ascii(one)[1:-1] for one in words)
    return ""


def clip(text: str, width: int) -> str:
    """Return ``text`` cut to ``width`` characters, with dots where it was cut."""
    return text if len(text) <= width else text[: max(width - 3, 0)] + "..."


def paint(text: str, outcome: str, *, colour: bool) -> str:
    """Return ``text`` in the colour of an outcome ("pass", "fail" or "none"), or as it is without ``colour``."""
    return f"\x1b[{_COLOURS[outcome]}m{text}\x1b[0m" if colour else text


def figure(value: float) -> str:
    """Return a figure of 0 or more as a short text: two decimals below 100, three digits above."""
    if value == 0 or math.isinf(value):
        return f"{value:g}"
    if value < 0.01:
        return "<0.01"
    return f"{value:.2f}" if value < 100 else f"{value:.3g}"


def counted(number: int, noun: str) -> str:
    """Return ``number`` and ``noun``, which gets an s unless there is one of it."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
