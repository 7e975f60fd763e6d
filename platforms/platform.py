"""What a platform is: one place where kernels run, with what is peculiar to it said once.

To add a vendor, write one file in ``platforms/vendors`` that looks like ``amd.py`` or ``cambricon.py``: a subclass of
:class:`platforms.accelerator.Accelerator` with a description of the vendor (its sign, what only this vendor's software
shows, and the names that differ), and its name in ``VENDORS`` there. What works otherwise than elsewhere is an
overridden hook. A platform of another kind is a file here that looks like ``cpu.py`` or ``interpreter.py``, with a
function ``find(probe, claims)`` that is named in ``FINDERS`` of ``detect.py``; it yields the platforms which this
machine has, or an :class:`Absent` that says why it has not got them. Detection looks at the probe alone and imports
neither torch nor a driver: what it decides can then be tested on any machine, by a probe written by hand.

Everything else follows: the suites ask a platform for its paradigms, its budget and what it cannot do, never for its
name. The hooks are called in the platform's own worker process, where importing torch and touching the device is right.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from kernels.features import check
from platforms.outcome import Damage
from platforms.outside import imported

if TYPE_CHECKING:
    from platforms.execution import Bench, Call
    from platforms.stopwatch import Stopwatch

VARIABLE = "PORTOLAN_RUNNER"
"""The environment variable that tells a runner which platform and kernels it is for; see :mod:`platforms.preload`."""


@dataclass(frozen=True)
class Absent:
    """A platform that this machine has not got, and why."""

    name: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Platform:
    """One place where kernels run.

    A platform is plain data, so that it can be rebuilt in a worker process from JSON (:meth:`to_value`), and a handful
    of hooks. Fields:

    Attributes:
        name: what it is called in records and on the command line; one word.
        device: the torch device that its tensors live on, such as ``"cpu"`` or ``"cuda:0"``.
        paradigms: the paradigms that it can run.
        refusals: for a paradigm that somebody might expect here, why it is not one of ``paradigms``.
        features: what it has of what kernels may need, of :data:`kernels.features.FEATURES`.
        environment: environment variables of its worker, set before anything is imported there.
        budget: the largest number of elements that a tensor of a case should have here, so that a case takes
            a reasonable time.
        programs: the largest number of programs that one launch should have here, or None where it does not matter.
        wave: how many threads its device runs at once, so that work for more comes in turns; 0 where that is no matter.
        start_method: how a runner comes to be: ``"forkserver"`` (a copy of a process that has everything imported, in
            tens of milliseconds), or ``"spawn"`` (a fresh one, in seconds) for runtimes that cannot be forked.
        on_request: it is only used when ``--platform`` names it, because it asks a question that not every run asks.
        threads: how many threads torch may use for one operation on the host.
        sanitizer: what watches its kernels, or ""; their tensors then lie alone, so that it sees where each ends.
        launcher: the command that its worker is started by, with that of Python behind it.
        gateway: where its worker runs, in execnet's syntax; "" for a process of this interpreter.
        root: the folder that the code is in there; "" for the one that it is in here.
        untimed: why the time that a kernel takes here says nothing of any hardware; "" where it does.
        filling: the elements of a tensor that keeps all of its device busy, and that its caches do not hold.
        operations: the operations of a matrix product that do so.
        deviations: what it answers, by topic of a numerical profile, where contracts ask for something else
            (:mod:`platforms.profile.rules`): a property of the machine that is known and is no finding.
    """

    name: str
    device: str
    paradigms: tuple[str, ...]
    refusals: Mapping[str, str] = field(default_factory=dict)
    features: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    budget: int = 2**18
    programs: int | None = None
    wave: int = 0
    start_method: str = "forkserver"
    on_request: bool = False
    threads: int = 1
    sanitizer: str = ""
    launcher: tuple[str, ...] = ()
    gateway: str = ""
    root: str = ""
    untimed: str = ""
    filling: int = 2**22
    operations: int = 2**28
    deviations: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "paradigms", tuple(self.paradigms))
        object.__setattr__(self, "features", tuple(self.features))
        object.__setattr__(self, "launcher", tuple(self.launcher))
        object.__setattr__(self, "deviations", {topic: tuple(one) for topic, one in self.deviations.items()})
        check(self.features)

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def worker_environment(self) -> dict[str, str]:
        """The environment variables of a process that is this platform's worker and nothing else."""
        return dict(self.environment)

    # Hooks. All but sanitized, for_worker and devices run in the worker.

    def prepare(self) -> None:
        """Get ready for kernel files to be imported.

        Runs before the fork where there is one, so it must not initialise the device.
        """
        # Compiler processes beside the runner would outlive it when it is killed.
        os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
        # Toolchains ask torch for devices when they are imported, which would initialise one and spoil the process for
        # forking, unless it asks the driver's library instead.
        os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")

    def open(self) -> None:
        """Take the device into use; the first thing a runner does. Raises whatever the driver raises."""
        import torch

        torch.set_num_threads(self.threads)

    def synchronize(self) -> None:
        """Wait until the device has done everything it was given; raises if the device is lost."""

    def facts(self) -> dict[str, Any]:
        """Return what reports say of this platform: versions, the device's name, memory and limits. JSON values.

        ``caveats``, a list of sentences, says what makes its results less trustworthy; a run warns of each.
        """
        import platform

        import numpy
        import torch

        from platforms.backends import described

        return {
            "torch": torch.__version__,
            "numpy": numpy.__version__,
            "python": platform.python_version(),
            "machine": platform.machine(),
            "device": self.device,
            "threads": torch.get_num_threads(),
            **({"sanitizer": self.sanitizer} if self.sanitizer else {}),
            **({"backends": described(self.collective)} if self.collective else {}),
        }

    def capabilities(self) -> dict[str, str]:
        """Return what this platform cannot do, each with the reason; found out by trying, not from a list.

        A key is a dtype (``"float64"``), a paradigm (``"inductor"``), or both (``"triton/bfloat16"``).
        """
        from platforms.trial import lacking_dtypes

        return lacking_dtypes(self.device)

    def free_bytes(self) -> int | None:
        """Return how much memory its tensors can still have, in bytes; None where nobody knows."""
        from platforms.limits import available

        return available()

    def classify(self, error: BaseException) -> str | None:
        """Return the kind of damage (:data:`platforms.outcome.DAMAGES`) that ``error`` reports, or None."""
        return None

    def beside(self) -> AbstractContextManager[None] | None:
        """Return a context in which another stream than the default one is current; None where there are no streams."""
        return None

    def occupy(self) -> None:
        """Give the current stream some hundredths of a second of work, and do not wait for it."""

    def capture(self, function: Callable[[], Any]) -> tuple[Any, Callable[[], None]] | None:
        """Return what ``function`` returned while a graph was captured of it, and what replays that graph.

        None where there are no graphs. Raises whatever the runtime raises where ``function`` cannot be captured.
        """
        return None

    def call(self, bench: Bench, poison: int, canary: int) -> Call:
        """Return what comes of one call of what is on the bench (:meth:`platforms.execution.Bench.call`)."""
        from platforms.execution import called

        return called(bench, poison, canary)

    def findings(self) -> Iterable[Damage]:
        """Return what kernels did according to its sanitizer, as far as it was not said before."""
        return ()

    def sanitized(self) -> Platform | Absent:
        """Return this platform with a sanitizer that watches its kernels, or why there is none."""
        return Absent(self.name, f"platform {self.name} has no sanitizer")

    def for_worker(self, index: int) -> Platform:
        """Return this platform as process ``index`` of several side by side should use it; hook for many devices."""
        return self

    def devices(self) -> tuple[Platform, ...]:
        """Return this platform once for each of its devices, named by it; itself alone where that is all there is."""
        return (self,)

    def stopwatch(self) -> Stopwatch:
        """Return what times calls on its device."""
        from platforms.stopwatch import Stopwatch, host_cache

        return Stopwatch(self.synchronize, host_cache())

    # What everything else asks.

    @property
    def hardware(self) -> str:
        """What its kernels run on, which one at a time may have alone; the same word for platforms that share it."""
        return f"host {self.gateway}".strip()

    @property
    def title(self) -> str:
        """What its device calls itself, where that is none of torch's devices; else ""."""
        return ""

    @property
    def collective(self) -> str:
        """The backend of torch.distributed that ranks on its devices talk by; "" where none is known."""
        return ""

    @property
    def alone(self) -> str:
        """Why ranks on its devices cannot talk to each other; "" where they can."""
        return "" if self.collective else f"no backend of torch.distributed is known for {self.name}"

    @property
    def most_ranks(self) -> int:
        """How many ranks its devices can hold."""
        return 1

    @property
    def spread(self) -> bool:
        """Whether it is one of several processes that talk to each other, for operations that are spread over ranks."""
        return False

    @property
    def grace(self) -> float:
        """Seconds beyond a call's limit that it takes to tell who was late, where somebody in the worker can tell."""
        return 0.0

    @property
    def place(self) -> str:
        """The name of the gateway behind which it is; "" for here."""
        return self.name.partition("@")[2]

    def refusal(self, paradigm: str) -> str:
        """Return why ``paradigm`` does not run here, or "" if it does."""
        if paradigm in self.paradigms:
            return ""
        return self.refusals.get(paradigm, f"platform {self.name} runs {', '.join(self.paradigms)}, not {paradigm}")

    def lack(self, needs: Iterable[str]) -> str:
        """Return which of ``needs``, features that an implementation declares, are not here, or "" if all are."""
        missing = [need for need in needs if need not in self.features]
        return f"{self.name} has no {', no '.join(missing)}" if missing else ""

    def to_value(self) -> dict[str, Any]:
        """Return this platform as JSON values."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        values = {name: dict(value) if isinstance(value, Mapping) else value for name, value in values.items()}
        return {"class": f"{type(self).__module__}:{type(self).__qualname__}", "fields": values}


def platform_from_value(value: Mapping[str, Any]) -> Platform:
    """Return the platform that :meth:`Platform.to_value` made ``value`` of; raises TypeError for another class."""
    module, _, name = value["class"].partition(":")
    kind = getattr(imported(module), name)
    if not (isinstance(kind, type) and issubclass(kind, Platform)):
        raise TypeError(f"{value['class']} is not a platform")
    return kind(**value["fields"])
