"""A connection to a process that execnet starts, here or elsewhere."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from typing import Any

import execnet

OPEN_LIMIT = 60.0
"""Seconds that a connection to another place may take to be there."""

CLOSING = 5.0
"""Seconds that the process has to end by itself."""

# Another execution model might run what is sent in a thread, and only a main thread may set signal handlers.
_MODEL = "//execmodel=main_thread_only"


class GatewayError(Exception):
    """A gateway cannot be used; the message says why."""


@contextlib.contextmanager
def opened(spec: str, *, limit: float | None = None) -> Iterator[Any]:
    """Return execnet's gateway of ``spec``, whose process ends with the context.

    Raises GatewayError where it is not there after ``limit`` seconds, or at all.
    """
    group = execnet.Group()
    spec = spec if "//execmodel=" in spec else spec + _MODEL
    try:
        yield _within(limit, lambda: group.makegateway(spec))
    finally:
        group.terminate(timeout=CLOSING)


def shortly(error: BaseException) -> str:
    """Return one line of what ``error`` says; of an error of the other side its last line."""
    lines = str(error).strip().splitlines()
    if isinstance(error, EOFError) or not lines:
        return "the connection ended"
    return lines[-1] if isinstance(error, execnet.RemoteError) else lines[0]


def _within(seconds: float | None, make: Callable[[], Any]) -> Any:
    """Return what ``make`` returns, in a thread that is left alone if that takes too long: ssh may wait for ever."""
    answers: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            answers.put((make(), None))
        except Exception as error:  # whatever execnet raises is the reason
            answers.put((None, error))

    threading.Thread(target=run, daemon=True).start()
    try:
        answer, error = answers.get(timeout=seconds)
    except Empty:
        raise GatewayError(f"there is no connection after {seconds:g} s") from None
    if isinstance(error, execnet.HostNotFound):
        raise GatewayError(f"ssh does not reach {error}")
    if error:
        raise GatewayError(shortly(error))
    return answer
