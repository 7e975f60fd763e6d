"""The workers of a session: one gateway a platform, opened when it is first needed, closed together.

The calling process imports no torch for this and touches no device. A crash or a hang of a kernel is an outcome; only
the failure of the machinery itself raises.
"""

from __future__ import annotations

import json
import math
import os
import shlex
import sys
import threading
import time
import warnings
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

import execnet

from golden.case import Case
from platforms import parcel, wire
from platforms.connection import OPEN_LIMIT, GatewayError, opened, shortly
from platforms.outcome import Outcome
from platforms.paradigm import paradigm_of
from platforms.platform import Platform
from platforms.worker import ALIVE, START_LIMIT

FIRST_CALL = 5.0
"""How many times longer a first call may take that compiles, and whatever is not a call of a kernel."""

_ROOT = Path(__file__).resolve().parent.parent
_GRACE = 30.0  # seconds beyond all its limits after which a keeper itself counts as lost
_SIGNS = 4  # how often within the time that silence may last a sign of life is asked for
_KEEPER = """
import os, sys
root = channel.receive()
os.chdir(root)
sys.path.insert(0, root)
from platforms.worker import keep
keep(channel)
"""


class WorkerError(Exception):
    """A worker cannot do what it was asked for, and no kernel is to blame; the message names platform and reason."""


class GatewayLost(WorkerError):
    """The process behind a gateway is gone, or does not answer. The next call opens a new one."""


class PlaceLost(WorkerError):
    """A platform of another place cannot be reached any more; no kernel is to blame, and it is not tried again."""


class Pool:
    """Runs implementations in processes of their platforms.

    Args:
        kernels: files and folders of kernels beside those of the package ``kernels``.
        time_limit: seconds that one call may take; the first call of a kernel that compiles may take five times that.
        in_process: run kernels in the calling process, so that a debugger can step into them. Nothing is then
            protected from them, and there is no time limit.
        silence: seconds without a sign of life after which a connection to another place counts as lost.
    """

    def __init__(
        self,
        *,
        kernels: Iterable[str | Path] = (),
        time_limit: float = 60.0,
        in_process: bool = False,
        silence: float = 60.0,
    ) -> None:
        self._kernels = [str(Path(path).resolve()) for path in kernels]
        self._time_limit = time_limit
        self._in_process = in_process
        self._silence = silence
        self._lost: dict[str, str] = {}
        self._workers: dict[str, _Worker] = {}
        self._descriptions: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> Pool:  # noqa: PYI034 - Self needs Python 3.11
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def open(self, platform: Platform) -> None:
        """Have the platform's worker starting, without waiting for it; several can so start side by side."""
        self._worker(platform)

    def run(
        self,
        platform: Platform,
        implementation_id: str,
        case: Case,
        *,
        time_limit: float | None = None,
        contract: str = "",
    ) -> Outcome:
        """Return what came of running an implementation on ``case`` on ``platform``.

        ``time_limit`` replaces the pool's for this call; ``contract`` names one of :mod:`platforms.contracts` that the
        implementation is held to, instead of one call. Raises WorkerError when there is no such implementation, when
        the case is not one of its operation, or when the platform cannot be opened; GatewayLost when its process died,
        and PlaceLost when that was in another place.
        """
        limit = self._time_limit if time_limit is None else time_limit
        compiles = paradigm_of(implementation_id.split("/")[1] if "/" in implementation_id else "").compiles
        # A runner that is told what the platform lacks need not find it out, which takes longer than most cases.
        lacking = self._descriptions.get(platform.name, {}).get("capabilities")
        request = {
            "what": "run",
            "implementation": implementation_id,
            "case": case.line,
            "lacking": lacking,
            "contract": contract,
            "limit": limit,
        }
        first_limit = limit * (FIRST_CALL if compiles else 1.0) + platform.grace
        limit += platform.grace
        reply = self._ask(platform, implementation_id, request, limit=limit, first_limit=first_limit)
        if "lost" in reply:
            return Outcome(**reply["lost"])
        return wire.outcome_from_value(_value(platform, reply))

    def describe(self, platform: Platform) -> dict[str, Any]:
        """Return ``{"facts": ..., "capabilities": ...}`` of the platform, as its worker found them; asked once."""
        if platform.name not in self._descriptions:
            self._descriptions[platform.name] = self._ask_json(platform, "describe", {"what": "describe"})
        return self._descriptions[platform.name]

    def call(self, platform: Platform, target: str, **arguments: Any) -> Any:
        """Return what function ``target`` ("module:name") returns in the platform's worker.

        Arguments and result are JSON values. There, :attr:`platforms.runner.Runner.current` has the platform and the
        kernels. Raises WorkerError with the function's own error, if it has one.
        """
        request = {"what": "call", "target": target, "arguments": json.dumps(arguments)}
        return self._ask_json(platform, target, request)

    @property
    def lost(self) -> Mapping[str, str]:
        """Why places cannot be reached any more, by :attr:`platforms.platform.Platform.gateway`."""
        return self._lost

    def why_lost(self, platform: Platform) -> str:
        """Return why the place of ``platform`` cannot be reached any more, "" where it can or never was elsewhere."""
        return self._lost.get(platform.gateway, "")

    def close(self) -> None:
        """End all workers. The pool may be used again; it then opens new ones."""
        workers, self._workers = self._workers, {}
        for worker in workers.values():
            worker.close()

    def _ask_json(self, platform: Platform, key: str, request: dict[str, Any]) -> Any:
        limit = self._time_limit * FIRST_CALL
        reply = self._ask(platform, key, request, limit=limit, first_limit=limit)
        if "lost" in reply:
            raise WorkerError(f"platform {platform.name}, {key}: {reply['lost']['status']}: {reply['lost']['message']}")
        return json.loads(_value(platform, reply))

    def _ask(
        self, platform: Platform, key: str, request: dict[str, Any], *, limit: float, first_limit: float
    ) -> dict[str, Any]:
        """Return the reply of the platform's worker; from another place it is asked for twice, over two connections."""
        if platform.gateway in self._lost:
            raise PlaceLost(self._lost[platform.gateway])
        try:
            return self._worker(platform).ask(key, request, limit=limit, first_limit=first_limit)
        except GatewayLost:
            if not platform.gateway:
                raise
        try:
            return self._worker(platform).ask(key, request, limit=limit, first_limit=first_limit)
        except GatewayLost as error:
            self._lost[platform.gateway] = f"gateway {platform.place} was lost at {key}: {error}"
            raise PlaceLost(self._lost[platform.gateway]) from None

    def _worker(self, platform: Platform) -> _Worker:
        worker = self._workers.get(platform.name)
        if worker is None or worker.lost:
            worker = (
                _InProcess(platform, self._kernels)
                if self._in_process
                else _Remote(platform, self._kernels, self._silence)
            )
            self._workers[platform.name] = worker
        return worker


def _value(platform: Platform, reply: dict[str, Any]) -> Any:
    if "error" in reply:
        raise WorkerError(f"platform {platform.name}: {reply['error']}")
    return reply["ok"]


class _Worker:
    """What runs a platform's kernels. ``lost`` says that it is of no more use."""

    lost = False

    def ask(self, key: str, request: dict[str, Any], *, limit: float, first_limit: float) -> dict[str, Any]:
        """Return {"ok": value}, {"error": text} or {"lost": {status, message, seconds}}; raises WorkerError."""
        raise NotImplementedError

    def close(self) -> None:
        """End it."""


class _Remote(_Worker):
    """A keeper process behind a gateway."""

    def __init__(self, platform: Platform, kernels: list[str], silence: float) -> None:
        self._name = platform.name
        self._lock = threading.Lock()
        self._open = ExitStack()
        # The keeper of a process here is as busy as the kernels make this machine, and its end is seen at once.
        self._silence = silence if platform.gateway else math.inf
        self._patience = max(self._silence, OPEN_LIMIT)  # until it is first heard of: it has to start
        python = shlex.join([*platform.launcher, sys.executable])
        spec, limit = (platform.gateway, OPEN_LIMIT) if platform.gateway else (f"popen//python={python}", None)
        if platform.root:
            kernels = [f"{platform.root}/{parcel.place(*pair)}" for pair in enumerate(map(Path, kernels))]
        try:
            self._channel = self._open.enter_context(opened(spec, limit=limit)).remote_exec(_KEEPER)
            self._channel.send(platform.root or str(_ROOT))
            self._channel.send(
                {
                    "environment": platform.worker_environment,
                    "start_method": platform.start_method,
                    "runner": json.dumps({"platform": platform.to_value(), "kernels": kernels}),
                }
            )
        except (GatewayError, OSError) as error:
            self.close()
            raise GatewayLost(f"the worker of platform {self._name} cannot be started: {shortly(error)}") from None

    def ask(self, key: str, request: dict[str, Any], *, limit: float, first_limit: float) -> dict[str, Any]:
        with self._lock:
            kind, value, note = self._exchange((key, limit, first_limit, wire.pack(request)), limit + first_limit)
        if note:
            warnings.warn(f"platform {self._name}: {note}", RuntimeWarning, stacklevel=4)
        if kind == "unready":
            raise WorkerError(f"platform {self._name} cannot be used: {value}")
        return {"lost": value} if kind == "lost" else wire.unpack(value)

    def close(self) -> None:
        self.lost = True
        self._open.close()

    def _exchange(self, message: tuple[str, float, float, bytes], limit: float) -> tuple[str, Any, str]:
        try:
            self._channel.send(message)
            return self._reply(START_LIMIT + limit + _GRACE)
        except (EOFError, OSError, execnet.RemoteError, execnet.TimeoutError) as error:
            self.close()
            raise GatewayLost(f"the worker of platform {self._name} is gone: {shortly(error)}") from None
        except BaseException:
            # Interrupted while an answer was on its way: the next answer would be to the wrong question.
            self.close()
            raise

    def _reply(self, limit: float) -> tuple[str, Any, str]:
        """Return what the keeper answers, or raise execnet's TimeoutError after ``limit`` seconds, or of silence."""
        heard = time.monotonic()
        deadline = heard + limit
        while True:
            try:
                reply = self._channel.receive(timeout=min(limit, self._silence / _SIGNS))
            except execnet.TimeoutError:
                if time.monotonic() > min(deadline, heard + self._patience):
                    raise
                self._channel.send(ALIVE)
            else:
                self._patience = self._silence
                if reply != ALIVE:
                    return reply
                heard = time.monotonic()


class _InProcess(_Worker):
    """This very process, as if it were the platform's runner."""

    def __init__(self, platform: Platform, kernels: list[str]) -> None:
        missing = {name: value for name, value in platform.environment.items() if os.environ.get(name) != value}
        if "torch" in sys.modules or "triton" in sys.modules:
            settings = " ".join(f"{name}={shlex.quote(value)}" for name, value in missing.items())
            if settings:
                raise WorkerError(f"to run platform {platform.name} in this process, start it with {settings}")
        os.environ.update(missing)
        from kernels import registry
        from platforms.runner import Runner, answer

        platform.prepare()
        self._answer = answer
        self._runner = Runner(platform, registry.load(kernels))
        platform.open()

    def ask(self, key: str, request: dict[str, Any], *, limit: float, first_limit: float) -> dict[str, Any]:
        started = time.perf_counter()
        try:
            return self._answer(self._runner, request)
        except SystemExit as error:
            message, seconds = f"ended itself with exit code {error.code}", time.perf_counter() - started
            return {"lost": {"status": "crashed", "message": message, "seconds": seconds}}
