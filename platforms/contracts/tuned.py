"""Whatever a tuner may choose is right, and so is the call in which it chooses.

Tuners are those of Triton, ``triton.autotune``, that an implementation's function names, or a function that it calls.
Each configuration is forced in turn; the first call has cold caches, so that the tuner tries them all in it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from platforms.contracts import NotApplicable
from platforms.contracts.bits import differing
from platforms.execution import Bench, Call, execute


def check(bench: Bench) -> Call:
    """Return a call with cold tuners; its others are the next call, and those with each configuration."""
    known = list(dict.fromkeys(tuners(bench.implementation.function)))
    if not known:
        raise NotApplicable("it has no tuner")
    for tuner in known:
        tuner.cache.clear()
    call, warm = execute(bench), bench.call()
    if call.message or warm.message:
        return call if call.message else warm
    call.others += [("called again, tuned", warm.results)] if differing(call.results, warm.results) else []
    for tuner in known:
        configs = tuner.configs
        try:
            for config in configs:
                tuner.configs = [config]
                tuner.cache.clear()
                _add(call, execute(bench), str(config))
        finally:
            tuner.configs = configs
            tuner.cache.clear()
    return call


def _add(call: Call, forced: Call, said: str) -> None:
    """Put what a forced configuration returned among the others of ``call``; one that does not fit is told of."""
    if forced.message:
        call.note = f"{said}: {forced.message.splitlines()[0]}"
    call.damage += forced.damage
    if forced.results and differing(call.results, forced.results):
        call.others.append((said, forced.results))


def tuners(function: Any, seen: frozenset[str] = frozenset()) -> Iterator[Any]:
    """Yield the tuners that ``function`` names, or a function of its own module that it names."""
    kind = getattr(sys.modules.get("triton.runtime.autotuner"), "Autotuner", ())
    if not isinstance(function, FunctionType):
        return
    for name in function.__code__.co_names:
        named = function.__globals__.get(name)
        if isinstance(named, kind):
            yield named
        elif isinstance(named, FunctionType) and name not in seen:
            yield from tuners(named, seen | {name})
