"""What a tuner's choice is worth elsewhere: the setting that is best on one device, run on another beside its best."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from reports.heat import Arm, Heat
from reports.ladder.interval import Interval, ratio
from reports.ladder.rungs import median


@dataclass(frozen=True)
class Tuned:
    """An implementation whose settings were timed on two devices, at one size.

    ``worth`` is the speed of the setting that was best at the origin, as a share of that of the best one at the target;
    None where it was not timed there, which ``reason`` says.
    """

    implementation: str
    dtype: str
    size: str
    here: str
    there: str
    worth: Interval | None
    reason: str = ""


def carried_settings(heats: Iterable[Heat], origin: str, target: str) -> Iterator[Tuned]:
    """Yield what settings that were best on ``origin`` are worth on ``target``, devices as they call themselves."""
    known: dict[str, dict[tuple[str, str, str], dict[str, Arm]]] = {origin: {}, target: {}}
    for heat in heats:
        for arm in heat.arms:
            if arm.setting and heat.device in known:
                key = arm.implementation, heat.dtype, heat.size
                known[heat.device].setdefault(key, {})[arm.setting] = arm
    for key in sorted(known[origin].keys() & known[target].keys()):
        here, there = known[origin][key], known[target][key]
        if any(arm.seconds for arm in here.values()) and any(arm.seconds for arm in there.values()):
            yield _tuned(key, _best(here), _best(there), there)


def _tuned(key: tuple[str, str, str], here: Arm, best: Arm, there: dict[str, Arm]) -> Tuned:
    carried = there.get(here.setting)
    if carried is None or not carried.seconds:
        reason = f"{carried.status}: {carried.message}" if carried else "was not tried"
        return Tuned(*key, here.setting, best.setting, None, reason)
    return Tuned(*key, here.setting, best.setting, ratio(best.seconds, carried.seconds))


def _best(arms: dict[str, Arm]) -> Arm:
    return min(arms.values(), key=lambda arm: median(arm.seconds))
