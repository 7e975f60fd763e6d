"""Calls of one kernel in guarded memory, and what is to be said of them.

Used inside a platform's runner process; the device is whatever the platform says.
"""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from golden import layout
from golden.case import Case, Form
from golden.dtypes import DTYPES
from golden.inputs import HUGE
from golden.sample import sampled, unjudgeable
from kernels.operation import Operation
from kernels.registry import Implementation
from platforms.allocations import GuardedAllocations
from platforms.bare import BareInputs
from platforms.far import NoMemory
from platforms.limits import memory_limited, out_of_memory
from platforms.memory import Arena
from platforms.outcome import Damage, Result
from platforms.paradigm import paradigm_of
from platforms.patterns import CANARY, OTHER_POISON, POISON, integer_type, signed
from platforms.platform import Platform
from platforms.settings import kept_settings
from platforms.unwritten import Poisoned, poisoned

_FRAMES = 3
_BLOCKS = 3  # of the output's size that are poisoned and freed: allocators hand them out again in no fixed order
_LONGEST = 4000


class CallLost(Exception):
    """A call did not come back from the processes that it was spread over; ``status`` is an outcome's."""

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status = status


class NotAResult(Exception):
    """A kernel returned something that cannot be judged; the message says what it was and what would be right."""


@dataclass
class Call:
    """What came of one call.

    Attributes:
        results: what the kernel returned.
        poisoned: which of their elements hold what they were filled with before the call.
        damage: what was done to memory, or else what must not be.
        seconds: duration of the call, waiting for the device included.
        message: the exception that the call ended with, or "".
        lost: the device does not answer any more, so this process is of no further use.
        note: what else was noticed, or "".
        others: what further calls returned, each with what was different about it; they answer the same question.
    """

    results: list[Result] = field(default_factory=list)
    poisoned: list[Poisoned] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)
    seconds: float = 0.0
    message: str = ""
    lost: bool = False
    note: str = ""
    others: list[tuple[str, list[Result]]] = field(default_factory=list)


@dataclass(frozen=True)
class Bench:
    """An implementation on its platform with the inputs of a case, to be called as often as somebody likes.

    ``inputs`` are logical storage arrays (:mod:`golden.dtypes`), which stay as they are. ``function`` is what is called
    in the place of the implementation's own: the same with something around it. ``limit`` is how many seconds a call
    may take where somebody in this process can tell. ``variant`` names the contract (:mod:`platforms.contracts`) that
    each call is made in the way of, wherever it is made. ``once`` says that a call is to be one alone, also where a
    platform would make several of it to compare them: whoever asks compares its own.
    """

    platform: Platform
    operation: Operation
    implementation: Implementation
    case: Case
    inputs: Mapping[str, np.ndarray]
    function: Callable[..., Any]
    limit: float = math.inf
    variant: str = ""
    once: bool = False

    def call(self, *, poison: int = POISON, canary: int = CANARY) -> Call:
        """Return what comes of one call with ``poison`` in what it is to write and ``canary`` around its tensors.

        Both are bytes of :mod:`platforms.patterns`.
        """
        return self.platform.call(self, poison, canary)


def execute(bench: Bench) -> Call:
    """Run the implementation and return what came of it.

    Elements of the output that still hold poison make it run again with another poison, since only what holds either
    in turn was certainly not written.
    """
    call = bench.call()
    if not any(call.poisoned):
        return call
    again = bench.call(poison=OTHER_POISON)
    suspects = call.poisoned
    if [one.shape for one in again.poisoned] == [one.shape for one in suspects]:
        suspects = [one & other for one, other in zip(suspects, again.poisoned, strict=True)]
    call.damage += [
        Damage("unwritten", f"{one} of {name}" if len(suspects) > 1 else str(one))
        for name, one in zip(_names(bench, len(suspects)), suspects, strict=True)
        if one
    ]
    return call


def _names(bench: Bench, count: int) -> list[str]:
    """Return what to call ``count`` results: as the contract does, if these are as many as it has."""
    names = list(bench.operation.results(bench.case))
    return names if len(names) == count else [f"result {number}" for number in range(count)]


def called(bench: Bench, poison: int, canary: int) -> Call:
    """Return what comes of one call in this process, in the way of the contract that the bench names, if it does."""
    if not bench.variant:
        return call_here(bench, poison, canary)
    from platforms.contracts import variant_of

    return variant_of(bench.variant)(replace(bench, variant=""), poison, canary)


def call_here(bench: Bench, poison: int, canary: int) -> Call:
    """Return what comes of one call in this process; see :meth:`Bench.call`."""
    call = Call()
    platform, operation, implementation = bench.platform, bench.operation, bench.implementation
    case, inputs = bench.case, bench.inputs
    placements = {name: layout.place(values.shape, case.spec(name).layout) for name, values in inputs.items()}
    dtypes = {name: form.dtype for name, form in operation.forms(case).items()}
    arena = (
        BareInputs(inputs, placements, dtypes, platform.device)
        if platform.sanitizer
        else Arena(inputs, placements, dtypes, platform.device, canary)
    )
    forms = list(operation.results(case).values())
    largest = max(forms, key=lambda form: form.size)
    guarded = not platform.sanitizer and not paradigm_of(implementation.paradigm).unguarded
    allocations = GuardedAllocations(platform.device, poison, canary)
    if largest.size <= HUGE:
        for form in forms:
            _prime(form, platform.device, poison)
    platform.synchronize()
    started = time.perf_counter()
    result = None
    try:
        with (
            torch.no_grad(),
            kept_settings(),
            _limited(platform, largest.size),
            allocations if guarded else nullcontext(),
        ):
            started = time.perf_counter()
            result = operation.call(bench.function, arena.tensors, case)
            platform.synchronize()
        call.seconds = time.perf_counter() - started
        tensors = _checked(result, arena, platform.device)
        call.poisoned = [poisoned(tensor, poison) for tensor in tensors]
        call.results = [_fetched(tensor, operation, case) for tensor in tensors]
    except Exception as error:  # whatever a kernel raises is its outcome
        if (arena.far or largest.size > HUGE) and out_of_memory(error):
            raise NoMemory(f"it took more memory than {platform.name} has: {str(error).splitlines()[0]}") from None
        call.seconds = call.seconds or time.perf_counter() - started
        call.message = describe(error, implementation.source)
        call.lost = not _answers(platform)
        kind = platform.classify(error)
        if kind:
            call.damage.append(Damage(kind, str(error)[:_LONGEST]))
    if not call.lost:
        call.damage += [*arena.damage(), *allocations.damage()]
    if platform.sanitizer:
        call.damage += platform.findings()
    return call


def too_huge(platform: Platform, operation: Operation, case: Case) -> str:
    """Return why ``platform`` cannot compute the result of ``case``, or nobody judge it, since it is huge; or ""."""
    largest = max(operation.results(case).values(), key=lambda form: form.size)
    independent = operation.independent_axis(case)
    if largest.size > HUGE and platform.programs is not None:
        return f"{platform.name} is for launches of up to {platform.programs} programs, not {largest.size} elements"
    return unjudgeable(largest.shape, independent[0] if independent else None)


def _limited(platform: Platform, elements: int) -> AbstractContextManager[None]:
    """Return what keeps a kernel with a huge result from taking more of the host's memory than there is."""
    if platform.device != "cpu" or elements <= HUGE:
        return nullcontext()
    free = platform.free_bytes()
    return nullcontext() if free is None else memory_limited(free)


def describe(error: BaseException, source: str) -> str:
    """Return ``error`` in words: type, text, and the innermost frames, those in file ``source`` if there are any."""
    frames = traceback.extract_tb(error.__traceback__)
    mine = [frame for frame in frames if frame.filename == source] or list(frames)
    places = [f"  {frame.filename}:{frame.lineno} in {frame.name}: {frame.line}" for frame in mine[-_FRAMES:]]
    return "\n".join([f"{type(error).__name__}: {error}"[:_LONGEST], *places])


def _prime(form: Form, device: str, poison: int) -> None:
    """Leave poison in the memory that is likely to be handed out next, where the last kernel's right answer may lie."""
    element = getattr(torch, form.dtype)
    blocks = [torch.empty(form.shape, dtype=element, device=device) for _ in range(_BLOCKS)]
    for block in blocks:
        block.view(integer_type(element)).fill_(signed(element, poison))


def _answers(platform: Platform) -> bool:
    """Some errors of a device stay: everything after them fails too, and only a new process helps."""
    try:
        platform.synchronize()
    except Exception:  # that it raises is the answer
        return False
    return True


def _checked(result: object, arena: Arena | BareInputs, device: str) -> list[torch.Tensor]:
    """Return the results if they can be judged; raises NotAResult."""
    several = list(result) if isinstance(result, tuple) and result else [result]
    tensors = [_checked_one(one, arena, device) for one in several]
    places = [tensor.untyped_storage().data_ptr() for tensor in tensors if tensor.numel()]
    if len(set(places)) < len(places):
        raise NotAResult("the kernel returned results that share memory; each must be a new tensor")
    return tensors


def _checked_one(result: object, arena: Arena | BareInputs, device: str) -> torch.Tensor:
    if not isinstance(result, torch.Tensor):
        raise NotAResult(
            f"the kernel returned {_article(result)}, and an implementation returns a new torch.Tensor, "
            "or a tuple of them where its contract has several results"
        )
    name = str(result.dtype).removeprefix("torch.")
    if name not in DTYPES:
        raise NotAResult(f"the kernel returned a tensor of {name}; there are {', '.join(DTYPES)}")
    if result.layout != torch.strided:
        raise NotAResult(f"the kernel returned a tensor of layout {result.layout}; it must be torch.strided")
    if result.device.type != torch.device(device).type:
        raise NotAResult(f"the kernel returned a tensor on {result.device}, and its inputs are on {device}")
    owner = arena.owner_of(result)
    if owner is not None:
        raise NotAResult(f"the kernel returned memory of its input {owner}, and an implementation returns a new tensor")
    return result.detach().resolve_conj().resolve_neg()


def _judged_rows(result: torch.Tensor, operation: Operation, case: Case) -> torch.Tensor:
    """Return the rows of a huge result that are judged, and any other result as it is."""
    independent = operation.independent_axis(case)
    if result.numel() <= HUGE:
        return result
    if independent is None or tuple(result.shape) != (shape := operation.output_shape(case)):
        return result.new_empty(0)  # its shape is wrong, whatever it holds
    axis = independent[0] % len(shape)
    rows = sampled(case, shape, axis)
    # Views of single rows, since on some devices indexing is itself an operation with an index of 32 bits.
    return result if rows is None else torch.cat([result.narrow(axis, int(row), 1) for row in rows], axis)


def _fetched(tensor: torch.Tensor, operation: Operation, case: Case) -> Result:
    """Return a tensor, or those of its rows that are judged, on the host."""
    name = str(tensor.dtype).removeprefix("torch.")
    rows = _judged_rows(tensor, operation, case).contiguous()
    bits = rows.view(integer_type(tensor.dtype)).cpu().numpy()
    return Result(bits.view(DTYPES[name].storage), name, tuple(tensor.shape))


def _article(result: object) -> str:
    if isinstance(result, (tuple, list)):
        return f"a {type(result).__name__} of {len(result)}"
    return "None" if result is None else f"a {type(result).__name__}"
