"""In which order the programs of a launch run. A correct kernel does not care."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

ORDERS = ("forward", "reversed", "shuffled")

Program = tuple[int, int, int]


def sequence(order: str, grid: Program, *, seed: int) -> Callable[[int, int, int], Program]:
    """Return a function from the program whose turn it is in Triton's own order to the one that runs instead.

    It maps the programs of ``grid`` one to one. A shuffled order depends on ``grid`` and ``seed`` alone, so that what
    was found in one launch is found again in the next. Raises ValueError for an order that is not in :data:`ORDERS`.
    """
    check(order)
    if order == "forward":
        return lambda x, y, z: (x, y, z)
    if order == "reversed":
        return lambda x, y, z: (grid[0] - 1 - x, grid[1] - 1 - y, grid[2] - 1 - z)
    shuffled = np.random.default_rng(seed).permutation(grid[0] * grid[1] * grid[2])

    def pick(x: int, y: int, z: int) -> Program:
        rest, new_z = divmod(int(shuffled[(x * grid[1] + y) * grid[2] + z]), grid[2])
        return (*divmod(rest, grid[1]), new_z)

    return pick


def check(order: str) -> None:
    """Raise ValueError unless ``order`` is one of :data:`ORDERS`."""
    if order not in ORDERS:
        raise ValueError(f"unknown order {order!r}; there are {', '.join(ORDERS)}")
