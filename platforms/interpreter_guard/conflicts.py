"""Who touched what in a launch, and which accesses of different programs are in no defined order.

Programs of a launch run in any order and side by side. So two programs that touch the same element conflict if one of
them stores, unless atomics order them: what a program does before an atomic that releases comes before what another
one does after an atomic on the same address that acquires. (Triton's atomics do both unless they say otherwise.) Only
atomics on a single address count, since locks and counters of arrivals are such, and histograms are not. Atomics
themselves never conflict with anything.

The programs are watched one after another. For every element there is one number: the last that stored it, and the only
one that loaded it. The numbers are not those of programs but of *stretches*: a program begins a new one after every
release, so that what it does after the release is not taken for published.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from platforms.interpreter_guard.errors import Conflict
from platforms.interpreter_guard.order import Program
from platforms.interpreter_guard.spans import Area
from platforms.pages import sparse_zeros

_NOBODY = 0
_SEVERAL = -1


class _Trace:
    """For each unit of an area, who stored it last and who loaded it: a stretch, nobody, or several.

    A unit is a power of two of bytes, since element sizes are.
    """

    def __init__(self, area: Area) -> None:
        self.unit = area.unit
        units = -(-(area.end - area.begin) // self.unit)
        self.stored: np.ndarray | None = None
        self.loaded = sparse_zeros(units, np.int32)

    def units(self, offsets: np.ndarray, size: int) -> np.ndarray:
        """Return the indices of the units that accesses of ``size`` bytes at byte ``offsets`` cover."""
        if size < self.unit:
            self._refine(size)
        first = offsets >> (self.unit.bit_length() - 1)
        if size == self.unit:
            return first
        return (first[:, None] + np.arange(size // self.unit)).ravel()

    def _refine(self, unit: int) -> None:
        factor = self.unit // unit
        self.unit = unit
        self.loaded = np.repeat(self.loaded, factor)
        self.stored = None if self.stored is None else np.repeat(self.stored, factor)


class Ledger:
    """Watches the accesses of one launch; :meth:`error` says what was found."""

    def __init__(self) -> None:
        self._traces: dict[Area, _Trace] = {}
        self._programs: list[Program | None] = [None]
        self._stretch = _NOBODY
        # Sets of stretches as the bits of integers: those that come before what is done now, and before an atomic on
        # an address.
        self._before = 0
        self._released: defaultdict[int, int] = defaultdict(int)
        self._first = ""
        self._count = 0

    def begin(self, program: Program) -> None:
        """Note that from now on ``program`` runs."""
        self._before = 0
        self._begin_stretch(program)

    def load(self, area: Area, addresses: np.ndarray, size: int) -> None:
        """Note loads of ``size`` bytes each from ``addresses``, all in ``area``."""
        trace = self._trace(area)
        units = trace.units(area.offsets(addresses), size)
        if trace.stored is not None:
            self._compare("load", "store", trace.stored[units], area, addresses)
        others = self._others(trace.loaded[units])
        trace.loaded[units] = self._stretch if others is None else np.where(others, _SEVERAL, self._stretch)

    def store(self, area: Area, addresses: np.ndarray, size: int) -> None:
        """Note stores of ``size`` bytes each to ``addresses``, all in ``area``."""
        trace = self._trace(area)
        units = trace.units(area.offsets(addresses), size)
        if trace.stored is None:
            trace.stored = np.zeros_like(trace.loaded)
        self._compare("store", "store", trace.stored[units], area, addresses)
        self._compare("store", "load", trace.loaded[units], area, addresses)
        trace.stored[units] = self._stretch

    def differ(self, area: Area, addresses: np.ndarray) -> None:
        """Note that lanes of one store wrote different values to each of ``addresses``."""
        what = f"lanes of one store of program {self._program} write different values to the same element"
        self._note(f"{what}, {area.describe(int(addresses[0]))}", addresses.size)

    def atomic(self, address: int, *, acquires: bool, releases: bool) -> None:
        """Note an atomic on a single address, for the order that it makes."""
        if acquires:
            self._before |= self._released[address]
        if releases:
            self._before |= 1 << self._stretch
            self._released[address] |= self._before
            self._begin_stretch(self._program)

    def error(self) -> Conflict | None:
        """Return what is wrong with the accesses so far, if anything: the first conflict, and the number of lanes."""
        if not self._first:
            return None
        return Conflict(f"conflict: {self._first}; {self._count} lanes in conflict in this launch")

    @property
    def _program(self) -> Program:
        program = self._programs[self._stretch]
        assert program is not None, "no program runs yet"
        return program

    def _begin_stretch(self, program: Program) -> None:
        self._stretch = len(self._programs)
        self._programs.append(program)

    def _trace(self, area: Area) -> _Trace:
        if area not in self._traces:
            self._traces[area] = _Trace(area)
        return self._traces[area]

    def _others(self, stretches: np.ndarray) -> np.ndarray | None:
        """Return where ``stretches`` are in no defined order with what is done now, or None if nowhere."""
        others = (stretches != _NOBODY) & (stretches != self._stretch)
        if not others.any():
            return None
        if self._before:
            known = [one for one in np.unique(stretches[others]) if one > 0 and self._before >> int(one) & 1]
            others &= ~np.isin(stretches, known)
        return others if others.any() else None

    def _compare(self, kind: str, earlier: str, stretches: np.ndarray, area: Area, addresses: np.ndarray) -> None:
        others = self._others(stretches)
        if others is None:
            return
        # An access may cover several units, and then there are as many entries for each address.
        unit = int(np.argmax(others))
        who = self._programs[stretches[unit]] if stretches[unit] != _SEVERAL else None
        whose = f"program {who}" if who else "several programs"
        where = area.describe(int(addresses[unit * addresses.size // stretches.size]))
        what = f"{kind} by program {self._program} and {earlier} by {whose} of the same element, {where}"
        self._note(what, int(others.sum()) * addresses.size // stretches.size)

    def _note(self, what: str, count: int) -> None:
        self._first = self._first or what
        self._count += max(count, 1)
