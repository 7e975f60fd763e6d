"""What a compiler makes of one launch for one architecture, and what is to be said of it there.

Too much shared memory is no error of a compiler: the limit is looked at when a kernel is launched, so that the table of
:mod:`platforms.targets.architecture` must say it. Nothing here was run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from platforms.targets.architecture import ARCHITECTURES, Architecture

COMPILES, DOES_NOT_FIT, DOES_NOT_COMPILE, NOT_KNOWN = "compiles", "does not fit", "does not compile", "not known"
VERDICTS = (COMPILES, DOES_NOT_FIT, DOES_NOT_COMPILE, NOT_KNOWN)
"""From best to worst. None of them is a pass: a kernel that compiles was still not run."""

_LONGEST = 200  # characters of an error


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What the compiler said; figures are None where there is no code.

    Attributes:
        target: the architecture.
        error: the compiler's error in a line, or "".
        unfinished: why nobody knows, such as a time limit, or "".
        shared: bytes of shared memory of a block.
        tensor_memory: columns of the memory that accumulators of tcgen05 are in, of a block.
        threads: of a block.
        lanes: threads of a warp or wave.
        registers: registers of a thread, the accumulators of matrix units included where these are apart.
        spills: registers that did not fit and are kept in memory, of a thread.
        scratch: bytes of memory of a thread for those and for what it indexes.
        matrix: families of matrix instructions in the code.
        kinds: a few of these, as they stand there.
        dots: whether the kernel multiplies matrices.
        narrow: a product whose operands have eight bits.
        copies: kinds of asynchronous copies in the code.
        seconds: how long the compiler took.
    """

    target: str
    error: str = ""
    unfinished: str = ""
    shared: int | None = None
    tensor_memory: int | None = None
    threads: int | None = None
    lanes: int | None = None
    registers: int | None = None
    spills: int | None = None
    scratch: int | None = None
    matrix: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    dots: bool = False
    narrow: bool = False
    copies: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def verdict(self) -> str:
        """One of VERDICTS."""
        if self.unfinished:
            return NOT_KNOWN
        if self.error:
            return DOES_NOT_COMPILE
        return DOES_NOT_FIT if self.overruns else COMPILES

    @property
    def overruns(self) -> tuple[str, ...]:
        """What it takes more of than a block may have: "98304 bytes of shared memory, of 65536"."""
        limits = ARCHITECTURES[self.target]
        amounts = (
            (self.shared, "bytes of shared memory", limits.shared),
            (self.tensor_memory, "columns of tensor memory", limits.tensor_memory),
            (self.threads, "threads", limits.threads),
        )
        return tuple(f"{taken} {what}, of {limit}" for taken, what, limit in amounts if (taken or 0) > limit)

    @property
    def widened(self) -> str:
        """What operands of eight bits are converted to before they are multiplied, or "": their own type will do."""
        if not (self.narrow and self.matrix) or any(word in kind for kind in self.kinds for word in _EIGHT_BITS):
            return ""
        return _operands(self.kinds)

    @property
    def findings(self) -> tuple[str, ...]:
        """What is to be said of it beside the verdict, a phrase each."""
        return tuple(_findings(self))

    def to_value(self) -> dict[str, Any]:
        """Return this reading as JSON values, without what is empty."""
        return {name: value for name, value in asdict(self).items() if value not in (None, "", (), False)}

    @classmethod
    def from_value(cls, value: Mapping[str, Any]) -> Reading:
        """Return the reading that :meth:`to_value` made ``value`` of."""
        fields: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in value.items()}
        return cls(**fields)


def refused(one: Architecture, error: BaseException, *, seconds: float) -> Reading:
    """Return the reading of what a compiler raised: its innermost cause, since others say only where."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
    return Reading(target=one.name, error=f"{type(error).__name__}: {lines[-1]}"[:_LONGEST], seconds=seconds)


def printed(text: str) -> str:
    """Return the first error that a compiler printed in ``text``, without the place, or ""."""
    found = re.search(r"error: (.*)", text)
    return found[1].strip()[:_LONGEST] if found else ""


def _findings(one: Reading) -> Iterator[str]:
    if one.unfinished or one.error:
        yield one.unfinished or one.error
        return
    yield from one.overruns
    if one.spills:
        yield f"{one.spills} register spills"
    if one.dots and not one.matrix:
        yield "no matrix instruction: products by FMA"
    elif one.widened:
        yield f"operands of 8 bits are widened to {one.widened}"


def _operands(kinds: Iterable[str]) -> str:
    """Return the type of what matrix instructions multiply, which is the narrowest type that they name."""
    found = re.findall(r"(?<![a-z0-9])(?:bf16|f16|tf32|xf32|f32)(?![a-z0-9])", " ".join(kinds).replace("_", "."))
    return min(found, key=lambda name: int(name[-2:]), default="another type")


_EIGHT_BITS = ("e4m3", "e5m2", "f8", "fp8", "bf8", "s8", "u8", "i8", "iu8")


def memory(readings: Iterable[Reading]) -> str:
    """Say where shared memory does not suffice: "98304 bytes of shared memory: fits sm_80, not gfx942 (65536)".

    Compilers take different amounts, so that several may be too much somewhere.
    """
    amounts: dict[int, list[Reading]] = {}
    for one in readings:
        if one.shared is not None:
            amounts.setdefault(one.shared, []).append(one)
    lacking = {amount: some for amount, some in amounts.items() if any(not _holds(one) for one in some)}
    return "; ".join(_fits(amount, some) for amount, some in sorted(lacking.items()))


def _holds(one: Reading) -> bool:
    return (one.shared or 0) <= ARCHITECTURES[one.target].shared


def _fits(amount: int, readings: list[Reading]) -> str:
    fits = [one.target for one in readings if _holds(one)]
    lacks = [f"{one.target} ({ARCHITECTURES[one.target].shared})" for one in readings if not _holds(one)]
    said = [f"fits {', '.join(fits)}"] if fits else []
    said += [f"not {', '.join(lacks)}"] if lacks else []
    return f"{amount} bytes of shared memory: {', '.join(said)}"
