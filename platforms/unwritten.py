"""Which elements of a result still hold poison: looked for where the result lies, part by part.

So even a huge result is looked through whole, though it is never brought to the host and never held twice: what is kept
is one bit an element, and nothing of parts without poison.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch

from platforms.patterns import integer_type, signed

PART = 2**26
"""Elements that are looked through at a time."""


@dataclass(frozen=True)
class Poisoned:
    """The elements of a result of ``shape`` that hold poison. It is false if there are none.

    ``parts`` follow each other along the first axis: ``rows`` of it each, as bits in the order of the elements.
    """

    shape: tuple[int, ...]
    rows: int
    parts: tuple[np.ndarray | None, ...]

    def __bool__(self) -> bool:
        return any(part is not None for part in self.parts)

    def __and__(self, other: Poisoned) -> Poisoned:
        """Return what holds poison in both, which must be of one shape."""
        pairs = zip(self.parts, other.parts, strict=True)
        both = (None if one is None or two is None else one & two for one, two in pairs)
        return Poisoned(
            self.shape, self.rows, tuple(part if part is not None and part.any() else None for part in both)
        )

    @property
    def count(self) -> int:
        """How many elements hold poison."""
        return sum(int(_BITS[part].sum()) for part in self.parts if part is not None)

    @property
    def first(self) -> tuple[int, ...]:
        """The index of the first element that holds poison; raises StopIteration if none does."""
        number, part = next((number, part) for number, part in enumerate(self.parts) if part is not None)
        byte = int(np.argmax(part > 0))
        place = 8 * byte + int(np.argmax(np.unpackbits(part[byte : byte + 1])))
        place += number * self.rows * math.prod(self.shape[1:])
        return tuple(int(one) for one in np.unravel_index(place, self.shape))

    def __str__(self) -> str:
        first = ", ".join(map(str, self.first))
        return f"{self.count} of {math.prod(self.shape)} output elements, first [{first}]"


def poisoned(result: torch.Tensor, poison: int) -> Poisoned:
    """Return which elements of ``result`` hold ``poison``, a byte of :mod:`platforms.patterns`."""
    shape = tuple(result.shape)
    if not result.numel():
        return Poisoned(shape, 1, ())
    bits, looked_for = result.view(integer_type(result.dtype)), signed(result.dtype, poison)
    rows = max(1, PART * (shape[0] if shape else 1) // result.numel())
    parts = bits.split(rows) if shape else (bits,)
    return Poisoned(shape, rows, tuple(_packed(part == looked_for) for part in parts))


_BITS = np.array([bin(byte).count("1") for byte in range(256)], np.uint8)


def _packed(found: torch.Tensor) -> np.ndarray | None:
    return np.packbits(found.cpu().numpy()) if bool(found.any()) else None
