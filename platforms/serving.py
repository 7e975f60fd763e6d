"""The life of a runner process: it settles, says whether it can work, and answers until its keeper is gone."""

from __future__ import annotations

import contextlib
import faulthandler
import fcntl
import os
import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection

from platforms import wire
from platforms.execution import describe
from platforms.runner import Runner, answer


def serve(connection: Connection, lifeline: Connection) -> None:
    """Answer requests from ``connection`` until it closes; the process dies when the other end of ``lifeline`` does.

    The first message out is "", or why there is no runner.
    """
    _settle(lifeline)
    # Only now, and not before the fork, is there a platform and a catalogue: preload loads them when it is imported.
    from platforms import preload

    trouble = preload.trouble or _trouble(preload.platform.open)
    connection.send_bytes(wire.pack(trouble))
    if trouble:
        return
    runner = Runner(preload.platform, preload.catalogue)
    with contextlib.suppress(EOFError, OSError):
        while True:
            reply = wire.pack(answer(runner, wire.unpack(connection.recv_bytes())))
            # The first byte is for the keeper, which looks no further.
            connection.send_bytes((b"!" if runner.spoilt else b".") + reply)


def _trouble(step: Callable[[], None]) -> str:
    try:
        step()
    except Exception as error:  # whatever a driver raises is the reason
        return describe(error, "")
    return ""


def _settle(lifeline: Connection) -> None:
    """Leave the terminal's process group, report faults, and die when the other end of ``lifeline`` closes."""
    os.setsid()
    faulthandler.enable(all_threads=False)
    faulthandler.register(signal.SIGUSR1, all_threads=False)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    # A thread that watches would not be run while a kernel holds the interpreter. This signal ends the process, and
    # the system sends it by itself: nobody ever writes into the lifeline, so that all that can happen to it is its end.
    fcntl.fcntl(lifeline.fileno(), fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline.fileno(), fcntl.F_SETFL, fcntl.fcntl(lifeline.fileno(), fcntl.F_GETFL) | os.O_ASYNC)
    signal.signal(signal.SIGIO, signal.SIG_DFL)
