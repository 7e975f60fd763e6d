"""Gateways: other places where workers run, in execnet's own syntax, and what there is to be found behind each.

Another interpreter is ``popen//python=/opt/venv/bin/python``, another environment ``popen//env:NAME=value``, another
machine ``ssh=user@host//python=/opt/venv/bin/python``.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import execnet

from platforms import arrival, parcel
from platforms.connection import OPEN_LIMIT, GatewayError, opened, shortly
from platforms.detect import Detection, detect
from platforms.probe import Probe

ARRIVAL_LIMIT = 300.0
"""Seconds that a machine may take to get the code, and to say what it has."""

_KEYS = set(execnet.XSpec.__annotations__)
_WAYS = {"popen", "ssh", "vagrant_ssh"}
_NAME = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True)
class Gateway:
    """A place for workers. ``name`` is its ``id=``, else its host's, else a number; ``spec`` always ends in an id."""

    name: str
    spec: str

    @classmethod
    def parse(cls, text: str, number: int = 1) -> Gateway:
        """Return the gateway that ``text`` says, the ``number``-th of several; raises GatewayError."""
        try:
            spec = execnet.XSpec(text)
        except (ValueError, AttributeError, IndexError) as error:
            raise GatewayError(f"--gateway {text} is not in execnet's syntax: {error}") from None
        keys = {part.partition("=")[0] for part in text.split("//") if not part.startswith("env:")}
        if unknown := sorted(keys - _KEYS):
            raise GatewayError(f"--gateway {text}: execnet has no {unknown[0]}=; it has {', '.join(sorted(_KEYS))}")
        if len(keys & _WAYS) != 1 or keys & {"socket", "via", "installvia"}:
            # A socket server asks nobody who they are; and to go through another machine, ssh has ProxyJump.
            raise GatewayError(f"--gateway {text} must say one of {', '.join(sorted(_WAYS))}, and no socket= or via=")
        host = str(spec.ssh or spec.vagrant_ssh or "").split()
        name = str(spec.id or (host[-1].rpartition("@")[2] if host else f"gateway{number}"))
        if not _NAME.fullmatch(name):
            raise GatewayError(f"--gateway {text} would be called {name!r}; id= takes letters, digits, and . _ -")
        rest = "//".join(part for part in text.split("//") if not part.startswith("id="))
        return cls(name, f"{rest}//id={name}")


@dataclass(frozen=True)
class Machine:
    """What is behind a gateway: the folder of the code there, and what :mod:`platforms.survey` found."""

    gateway: Gateway
    root: str
    found: dict[str, Any]

    def detection(self, chosen: str | None = None) -> Detection:
        """Return its platforms, each with the gateway's name behind its own; see :func:`platforms.detect.detect`.

        Raises GatewayError if there is none, and DetectionError.
        """
        name = self.gateway.name
        there = detect(Probe.from_json(json.dumps(self.found["probe"])), chosen=chosen)
        found = [
            replace(one, name=f"{one.name}@{name}", gateway=self.gateway.spec, root=self.root) for one in there.found
        ]
        if not found:
            raise GatewayError(
                f"gateway {name} has no platform: {'; '.join(f'{one}: {why}' for one, why in there.absent)}"
            )
        return Detection(found, [(f"{one}@{name}", why) for one, why in there.absent])


def reach(gateway: Gateway, kernels: Sequence[Path] = ()) -> Machine:
    """Return what is behind ``gateway``, which has the code then, with that of ``kernels``; raises GatewayError."""
    try:
        archive = parcel.pack(kernels)
        with opened(gateway.spec, limit=OPEN_LIMIT) as process:
            channel = process.remote_exec(arrival)
            channel.send((hashlib.sha256(archive).hexdigest(), parcel.NEEDED))
            kind, *said = channel.receive(ARRIVAL_LIMIT)
            if kind == "send":
                channel.send(archive)
                kind, *said = channel.receive(ARRIVAL_LIMIT)
    except execnet.TimeoutError:
        raise GatewayError(f"gateway {gateway.name} said nothing for {ARRIVAL_LIMIT:g} s") from None
    except (GatewayError, parcel.ParcelError, execnet.RemoteError, EOFError, OSError) as error:
        raise GatewayError(f"gateway {gateway.name} cannot be used: {shortly(error)}") from None
    if kind == "failed":
        raise GatewayError(f"gateway {gateway.name} cannot be used: {said[0]}")
    return Machine(gateway, said[0], json.loads(said[1]))
