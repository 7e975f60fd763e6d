"""The machines of a run: its own, and those that it reached through gateways."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

GATEWAY = "gateway "
"""What the keys of a bundle's environment begin with that say what is behind a gateway; its name follows."""


def machines(environment: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the name of each machine, with that of its gateway in brackets, and its facts."""
    behind = [(key.removeprefix(GATEWAY), facts) for key, facts in environment.items() if key.startswith(GATEWAY)]
    for name, facts in [("", environment), *behind]:
        known = facts if isinstance(facts, Mapping) else {}
        yield f"{known.get('host', 'unknown')}{f' ({name})' if name else ''}", known
