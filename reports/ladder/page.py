"""What bundles with heats say, for people: as text for a terminal, or as Markdown for a page."""

from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from tabulate import tabulate  # type: ignore[import-untyped]

from reports.heat import SIZES, Heat
from reports.ink import clip, counted
from reports.ladder.carrying import Way, ways
from reports.ladder.classes import CLASSES, FASTER, MARGIN, NEUTRAL, OBSTACLES, SLOWER, UNRESOLVED
from reports.ladder.interval import CONFIDENCE
from reports.ladder.portability import NATIVE, Question, best, portabilities, shares
from reports.ladder.rungs import CERTAIN, SPREAD, Rung, drift, floor, rungs, spreads
from reports.ladder.tuning import carried_settings

INTRODUCTION = """\
Made by `python -m reports carryover --write docs/carryover.md DIR...` from bundles of `suites/test_carryover.py`. A
figure is how many times as fast an optimization is as what it optimizes, both judged right on the very case and timed
in turns in one process. `carries over`: it pays on both devices. `gained`: on the second alone, and costs nothing on
the first. `neutral`: it pays nothing on the second, and costs nothing. `slower`: it costs there, and did not pay on the
first. `reversed`: it pays on one and costs on the other. `unresolved`: an interval leaves it open. Where the same
implementation runs on both, it is compared with itself; else the fastest of its paradigms on each.

Several bundles of one device are several runs of it, which are told together; two that differ leave a rung open.
`--since OLD` holds bundles against an older one of the same machine: what brings half as much as it did, or is half as
fast beside a copy or a product, as after an update of a compiler, is flagged as `SLOWER`, and the exit code is 1."""


class Page:
    """Tables and lines of ``heats``, of any number of devices. ``markdown`` says for which medium."""

    def __init__(self, heats: Sequence[Heat], *, markdown: bool = False) -> None:
        self.heats = heats
        self.rungs = list(rungs(heats))
        self._best = best(heats)
        self.devices = list(dict.fromkeys(heat.device for heat in heats))
        self._format = "pipe" if markdown else "simple"
        self._mark = "## " if markdown else ""

    def whole(self) -> str:
        """Return everything."""
        parts = [self.machines()]
        parts += [self.between(*pair) for pair in itertools.combinations(self.devices, 2)]
        parts += [self.settings(*pair) for pair in itertools.permutations(self.devices, 2)]
        parts += [self.ladder(device) for device in self.devices]
        parts += [self.against_native(), self.portability()]
        return "\n\n".join(part for part in parts if part)

    def document(self) -> str:
        """Return everything as a page of its own."""
        return f"# Which optimizations carry over\n\n{INTRODUCTION}\n\n{self.whole()}\n"

    def brief(self) -> str:
        """Return one line a technique: between devices if any technique is on several, else on each."""
        return self._between_all() or self._on_each()

    def here(self) -> str:
        """Return one line a technique on each device, and then between them."""
        return "\n\n".join(part for part in (self._on_each(), self._between_all()) if part)

    def _on_each(self) -> str:
        return "\n\n".join(self.techniques(device) for device in self.devices)

    def _between_all(self) -> str:
        parts = (self.summary(*pair) for pair in itertools.combinations(self.devices, 2))
        return "\n\n".join(part for part in parts if part)

    def machines(self) -> str:
        """Return how each device was timed."""
        rows = []
        for device in self.devices:
            own = [heat for heat in self.heats if heat.device == device]
            rounds = [len(heat.spins) for heat in own if heat.spins]
            caches = Counter(heat.caches for heat in own if heat.caches)
            unsteady = sum(drift(heat) > MARGIN for heat in own)
            rows.append(
                [
                    device,
                    ", ".join(sorted({heat.platform for heat in own})),
                    len(own),
                    max((rung.runs for rung in self.rungs if rung.heat.device == device), default=0),
                    f"{min(rounds, default=0)}-{max(rounds, default=0)}",
                    ", ".join(sorted({heat.clock for heat in own if heat.clock})),
                    ", ".join(f"{number} {word}" for word, number in sorted(caches.items())),
                    unsteady,
                ]
            )
        headings = ["device", "platforms", "heats", "runs", "rounds", "clock", "caches", "unsteady"]
        differ = spreads(self.heats)
        known = ", ".join(f"{100 * differ[one]:.1f}% ({one[0]}, {one[1]})" for one in sorted(differ))
        said = (
            f"Ratios are medians over rounds, and over runs, with their {CONFIDENCE:.0%} intervals; up to {MARGIN} is "
            f"neutral. An interval has in it by how much ratios differ from run to run, one standard deviation: "
            f"{known or f'{100 * SPREAD:.1f}%'}{' as was seen' if known else ', since one run cannot tell'}."
        )
        return f"{self._mark}How it was timed\n\n{self._table(rows, headings)}\n\n{said}"

    def between(self, origin: str, target: str) -> str:
        """Return the class of each technique and operation on the way between two devices, and the summary."""
        found = list(ways(self.rungs, origin, target))
        if not found:
            return ""
        rows = []
        for way in sorted(found, key=lambda way: (CLASSES.index(way.answer), way.origin.arm.technique)):
            rung = way.origin
            rows.append(
                [rung.arm.technique, rung.heat.operation, way.size, _figure(rung), _figure(way.target), way.answer]
            )
        headings = ["technique", "operation", "size", origin, target, "class"]
        heading = f"{self._mark}From {origin} to {target}"
        return f"{heading}\n\n{self._table(rows, headings)}\n\n{self.summary(origin, target)}"

    def summary(self, origin: str, target: str) -> str:
        """Return one line a technique on the way between two devices; "" where none is on both."""
        found: dict[str, list[Way]] = {}
        for way in ways(self.rungs, origin, target):
            found.setdefault(way.origin.arm.technique, []).append(way)
        if not found:
            return ""
        count = Counter(way.answer for several in found.values() for way in several)
        total = ", ".join(f"{count[one]} {one}" for one in CLASSES if count[one])
        said = f"{counted(len(found), 'technique')}, {counted(sum(count.values()), 'comparison')}: {total}."
        return "\n".join([f"From {origin} to {target}: {said}", "", *(f"- {line}" for line in self._summed(found))])

    def _summed(self, found: dict[str, list[Way]]) -> Iterator[str]:
        for technique, several in sorted(found.items()):
            by_class: dict[str, list[str]] = {}
            for way in several:
                gains = " -> ".join(_short(rung) for rung in (way.origin, way.target))
                by_class.setdefault(way.answer, []).append(f"{way.origin.heat.operation} {gains}")
            said = "; ".join(f"{one.upper()} in {', '.join(by_class[one])}" for one in CLASSES if one in by_class)
            yield f"{technique}: {said}"

    def settings(self, origin: str, target: str) -> str:
        """Return what a tuner's choices on one device are worth on another."""
        rows = [
            [one.implementation, one.dtype, one.size, one.here, one.there, str(one.worth or one.reason)]
            for one in carried_settings(self.heats, origin, target)
        ]
        headings = ["implementation", "dtype", "size", f"best on {origin}", f"best on {target}", "speed there"]
        note = "The speed of the one as a share of the other's, on the second device."
        heading = f"{self._mark}Tuned on {origin}, run on {target}"
        return f"{heading}\n\n{self._table(rows, headings)}\n\n{note}" if rows else ""

    def techniques(self, device: str) -> str:
        """Return one line a technique on one device: where it pays, at the largest size that was timed."""
        found: dict[str, dict[str, list[str]]] = {}
        own = _largest(rung for rung in self.rungs if rung.heat.device == device)
        places = Counter(paradigm for paradigm, _ in {(rung.arm.paradigm, rung.heat.platform) for rung in own})
        for rung in own:
            where = f"@{rung.heat.platform}" if places[rung.arm.paradigm] > 1 else ""
            name = f"{rung.heat.operation}/{rung.arm.paradigm}{where} {_short(rung)}"
            found.setdefault(rung.arm.technique, {}).setdefault(rung.standing, []).append(name)
        words = {FASTER: "pays in", NEUTRAL: "neutral in", SLOWER: "costs in", UNRESOLVED: "unresolved in"}
        words |= {one: f"{one} in" for one in OBSTACLES}
        lines = []
        for technique, by_standing in sorted(found.items()):
            parts = [f"{word} {', '.join(by_standing[one])}" for one, word in words.items() if one in by_standing]
            lines.append(f"- {technique}: {'; '.join(parts)}")
        lines += [f"- {line}" for line in self._remarks(device)]
        return "\n".join([f"What optimizations bring on {device}, times as fast:", "", *lines])

    def _remarks(self, device: str) -> Iterator[str]:
        """Yield what counts say against rungs on one device, whatever they bring."""
        own = [rung for rung in self.rungs if rung.heat.device == device]
        for name, bits in dict.fromkeys((rung.arm.name, rung.narrower) for rung in own):
            if bits:
                yield f"narrower: {name} moves {bits[1]} bits at once, and what it optimizes {bits[0]}"
        for name in dict.fromkeys(rung.arm.name for rung in own if rung.arm.compilations):
            yield f"recompiled: {name} is compiled anew in equal calls"

    def ladder(self, device: str) -> str:
        """Return every rung of a device over sizes, and its efficiency where the device is busiest."""
        found: dict[tuple[str, str, str], dict[str, Rung]] = {}
        for rung in self.rungs:
            if rung.heat.device == device:
                key = rung.arm.implementation, rung.heat.platform, rung.heat.dtype
                found.setdefault(key, {})[rung.heat.size] = rung
        rows = []
        for (name, platform, dtype), sizes in sorted(found.items()):
            last = next(sizes[size] for size in reversed(SIZES) if size in sizes)
            efficiency = [_share(seconds / last.seconds) for seconds in (floor(last.heat), self._library(last.heat))]
            where = [_figure(sizes[size], named=False) if size in sizes else "" for size in SIZES]
            rows.append([last.arm.technique, name, platform, dtype, *where, *efficiency])
        headings = ["technique", "implementation", "platform", "dtype", *SIZES, "of the floor", "of the library"]
        note = "The floor: a copy of as many bytes, or a matrix product of as many operations. The library: PyTorch's."
        remarks = "\n".join(f"- {line}" for line in self._remarks(device))
        parts = [f"{self._mark}Ladders on {device}", self._table(rows, headings), note, remarks]
        return "\n\n".join(part for part in parts if part) if rows else ""

    def _library(self, heat: Heat) -> float:
        """Return the seconds of the vendor's library on the device and case of ``heat``; 0 where it was not timed."""
        question = Question(heat.device, heat.operation, heat.dtype, heat.size)
        return self._best.get(question, {}).get("torch", (0.0, ""))[0]

    def against_native(self) -> str:
        """Return how fast the best kernel of each paradigm is, as a share of the best native one or library."""
        found = self._best
        paradigms = sorted({paradigm for answers in found.values() for paradigm in answers} - {"cpp", "cuda", "torch"})
        rows = []
        for question, answers in sorted(found.items()):
            of_native = shares(answers)
            if of_native.keys() & set(paradigms) and question.size == SIZES[-1]:
                native = min(answers[one] for one in NATIVE if one in answers)[1]
                cells = [_share(of_native[one]) if one in of_native else "" for one in paradigms]
                rows.append([question.device, question.operation, question.dtype, native, *cells])
        headings = ["device", "operation", "dtype", "best native", *paradigms]
        if not rows:
            return ""
        heading = f"{self._mark}The best of each paradigm, as a share of the best native code"
        return f"{heading}\n\n{self._table(rows, headings)}"

    def portability(self) -> str:
        """Return the performance portability of each paradigm over all devices, by operation and in all."""
        found = list(portabilities(self.heats))
        if not found:
            return ""
        paradigms = sorted({name for one in found for name in one.efficiencies})
        metrics = {name: [one.metric(name) for one in found] for name in paradigms}
        rows = [
            [one.operation, one.dtype, *(_share(metrics[name][place]) or "0" for name in paradigms)]
            for place, one in enumerate(found)
        ]
        rows.append(["median", "", *(_share(statistics.median(metrics[name])) for name in paradigms)])
        note = "The harmonic mean of efficiencies beside the fastest kernel of each device; 0 where one has no kernel."
        heading = f"{self._mark}Performance portability over {', '.join(self.devices)}"
        return f"{heading}\n\n{self._table(rows, ['operation', 'dtype', *paradigms])}\n\n{note}"

    def _table(self, rows: Sequence[Sequence[object]], headings: Sequence[str]) -> str:
        return str(tabulate(rows, headings, tablefmt=self._format, disable_numparse=True))


def _largest(found: Iterable[Rung]) -> list[Rung]:
    """Return of each implementation and platform the rung of the largest size, of its first dtype."""
    best_of: dict[tuple[str, str], Rung] = {}
    for rung in found:
        key = rung.arm.implementation, rung.heat.platform
        known = best_of.get(key)
        if known is None or SIZES.index(rung.heat.size) > SIZES.index(known.heat.size):
            best_of[key] = rung
    return list(best_of.values())


def _figure(rung: Rung, *, named: bool = True) -> str:
    """Return a rung's gain with its interval, in which paradigm, or what kept it from being timed."""
    said = str(rung.gain) if rung.gain else clip(f"{rung.standing}: {rung.reason}", 40)
    mark = "?" if rung.gain and rung.standing == UNRESOLVED else ""
    return f"{said}{mark} {rung.arm.implementation.partition('/')[2]}" if named else f"{said}{mark}"


def _short(rung: Rung) -> str:
    beyond = {FASTER: f">{CERTAIN:g}", SLOWER: f"<{1 / CERTAIN:g}"}
    return f"{rung.gain.ratio:.2f}" if rung.gain else beyond.get(rung.standing, "-")


def _share(value: float) -> str:
    return f"{value:.0%}" if math.isfinite(value) and value > 0 else ""
