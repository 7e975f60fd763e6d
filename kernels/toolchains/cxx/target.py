"""What kernels in C++ are compiled with, and what runs them: a choice of the whole process.

It is made in an environment variable, as Triton's interpreter is switched on by one, since kernels are called in the
same way whatever the target.
"""

from __future__ import annotations

import functools
import json
import os
from dataclasses import asdict, dataclass
from typing import Literal

VARIABLE = "PORTOLAN_CXX"
"""The environment variable that holds the target, as :meth:`Target.to_json` writes it."""


@dataclass(frozen=True)
class Target:
    """A compiler with its flags, and how what it makes is run.

    Attributes:
        compiler: the command, to which sources and the output's name are added.
        emulator: the command that runs a program of the target; empty where this process can load a library of it.
        byteorder: of the target's numbers in memory.
    """

    compiler: tuple[str, ...] = ("c++", "-O2")
    emulator: tuple[str, ...] = ()
    byteorder: Literal["little", "big"] = "little"

    def to_json(self) -> str:
        """Return the target as one line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Target:
        """Return the target that :meth:`to_json` wrote; raises ValueError for anything else."""
        try:
            value = json.loads(text)
            return cls(tuple(value["compiler"]), tuple(value["emulator"]), value["byteorder"])
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"not a target: {text!r} ({error!r})") from None


def target() -> Target:
    """Return this process's target: the host's own ``c++`` where none is set; raises ValueError for a malformed one."""
    return _read(os.environ.get(VARIABLE))


@functools.cache
def _read(text: str | None) -> Target:
    return Target() if text is None else Target.from_json(text)
