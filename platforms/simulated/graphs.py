"""Graphs of a simulated device: operations that are done while one is captured, to be done again in the same memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar


class Graph:
    """A captured sequence of operations."""

    capturing: ClassVar[Graph | None] = None
    """The graph that is being captured."""

    def __init__(self) -> None:
        self._steps: list[Callable[[], None]] = []

    def add(self, again: Callable[[], None]) -> None:
        """Have ``again`` done at each replay, behind what is there."""
        self._steps.append(again)

    def replay(self) -> None:
        """Do all of it again."""
        for again in self._steps:
            again()


class Capture:
    """A context that captures ``graph``: ``torch.<device>.graph``."""

    def __init__(self, graph: Graph, **_: Any) -> None:
        self._graph = graph

    def __enter__(self) -> None:
        Graph.capturing = self._graph

    def __exit__(self, *_: object) -> None:
        Graph.capturing = None


def refuse(what: str) -> None:
    """Raise RuntimeError while a graph is captured: ``what`` needs the device's numbers on the host."""
    if Graph.capturing is not None:
        raise RuntimeError(f"{what} is not permitted while a graph is captured")
