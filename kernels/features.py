"""What a kernel may need of the hardware beyond its paradigm: words that implementations declare, platforms offer."""

from __future__ import annotations

from collections.abc import Iterable

FEATURES = {
    "shared memory": "memory on the chip in which the threads of a block meet",
    "matrix unit": "products of whole tiles, one instruction each",
    "bulk copies": "copies of whole tiles from memory by a unit of their own, while threads go on",
    "symmetric memory": "memory of each of several devices that kernels on all of them read and write",
}
"""Each word and its meaning. A new one belongs here, and among the ``features`` of the platforms that have it."""


def check(words: Iterable[str]) -> None:
    """Raise ValueError, which lists what there is, unless ``words`` are features."""
    if isinstance(words, str):
        raise ValueError(f"features come as a tuple, ({words!r},), not as a text")
    for word in words:
        if word not in FEATURES:
            raise ValueError(f"unknown feature {word!r}; there are {', '.join(FEATURES)}")
