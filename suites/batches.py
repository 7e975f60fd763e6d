"""Many examples of Hypothesis, a few at a time.

From its tenth example on, Hypothesis makes five of six by copying parts of the one before into each other. What comes
of that are cases much alike: where it begins again and again, all are drawn afresh. Each batch begins with the
simplest case of all, which only the first should count.
"""

from __future__ import annotations

from collections.abc import Iterator

BATCH = 9
"""New examples of a batch, so that with the simplest there are no more than are all drawn."""


def batches(examples: int) -> Iterator[tuple[int, int]]:
    """Yield number and examples of each batch that ``examples`` take, the repeated simplest one on top."""
    for number, start in enumerate(range(0, examples, BATCH)):
        yield number, min(BATCH, examples - start) + (number > 0)
