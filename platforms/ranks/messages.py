"""How what came of a call travels from a rank to the process that waits for it."""

from __future__ import annotations

from typing import Any

from platforms import wire
from platforms.execution import Call
from platforms.outcome import Damage
from platforms.unwritten import Poisoned


def call_to_value(call: Call) -> dict[str, Any]:
    """Return ``call`` as builtin values."""
    return {
        "results": wire.results_to_value(call.results),
        "poisoned": [_poisoned_to_value(one) for one in call.poisoned],
        "damage": [(one.kind, one.detail) for one in call.damage],
        "seconds": call.seconds,
        "message": call.message,
    }


def call_from_value(value: dict[str, Any]) -> Call:
    """Return the call that :func:`call_to_value` made ``value`` of."""
    return Call(
        results=list(wire.results_from_value(value["results"])),
        poisoned=[_poisoned_from_value(one) for one in value["poisoned"]],
        damage=[Damage(kind, detail) for kind, detail in value["damage"]],
        seconds=value["seconds"],
        message=value["message"],
    )


def _poisoned_to_value(one: Poisoned) -> tuple[Any, ...]:
    parts = [None if part is None else wire.array_to_value(part) for part in one.parts]
    return list(one.shape), one.rows, parts


def _poisoned_from_value(value: tuple[Any, ...]) -> Poisoned:
    shape, rows, parts = value
    return Poisoned(tuple(shape), rows, tuple(None if part is None else wire.array_from_value(part) for part in parts))
