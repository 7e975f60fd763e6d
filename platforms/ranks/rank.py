"""The life of one rank: it joins the others, then runs its part of one call after another until nobody asks."""

from __future__ import annotations

import contextlib
import functools
import os
import time
from datetime import timedelta
from multiprocessing.connection import Connection
from typing import Any

import torch.distributed as dist

from golden.case import Case
from kernels.registry import Catalogue
from kernels.spread import Share, Spread
from platforms import wire
from platforms.contracts import NotApplicable
from platforms.execution import Bench, Call, describe
from platforms.platform import Platform, platform_from_value
from platforms.ranks.group import Group
from platforms.ranks.messages import call_to_value
from platforms.ranks.trial import tried

_HOST = "127.0.0.1"

_FOR_EVER = timedelta(days=1)
"""How long a rank waits for another by itself: who is late, and when it is too late, is for others to say."""


def serve(rank: int, size: int, described: dict[str, Any], connection: Connection, noted: Any) -> None:
    """Answer requests from ``connection`` as ``rank`` of ``size`` on the platform ``described`` until it closes.

    The first rank says first at which port it can be found, and all are told. Then each says "", or why it cannot work.
    """
    platform = platform_from_value(described)
    os.environ.update(platform.worker_environment)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    try:
        platform.prepare()
        platform.open()
        store = _store(rank, size, connection)
        dist.init_process_group(platform.collective, store=store, rank=rank, world_size=size, timeout=_FOR_EVER)
        group = Group(rank, size, noted)
    except Exception as error:  # whatever a driver raises is the reason
        connection.send_bytes(wire.pack(describe(error, "")))
        return
    connection.send_bytes(wire.pack(""))
    catalogue = _catalogue()
    with contextlib.suppress(EOFError, OSError):
        while True:
            request = wire.unpack(connection.recv_bytes())
            connection.send_bytes(wire.pack(_answer(request, platform, group, catalogue)))


def _store(rank: int, size: int, connection: Connection) -> dist.Store:
    """Return what the ranks find each other by: the first one keeps it."""
    first = dist.TCPStore(_HOST, 0, size, is_master=True, wait_for_workers=False) if rank == 0 else None
    if first:
        connection.send_bytes(wire.pack(first.port))
    port = wire.unpack(connection.recv_bytes())
    return first or dist.TCPStore(_HOST, port, size, is_master=False)


def _catalogue() -> Catalogue:
    """Return the operations over ranks, of the runner that this process was forked of, or as that loads them."""
    from platforms.runner import Runner

    if hasattr(Runner, "current"):
        return Runner.current.catalogue
    from platforms import preload

    return preload.catalogue.collectives or preload.catalogue


def _answer(request: dict[str, Any], platform: Platform, group: Group, catalogue: Catalogue) -> dict[str, Any]:
    if "trial" in request:
        return dict(tried(group, platform.device))
    try:
        return call_to_value(_run(request, platform, group, catalogue))
    except NotApplicable as error:
        return {"not applicable": str(error)}


def _run(request: dict[str, Any], platform: Platform, group: Group, catalogue: Catalogue) -> Call:
    implementation = catalogue.implementations[request["implementation"]]
    case, whole = Case.parse(request["case"]), catalogue.operations[implementation.operation]
    assert isinstance(whole, Spread)
    inputs = {name: wire.array_from_value(value) for name, value in request["inputs"].items()}
    function = functools.partial(implementation.function, group=group)
    share = Share(whole, group.rank)
    bench = Bench(platform, share, implementation, case, inputs, function, variant=request["variant"])
    time.sleep(request["delay"])
    return bench.call(poison=request["poison"], canary=request["canary"])
