"""Which element types ranks on a platform cannot send to each other: one rank tries, and says."""

from __future__ import annotations

from platforms.execution import CallLost
from platforms.platform import Platform
from platforms.ranks.world import START_LIMIT, World


def lacking_between_ranks(platform: Platform) -> dict[str, str]:
    """Return the dtypes that ranks on ``platform`` cannot send, each with what the backend says.

    Where ranks cannot be started nothing is said of a dtype: every case will say why.
    """
    try:
        (said,) = World.of(platform, 1).ask({"trial": True}, START_LIMIT)
    except CallLost:
        return {}
    return {dtype: f"{platform.collective}: {why}" for dtype, why in said.items() if why}
