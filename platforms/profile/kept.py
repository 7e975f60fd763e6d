"""A platform's profile, measured once on a machine and kept: what has not changed is not asked again.

It is asked anew after any change of what takes part in it: of Portolan's probes and of the kernels that they ask, of
the platform, of what its worker says of versions and devices, of the host.
"""

from __future__ import annotations

import functools
import hashlib
import json
import platform as host
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from kernels.toolchains.cache import alone, folder
from platforms.platform import Platform
from platforms.pool import Pool
from platforms.profile.measuring import FAILED, measured

_ROOT = Path(__file__).resolve().parents[2]
_OPERATIONS = ("sum", "gemm", "cast", "add", "exp", "tanh", "floor_divide", "remainder", "shift_right")
_ROOMS = ("golden", "platforms", "kernels/toolchains", *(f"kernels/{operation}" for operation in _OPERATIONS))
_SOURCES = (".py", ".cu", ".mlu", ".cpp", ".hpp", ".cl")


def kept(pool: Pool, platform: Platform, extent: str, *, measure: bool = True) -> dict[str, Any] | None:
    """Return ``{"extent": ..., "seconds": ..., "answers": [...]}`` of ``platform``, measured here and now or before.

    None if it was not measured before and is not to be now. Processes that ask for the same at the same time wait for
    one of them.
    """
    file = folder() / f"profile-{platform.name}-{_key(pool, platform, extent)}.json"
    if not file.exists() and not measure:
        return None
    with alone(file.with_suffix(".lock")):
        if file.exists():
            return json.loads(file.read_text(encoding="utf-8"))
        profile = _measured(pool, platform, extent)
        if not any(one["answer"] == FAILED for one in profile["answers"]):
            _write(file, profile)
        return profile


def _measured(pool: Pool, platform: Platform, extent: str) -> dict[str, Any]:
    started = time.perf_counter()
    answers = list(measured(pool, platform, extent))
    return {"extent": extent, "seconds": round(time.perf_counter() - started, 2), "answers": answers}


def _write(file: Path, profile: dict[str, Any]) -> None:
    fresh = file.with_suffix(".part")
    fresh.write_text(json.dumps(profile), encoding="utf-8")
    fresh.replace(file)


def _key(pool: Pool, platform: Platform, extent: str) -> str:
    plain = replace(platform, root="")  # where code lies, elsewhere, changes with any of it
    facts = [plain.to_value(), pool.describe(platform), host.node(), host.processor(), extent, _revision()]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:24]


@functools.cache
def _revision() -> str:
    """Return a digest of everything of Portolan that takes part in a profile."""
    digest = hashlib.sha256()
    for room in _ROOMS:
        for file in sorted(path for path in (_ROOT / room).rglob("*") if path.suffix in _SOURCES):
            digest.update(file.read_bytes())
    return digest.hexdigest()
