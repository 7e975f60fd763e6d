"""A heat: what one race on one platform left, a line of results beside the records.

All implementations of an operation that were judged right for its case were timed in turns, on the same inputs. A heat
holds the seconds of every round, so that whatever is said of it can be computed again. It is checked when it is made.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, NoReturn

from reports.manifest import BundleError

TIMED = "timed"

STATUSES = (TIMED, "wrong", "does not compile", "does not fit", "unsupported", "too slow", "failed")
"""What may have become of an implementation before a race; only what was judged right is timed."""

SIZES = ("small", "medium", "filling")
"""How large a case is for a device: launching takes longer than the work; in between; all its units are busy."""

FLOORS = ("copy", "product")
"""A copy of the bytes that a case must move, and a matrix product of as many operations as there are in it."""


class HeatError(BundleError):
    """A heat contradicts itself or is malformed; the message names the field, its value and what is right."""


@dataclass(frozen=True, kw_only=True)
class Arm:
    """One implementation in a heat.

    Attributes:
        implementation: its id, operation/paradigm/name.
        status: one of STATUSES.
        verdict: what the judge said of its output on the very case.
        message: why it was not timed.
        optimizes, technique: the id of the implementation that it makes faster, and how; "" where it is no rung.
        setting: the configuration that it was held to, of those that its tuner may choose; "" for its own choice.
        call: the seconds of one call before the race, by the host's clock; 0 where there was none.
        seconds: of each round.
        compilations: how often it was compiled anew in these rounds, whose calls are all equal.
        widest: the bits that its code moves at once between memory and registers, at most; 0 where nobody knows.
    """

    implementation: str
    status: str
    verdict: str = ""
    message: str = ""
    optimizes: str = ""
    technique: str = ""
    setting: str = ""
    call: float = 0.0
    seconds: tuple[float, ...] = ()
    compilations: int = 0
    widest: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "seconds", tuple(self.seconds))
        if self.implementation.count("/") != 2:
            _refuse("implementation", self.implementation, "operation/paradigm/name")
        if self.status not in STATUSES:
            _refuse("status", self.status, f"one of {', '.join(STATUSES)}")
        if bool(self.seconds) != (self.status == TIMED):
            _refuse(f"seconds of {self.implementation}", self.seconds, f"there if it was timed; it is {self.status!r}")
        for name in ("compilations", "widest"):
            if not isinstance(getattr(self, name), int) or getattr(self, name) < 0:
                _refuse(f"{name} of {self.implementation}", getattr(self, name), "an integer of 0 or more")
        _check_seconds(self.implementation, self.seconds)

    @property
    def paradigm(self) -> str:
        return self.implementation.split("/")[1]

    @property
    def name(self) -> str:
        """Its id, and its setting if it has one."""
        return f"{self.implementation}[{self.setting}]" if self.setting else self.implementation


@dataclass(frozen=True, kw_only=True)
class Heat:
    """One race. Raises HeatError if its fields are inconsistent.

    Attributes:
        case, dtype: what was computed; the case as its one line.
        platform, device: where: the platform's name, and what the device calls itself.
        size: one of SIZES.
        clock: what was read.
        caches: "flushed" before each call, or "exceeded" by what the case moves.
        sets: how many equal sets of inputs the rounds took turns with.
        moved, operations: bytes that the case must move, and operations of the product in it.
        floors: the seconds of each round by name, of FLOORS.
        spins: the seconds of a piece of work that is always the same, in each round.
        arms: the implementations.
    """

    operation: str
    case: str
    dtype: str
    platform: str
    device: str
    size: str
    clock: str
    caches: str
    sets: int
    moved: int
    operations: int = 0
    spins: tuple[float, ...] = ()
    floors: Mapping[str, Sequence[float]] = field(default_factory=dict)
    arms: tuple[Arm, ...] = ()

    def __post_init__(self) -> None:
        for name in ("spins", "arms"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "floors", {name: tuple(seconds) for name, seconds in self.floors.items()})
        if self.size not in SIZES:
            _refuse("size", self.size, f"one of {', '.join(SIZES)}")
        _check_seconds("spins", self.spins)
        timed = {arm.name: arm.seconds for arm in self.arms if arm.status == TIMED}
        for name, seconds in [*timed.items(), *self.floors.items()]:
            _check_seconds(name, seconds)
            if len(seconds) != len(self.spins):
                _refuse(f"seconds of {name}", len(seconds), f"{len(self.spins)}, the number of rounds")
        names = [arm.name for arm in self.arms]
        if len(set(names)) < len(names):
            _refuse("arms", names, "each there once")
        for arm in self.arms:
            if arm.implementation.split("/")[0] != self.operation:
                _refuse("arms", arm.implementation, f"of the heat's own operation, {self.operation}")

    def to_json(self) -> str:
        """Return the heat as one line of strict JSON."""
        return json.dumps(asdict(self), separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_json(cls, line: str) -> Heat:
        """Return the heat that ``line`` says; raises HeatError for anything but what ``to_json`` writes."""
        try:
            value = json.loads(line)
            arms = [Arm(**_known(Arm, one)) for one in value["arms"]]
            return cls(**{**_known(cls, value), "arms": arms})
        except (ValueError, RecursionError, TypeError, KeyError, AttributeError) as error:
            raise HeatError(
                f"a heat is one line of JSON as heats are written; {type(error).__name__}: {error}"
            ) from None


def _known(kind: Any, value: dict[str, Any]) -> dict[str, Any]:
    names = {one.name for one in fields(kind)}
    if unknown := set(value) - names:
        raise HeatError(f"unknown field {sorted(unknown)[0]!r} in a heat; there are {', '.join(sorted(names))}")
    return value


def _check_seconds(name: str, seconds: Sequence[float]) -> None:
    for number, one in enumerate(seconds):
        if isinstance(one, bool) or not isinstance(one, (int, float)) or not (math.isfinite(one) and one > 0):
            _refuse(f"seconds of {name}, round {number},", one, "a positive, finite number; does its clock run?")


def _refuse(name: str, value: object, right: str) -> NoReturn:
    raise HeatError(f"heat field {name} is {value!r}; it must be {right}")
