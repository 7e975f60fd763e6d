"""The platform that the devices of another one make together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from platforms.execution import Bench, Call
from platforms.platform import Absent, Platform, platform_from_value

RANKS = ":ranks"
"""What stands behind the name of a platform that ranks are on."""

BUDGET = 2**17
"""Elements of all ranks together that a tensor of a case has at most, where a platform does not take fewer."""


@dataclass(frozen=True, kw_only=True)
class Ranks(Platform):
    """Ranks on the devices of ``member``, a platform as JSON values, by the backend that it names."""

    member: Mapping[str, Any]

    @property
    def of(self) -> Platform:
        """The platform that each rank runs on."""
        return platform_from_value(self.member)

    @property
    def worker_environment(self) -> dict[str, str]:
        return self.of.worker_environment

    @property
    def collective(self) -> str:
        return self.of.collective

    @property
    def most_ranks(self) -> int:
        return self.of.most_ranks

    @property
    def spread(self) -> bool:
        return True

    @property
    def grace(self) -> float:
        return 60.0  # ranks may have to be started, twice

    @property
    def hardware(self) -> str:
        return self.of.hardware

    def prepare(self) -> None:
        self.of.prepare()

    def facts(self) -> dict[str, Any]:
        return {**self.of.facts(), "backend": self.collective}

    def capabilities(self) -> dict[str, str]:
        from platforms.ranks.lacking import lacking_between_ranks

        return {**self.of.capabilities(), **lacking_between_ranks(self.of)}

    def call(self, bench: Bench, poison: int, canary: int) -> Call:
        from platforms.ranks.calling import call

        return call(self.of, bench, poison, canary)


def ranks_of(platform: Platform, ranks: int) -> Ranks | Absent:
    """Return what runs operations over that many ranks on the devices of ``platform``, or why nothing does."""
    name, at, place = platform.name.partition("@")
    name = f"{name}{RANKS}{at}{place}"
    if platform.alone:
        return Absent(name, platform.alone)
    if ranks > platform.most_ranks:
        return Absent(name, f"{platform.name} has room for {platform.most_ranks} ranks, not {ranks}")
    return Ranks(
        name=name,
        device=platform.device,
        paradigms=("torch",),
        features=platform.features,
        budget=min(BUDGET, platform.budget),
        gateway=platform.gateway,
        root=platform.root,
        launcher=platform.launcher,
        untimed="what is timed over ranks is how they wait for each other",
        member=platform.to_value(),
    )
