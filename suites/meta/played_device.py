"""A platform for tests of what ranks do on a device: each starts afresh, and has another stream and graphs, played.

What is captured is computed anew at each replay, on what its tensors hold then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from platforms.claims import Claim
from platforms.cpu import Cpu
from platforms.probe import Probe


@dataclass(frozen=True, kw_only=True)
class Played(Cpu):
    """The processor, used as a device is."""

    name: str = "played"
    paradigms: tuple[str, ...] = ("torch",)
    start_method: str = "spawn"
    on_request: bool = True

    def beside(self) -> AbstractContextManager[None]:
        return nullcontext()

    def capture(self, function: Callable[[], Any]) -> tuple[Any, Callable[[], None]]:
        result = function()
        return result, lambda: result.copy_(function())


def find(probe: Probe, claims: Sequence[Claim]) -> Iterator[Played]:
    """Yield the played device."""
    yield Played()
