"""How functions of Triton are replaced: by wrappers around them, with a book of what was found and what not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Wrapper = Callable[[Callable[..., Any]], Callable[..., Any]]


@dataclass
class Patches:
    """The book: names of what was ``applied``, and of what this version of Triton lacks (``missing``)."""

    applied: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def wrap(self, owner: Any, name: str, wrapper: Wrapper, *, optional: bool = False) -> None:
        """Replace ``owner.name`` by ``wrapper(owner.name)``; an ``optional`` one may be missing in some versions."""
        original = getattr(owner, name, None)
        if original is not None:
            setattr(owner, name, wrapper(original))
            self.applied.append(f"{owner.__name__}.{name}")
        elif not optional:
            self.missing.append(f"{owner.__name__}.{name}")

    def supply(self, owner: Any, name: str, function: Callable[..., Any]) -> None:
        """Set ``owner.name`` where this version lacks it."""
        if not hasattr(owner, name):
            setattr(owner, name, function)
            self.applied.append(f"{owner.__name__}.{name}")
