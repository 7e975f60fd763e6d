"""Teeth: what would the judge have refused?

A check is worth what it can refuse. For each case cheap corruptions of the golden result are put before the same judge;
what it would accept, the case cannot find (the tolerance is too wide for it, or the values are too kind).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from golden.dtypes import dtype_of, encode
from golden.judge import EXACT, Golden, judge
from golden.rounding import round_significand

NEXT_LOWER = {"float64": 24, "float32": 11, "float16": 8, "bfloat16": 4}
"""Significand bits of the next lower precision: float32 for float64, tf32 for float32, bfloat16's, float8's."""

CORRUPTIONS = ("zeros", "last dropped", "permuted", "lower inputs", "tile unwritten")

_TILE = 16

Reference = Callable[[Mapping[str, np.ndarray]], np.ndarray]


@dataclass(frozen=True)
class Teeth:
    """Which corruptions the judge ``refused`` and which it ``accepted``; one that changes no bit is in neither."""

    refused: tuple[str, ...]
    accepted: tuple[str, ...]

    @property
    def vacuous(self) -> bool:
        """Nothing that was tried would have been refused."""
        return bool(self.accepted) and not self.refused


def bite(
    golden: Golden,
    inputs: Mapping[str, np.ndarray],
    reference: Reference,
    *,
    reduced_axes: Mapping[str, int],
    neutral: float,
) -> Teeth:
    """Return the teeth of a case.

    ``inputs`` are the decoded values by tensor, ``reference`` the contract's formula over plain arrays,
    ``reduced_axes`` the axis of each tensor that the reduction runs along, and ``neutral`` the value that takes an
    element out of the reduction.
    """
    outcomes: dict[str, list[str]] = {"refused": [], "accepted": []}
    with np.errstate(all="ignore"):
        # The plain formula is not golden's rounded result: what leaves the plain one as it is, is no change.
        plain = functools.cache(lambda: reference(inputs))

        def changes(corrupted: np.ndarray) -> bool:
            return not np.array_equal(corrupted, plain(), equal_nan=True)

        for name, corrupted in _corrupted(golden, inputs, reference, reduced_axes, neutral):
            if golden.dtype == "float64" and not changes(corrupted):
                continue
            if _far(golden, corrupted):
                outcomes["refused"].append(name)
                continue
            verdict = judge(golden, encode(corrupted, golden.dtype))
            if not verdict.passes:
                outcomes["refused"].append(name)
            elif verdict.status != EXACT and changes(corrupted):
                outcomes["accepted"].append(name)
    return Teeth(tuple(outcomes["refused"]), tuple(outcomes["accepted"]))


def bite_all(
    goldens: Mapping[str, Golden],
    inputs: Mapping[str, np.ndarray],
    reference: Callable[[Mapping[str, np.ndarray]], tuple[np.ndarray, ...]],
    *,
    reduced_axes: Mapping[str, int],
    neutral: float,
) -> Teeth:
    """Return the teeth of a case of several results: a corruption is refused where any result betrays it."""

    def only(number: int) -> Reference:
        return lambda changed: np.ma.getdata(reference(changed)[number])

    teeth = [
        bite(golden, inputs, only(number), reduced_axes=reduced_axes, neutral=neutral)
        for number, golden in enumerate(goldens.values())
    ]
    refused = tuple(name for name in CORRUPTIONS if any(name in one.refused for one in teeth))
    accepted = {name for one in teeth for name in one.accepted if name not in refused}
    return Teeth(refused, tuple(name for name in CORRUPTIONS if name in accepted))


def _corrupted(
    golden: Golden,
    inputs: Mapping[str, np.ndarray],
    reference: Reference,
    reduced_axes: Mapping[str, int],
    neutral: float,
) -> Iterator[tuple[str, np.ndarray]]:
    if not golden.nominal.size:
        return

    def recompute(changed: Mapping[str, np.ndarray]) -> np.ndarray:
        return reference({**inputs, **changed})

    yield "zeros", np.zeros_like(golden.value)
    tensor, axis = next(iter(reduced_axes.items()), (list(inputs)[-1], -1))
    if reduced_axes:
        yield "last dropped", recompute({tensor: _last_dropped(inputs[tensor], axis, neutral)})
    if inputs[tensor].ndim:
        yield "permuted", recompute({tensor: np.roll(inputs[tensor], 1, axis)})
    if golden.dtype in NEXT_LOWER:
        bits = NEXT_LOWER[golden.dtype]
        floats = {name: x for name, x in inputs.items() if x.dtype == np.float64}
        yield "lower inputs", recompute({name: round_significand(x, bits) for name, x in floats.items()})
    yield "tile unwritten", _last_tile_zeroed(golden.value)


def _far(golden: Golden, corrupted: np.ndarray) -> bool:
    """Whether some element is so far out that it is refused however it is rounded: a quick way to most answers."""
    rounding = dtype_of(golden.dtype).unit * np.abs(corrupted)
    return bool((np.abs(corrupted - golden.value) > 2 * (golden.drift + golden.radius) + rounding).any())


def _last_dropped(values: np.ndarray, axis: int, neutral: float) -> np.ndarray:
    dropped = values.copy()
    if dropped.dtype.kind == "i":  # which has no infinities
        neutral = min(max(neutral, np.iinfo(dropped.dtype).min), np.iinfo(dropped.dtype).max)
    if values.shape[axis]:
        np.moveaxis(dropped, axis, -1)[..., -1] = neutral
    return dropped


def _last_tile_zeroed(value: np.ndarray) -> np.ndarray:
    """Return golden with its last tile zero, as where a kernel's grid is one program short."""
    output = value.copy()
    corner: tuple[int | slice, ...] = (-1,) * (output.ndim - 2)
    corner += tuple(slice(-min(_TILE, size), None) for size in output.shape[-2:])
    output[corner] = 0
    return output
