"""What is known of a vendor before any of its cards has been met: names, limits, gaps, each with where it was read.

All of it is data: detection, the platform's hooks and the page of vendors in the docs read it, and whoever meets a card
corrects it in one place. What a dtype or a compiler really does there is found out by trying and never taken from here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kernels.toolchains.compiler import Compiler

if TYPE_CHECKING:
    from platforms.probe import Probe


@dataclass(frozen=True, kw_only=True)
class Card:
    """The limits of one kind of card. None means that they are not known, or that there is no such thing.

    Attributes:
        name: as its vendor calls it.
        lanes: threads of a warp or wave.
        threads: threads of one block.
        shared: bytes on the chip that one block may have.
        grid: blocks of one launch along each axis.
        units: multiprocessors or cores.
        source: where it was read.
    """

    name: str
    lanes: int | None = None
    threads: int | None = None
    shared: int | None = None
    grid: tuple[int, ...] = ()
    units: int | None = None
    source: str


@dataclass(frozen=True)
class Gap:
    """Something that does not work there, or computes otherwise, and where it was read."""

    what: str
    source: str


@dataclass(frozen=True, kw_only=True)
class Vendor:
    """One vendor's software and cards.

    Attributes:
        name: its platform's name.
        title: vendor and product, for people.
        met: whether Portolan has run on a card of its.
        toxenv: the environment of ``tox.ini`` that audits a machine of its, with the torch that is there.
        kind: the torch device type that its cards answer to.
        sign: returns what shows that a machine is this vendor's, in words, or "".
        extension: the module that adds the device type to torch; "" where torch has it.
        tool: the command that lists its cards.
        visible: the environment variable that lists the devices a process may use.
        collective: its backend of torch.distributed.
        library: what stands behind a backend of another's name, as RCCL does behind nccl; "" where that is not known,
            or the backend has its own name.
        graph: the class of ``torch.<kind>`` that holds a captured graph, "" where none is known.
        compiler: that of its own C++; None where there is none, or it is CUDA's.
        modules, attributes, environment, files: what a probe must look at for ``sign``.
        products: how torch multiplies matrices of float32 if nobody says otherwise.
        triton: what Triton takes there if nobody says otherwise: "warps", "stages", "dot" (precisions of float32).
        dtypes: what is reported of dtypes that are absent or other than their name says.
        cards: limits of cards.
        gaps: what is reported not to work, or to compute otherwise.
        guesses: what nobody could check without a card: the list for whoever meets the first one.
        setup: the steps on its image, in order.
    """

    name: str
    title: str
    met: bool = False
    toxenv: str = ""
    kind: str
    sign: Callable[[Probe], str]
    extension: str = ""
    tool: str = ""
    visible: str = ""
    collective: str = ""
    library: str = ""
    graph: str = ""
    compiler: Compiler | None = None
    modules: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    products: str = ""
    triton: Mapping[str, str] = field(default_factory=dict)
    dtypes: Mapping[str, str] = field(default_factory=dict)
    cards: tuple[Card, ...] = ()
    gaps: tuple[Gap, ...] = ()
    guesses: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()


def answers(kind: str) -> Callable[[Probe], str]:
    """Return the sign of a vendor that has device type ``kind`` of torch for itself."""
    return lambda probe: f"torch.{kind} is available"


def answers_alone(kind: str) -> Callable[[Probe], str]:
    """Return the sign of a device type that comes with torch, so that it counts only where no card answers to cuda."""
    return lambda probe: f"torch.{kind} is available" if "cuda" not in probe.available else ""


def device_name(probe: Probe, kind: str = "cuda") -> str:
    """Return what the first device of type ``kind`` calls itself, or ""."""
    devices = probe.devices_of(kind)
    return devices[0].name if devices else ""


def builds(probe: Probe) -> str:
    """Return both versions that torch goes by, which vendors mark: the module's and the installed package's."""
    return f"{probe.torch_version} {probe.torch_distribution}".lower()
