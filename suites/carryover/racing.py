"""How a field is timed: each is tried and judged on the very case, and those that are right race."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from golden.dtypes import DTYPES
from golden.judge import WRONG, Golden, Verdict, judge_all
from golden.numerics import relaxed
from golden.precision import Precision
from kernels.registry import Implementation
from platforms.pool import Pool, WorkerError
from platforms.processor import processor
from reports.heat import FLOORS, TIMED, Arm, Heat
from reports.ink import plain
from reports.record import VERDICTS
from suites.carryover.fields import Field
from suites.carryover.parts import parts
from suites.subject import Subject

LEAST_ROUNDS = 7
"""Rounds of the slowest race."""

SECONDS = 0.1
"""Seconds that a round may take, before there are fewer rounds."""

LONGEST = 0.5
"""Seconds that one call may take; what is slower is not timed, as seven rounds of it would take too long."""


def raced(pool: Pool, field: Field, *, lacking: Mapping[str, str], rounds: int) -> Heat:
    """Return what came of the race of ``field`` over ``rounds`` rounds, fewer where calls are slow, more if brief.

    ``lacking`` is what the platform cannot do, its capabilities. Raises HeatError if a clock stood still.
    """
    judging = _Judging(field)
    arms: list[Arm] = []
    ready: dict[Entrant, float] = {}
    for subject in field.subjects:
        for one in _entrants(pool, subject):
            tried = _tried(pool, field, one, judging, lacking)
            if isinstance(tried, Arm):
                arms.append(tried)
            else:
                ready[one] = tried
    fair = min(rounds, max(LEAST_ROUNDS, int(rounds * SECONDS / max(sum(ready.values()), 1e-9))))
    said: dict[str, Any] = {}
    if ready:
        try:
            said = pool.call(
                field.platform,
                "platforms.race:race",
                entrants=[one.name for one in ready],
                case=field.case.line,
                picks=judging.picks,
                rounds=fair,
            )
        except WorkerError as error:
            arms += [_arm(one, "failed", message=plain(str(error))) for one in ready]
            ready = {}
    for one in ready:
        verdict, wrong = judging.verdict(one.implementation, said["taken"][one.name])
        if wrong:
            arms.append(_arm(one, "wrong", verdict=verdict, message=f"after {len(said['spins'])} rounds: {wrong}"))
        else:
            figures = {name: said[name][one.name] for name in ("seconds", "compilations", "widest")}
            arms.append(_arm(one, TIMED, verdict=verdict, call=ready[one], **figures))
    return _heat(pool, field, arms, said)


def _heat(pool: Pool, field: Field, arms: Sequence[Arm], said: Mapping[str, Any]) -> Heat:
    floors = {name: tuple(values) for name, values in said.get("seconds", {}).items() if name in FLOORS}
    order = [subject.implementation.id for subject in field.subjects]
    return Heat(
        operation=field.operation.name,
        case=field.case.line,
        dtype=field.case.dtype,
        platform=field.platform.name,
        device=_device(pool, field),
        size=field.size,
        clock=said.get("clock", ""),
        caches=said.get("caches", ""),
        sets=said.get("sets", 0),
        moved=said.get("moved", 0),
        operations=said.get("operations", 0),
        spins=tuple(said.get("spins", ())),
        floors=floors,
        arms=tuple(sorted(arms, key=lambda arm: order.index(arm.implementation))),
    )


def _device(pool: Pool, field: Field) -> str:
    """Return what the device calls itself: the processor, for all platforms that are on the host."""
    facts = pool.describe(field.platform)["facts"]
    return str(processor()["name"] if field.platform.hardware == "host" else facts.get("name", field.platform.name))


class Entrant(NamedTuple):
    """An implementation, and the setting that it is held to, of those that its tuner may choose, or ""."""

    implementation: Implementation
    setting: str = ""

    @property
    def name(self) -> str:
        """What it is called in a race."""
        return f"{self.implementation.id}[{self.setting}]" if self.setting else self.implementation.id


def _entrants(pool: Pool, subject: Subject) -> Iterator[Entrant]:
    """Yield an implementation as it is, and in each setting that its tuner may choose."""
    one = subject.implementation
    yield Entrant(one)
    with contextlib.suppress(WorkerError):  # a platform that cannot be used says so when it is tried
        for setting in pool.call(subject.platform, "platforms.race:settings", implementation=one.id):
            yield Entrant(one, setting)


def _arm(entrant: Entrant, status: str, **figures: Any) -> Arm:
    one, setting = entrant
    # A setting is no rung of its own.
    base, technique = ("", "") if setting else (one.base, one.technique or "")
    return Arm(implementation=one.id, setting=setting, status=status, optimizes=base, technique=technique, **figures)


def _tried(pool: Pool, field: Field, entrant: Entrant, judging: _Judging, lacking: Mapping[str, str]) -> Arm | float:
    """Return the seconds of a call of what may race, else what keeps it from that."""
    one, dtype = entrant.implementation, field.case.dtype
    keys = (one.paradigm, dtype, f"{one.paradigm}/{dtype}")
    reason = one.refuses(field.case) or next((lacking[key] for key in keys if key in lacking), "")
    if reason:
        return _arm(entrant, "unsupported", message=reason)
    target, line = "platforms.race:trial", field.case.line
    try:
        said = pool.call(field.platform, target, entrant=entrant.name, case=line, picks=judging.picks)
    except WorkerError as error:
        return _arm(entrant, "failed", message=plain(str(error)))
    if said["status"] != "returned":
        return _arm(entrant, said["status"], message=plain(said["message"]))
    verdict, wrong = judging.verdict(one, said["taken"])
    if wrong:
        return _arm(entrant, "wrong", verdict=verdict, message=wrong)
    seconds = float(said["seconds"])
    if seconds > LONGEST:
        return _arm(entrant, "too slow", call=seconds, message=f"a call takes {seconds:.2g} s")
    return seconds


class _Judging:
    """Holds what implementations made of the case of a field against golden results of its parts."""

    def __init__(self, field: Field) -> None:
        self._operation, self._dtype = field.operation, field.case.dtype
        self._parts = parts(field.operation, field.case)
        self._goldens: dict[Precision, list[dict[str, Golden]]] = {}
        self.picks = [part.pick for part in self._parts]

    def verdict(self, one: Implementation, taken: Sequence[Sequence[Mapping[str, Any]]]) -> tuple[str, str]:
        """Return the judge's word on ``taken``, what the picks took, and why that is wrong, or "".

        A drift is no further than a correct implementation may be; what accounts for it is not asked here.
        """
        contract = self._operation.precision(self._dtype)
        worst = Verdict(WRONG, 0)
        for precision in (contract, *relaxed(contract, one.numerics, self._dtype)):
            worst = self._worst(precision, taken)
            if worst.status != WRONG:
                return worst.status, ""
        return worst.status, worst.detail

    def _worst(self, precision: Precision, taken: Sequence[Sequence[Mapping[str, Any]]]) -> Verdict:
        if precision not in self._goldens:
            self._goldens[precision] = [part.goldens(self._operation, precision) for part in self._parts]
        verdicts = [_judged(*pair) for pair in zip(self._goldens[precision], taken, strict=True)]
        return max(verdicts, key=lambda one: VERDICTS.index(one.status))


def _judged(goldens: Mapping[str, Golden], taken: Sequence[Mapping[str, Any]]) -> Verdict:
    """Return the verdict on the results of one part; dtypes and shapes must be the golden ones."""
    expected = [(golden.dtype, list(golden.value.shape)) for golden in goldens.values()]
    found = [(one["dtype"], one["shape"]) for one in taken]
    if expected != found:
        return Verdict(WRONG, 0, detail=f"results of {found}, not {expected}")
    arrays = [np.frombuffer(base64.b64decode(one["bits"]), DTYPES[one["dtype"]].storage) for one in taken]
    return judge_all(goldens, [array.reshape(one["shape"]) for array, one in zip(arrays, taken, strict=True)])
