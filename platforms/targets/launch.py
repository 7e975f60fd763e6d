"""Which kernels an implementation launches, in which configurations, found out without a device.

The implementation is called on tensors that have no memory, in a process whose driver says that it is the wanted
architecture; every launch is noted instead of made. So a kernel that asks its device what fits is answered as that
device would, and of a tuned one all configurations are seen.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from triton import knobs
from triton.runtime import driver
from triton.runtime.jit import JITFunction

from golden.dtypes import decode
from golden.inputs import make_inputs
from kernels.operation import Operation
from kernels.registry import Implementation
from kernels.typical import typical
from platforms.targets.absent import AbsentDriver
from platforms.targets.architecture import Architecture

LARGE, SMALL = 2**24, 2**14
"""Elements of a typical case without memory, and of one with."""

_OURS = ("debug", "instrumentation_mode")
"""Options that Triton itself adds to those of a launch."""


class NotTypical(Exception):
    """An implementation has no typical case; the message says why."""


@dataclass(frozen=True, eq=False)
class Launch:
    """A kernel as it would be launched: what its compilation depends on beside the architecture.

    ``signature`` and ``constants`` are Triton's: the types of the arguments by name, and the values of those that are
    constants; ``attributes`` what it knows of the others (divisible by 16), ``options`` what the launch asked for.
    """

    kernel: Any
    signature: Mapping[str, Any]
    constants: Mapping[Any, Any]
    attributes: Mapping[Any, Any]
    options: Mapping[str, Any]

    @property
    def name(self) -> str:
        return f"{self.kernel.fn.__module__.removeprefix('kernels.')}.{self.kernel.fn.__name__.lstrip('_')}"

    @property
    def configuration(self) -> str:
        """The constants that it was written with and its options, such as ``"M=128 N=256 num_warps=8"``."""
        names = list(self.signature)
        asked = {one.name for one in self.kernel.params if one.is_constexpr}
        constants = {names[path[0]]: value for path, value in self.constants.items() if len(path) == 1}
        shown = {name: value for name, value in constants.items() if name in asked} | dict(self.options)
        return " ".join(f"{name}={value}" for name, value in shown.items() if isinstance(value, (int, str)))

    @property
    def key(self) -> str:
        """A digest of what was asked for, the sources of the kernel and of what it calls included.

        What Triton knows of the arguments beside is left out: it differs by backend, and is the same question.
        """
        asked = (self.signature, self.constants, self.options)
        return _digest(self.kernel.cache_key, *(sorted((str(k), _named(v)) for k, v in one.items()) for one in asked))

    @property
    def digest(self) -> str:
        """A digest of all that the compilation depends on beside the architecture."""
        return _digest(self.key, sorted((str(k), str(v)) for k, v in self.attributes.items()))


def _digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:24]


def _named(value: Any) -> str:
    return value.cache_key if isinstance(value, JITFunction) else str(value)


def launches(operation: Operation, implementation: Implementation, dtype: str, one: Architecture) -> list[Launch]:
    """Return what ``implementation`` would launch on an architecture for a typical case, each once.

    One that looks at values is given real tensors, which are then few. Raises NotTypical, and whatever the
    implementation raises.
    """
    found: list[Launch] = []
    with _noted(found, one):
        try:
            _call(operation, implementation, dtype, LARGE, "meta")
        except (RuntimeError, NotImplementedError):  # what torch says where there are no data
            found.clear()
            _call(operation, implementation, dtype, SMALL, "cpu")
    return list({launch.key: launch for launch in found}.values())


def _call(operation: Operation, implementation: Implementation, dtype: str, elements: int, device: str) -> None:
    case = typical(operation, dtype, elements)
    if case is None:
        raise NotTypical(f"no typical case of {operation.name} is known")
    if reason := implementation.refuses(case):
        raise NotTypical(f"not written for the typical case: {reason}")
    forms = operation.forms(case)
    if device == "meta":
        tensors = {
            name: torch.empty(form.shape, dtype=getattr(torch, form.dtype), device=device)
            for name, form in forms.items()
        }
    else:
        stored = make_inputs(case, forms)
        tensors = {
            name: torch.from_numpy(decode(stored[name], form.dtype)).to(getattr(torch, form.dtype))
            for name, form in forms.items()
        }
    with torch.no_grad():
        operation.call(implementation.function, tensors, case)


@contextmanager
def _noted(found: list[Launch], one: Architecture) -> Iterator[None]:
    """Let every launch be added to ``found``, as on a device of architecture ``one``, and not be made."""
    run = JITFunction.run
    given: dict[str, Any] = {}

    def noting(kernel: Any, *args: Any, **kwargs: Any) -> Any:
        given.clear()
        named = {parameter.name for parameter in kernel.params} | {"grid", "warmup"}
        given.update((name, value) for name, value in kwargs.items() if name not in named and name not in _OURS)
        return run(kernel, *args, **kwargs)

    def note(*, fn: Any, compile: dict[str, Any], **_: Any) -> bool:
        attributes = compile["configs"][0]
        found.append(Launch(fn.jit_function, compile["signature"], compile["constants"], attributes, dict(given)))
        return True

    driver.set_active(AbsentDriver(one))
    JITFunction.run = noting
    knobs.runtime.jit_cache_hook = note
    try:
        yield
    finally:
        JITFunction.run = run
        knobs.runtime.jit_cache_hook = None
