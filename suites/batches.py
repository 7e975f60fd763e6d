"""Many examples of Hypothesis, a few at a time.

Each batch is a run of Hypothesis of its own, which begins with the simplest case of all: only the first should count.
The first examples come one a batch, so that a strategy can be told which of them it draws, and leave none of the laws
of values out. Later ones come several at a time, which takes less; but no more than are all drawn afresh, since from
its tenth on Hypothesis makes five of six by copying parts of the one before into each other.
"""

from __future__ import annotations

from collections.abc import Iterator

ALONE = 24
"""Examples that come one by one."""

BATCH = 9
"""New examples of a later batch, so that with the simplest there are no more than are all drawn."""


def turn(ahead: int, number: int) -> int:
    """Return whose turn it is in batch ``number`` after ``ahead`` others; the first has none, being the simplest."""
    return ahead + max(number - 1, 0)


def batches(examples: int) -> Iterator[tuple[int, int]]:
    """Yield number and examples of each batch that ``examples`` take, the repeated simplest one on top."""
    alone = min(examples, ALONE)
    for number in range(alone):
        yield number, 1 + (number > 0)
    for number, start in enumerate(range(alone, examples, BATCH), alone):
        yield number, min(BATCH, examples - start) + 1
