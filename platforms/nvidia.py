"""NVIDIA GPUs through torch, its compiler, Triton and what generates it, TileLang, and CUDA C++."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from platforms import nvidia_sanitizer
from platforms.outcome import Damage
from platforms.platform import Absent, Platform
from platforms.probe import Probe
from platforms.vendors import Claim

if TYPE_CHECKING:
    from platforms.stopwatch import Stopwatch

_LIMITS = (
    "multi_processor_count",
    "warp_size",
    "shared_memory_per_block_optin",
    "regs_per_multiprocessor",
    "max_threads_per_multi_processor",
    "L2_cache_size",
)

_SINCE = {"shared memory": 0, "matrix unit": 7, "bulk copies": 9}
"""The compute capability, its first number, that each feature came with."""

_A_WHILE = 50_000_000
"""Clock cycles for which a stream is kept busy: some hundredths of a second."""


@dataclass(frozen=True, kw_only=True)
class Nvidia(Platform):
    """NVIDIA GPUs. ``visible`` lists the devices there are, as CUDA_VISIBLE_DEVICES names them."""

    name: str = "nvidia"
    device: str = "cuda:0"
    paradigms: tuple[str, ...] = ("torch", "inductor", "triton", "ninetoothed", "tilelang", "cuda")
    features: tuple[str, ...] = tuple(_SINCE)
    budget: int = 2**18
    filling: int = 2**24
    operations: int = 2**37
    visible: tuple[str, ...] = ("0",)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "visible", tuple(self.visible))

    def open(self) -> None:
        import torch

        super().open()
        torch.zeros(1, device=self.device)
        self.synchronize()

    def synchronize(self) -> None:
        import torch

        torch.cuda.synchronize(self.device)

    def facts(self) -> dict[str, Any]:
        import torch

        properties = torch.cuda.get_device_properties(self.device)
        limits = {name: getattr(properties, name) for name in _LIMITS if hasattr(properties, name)}
        return {
            **super().facts(),
            "name": properties.name,
            "cuda": torch.version.cuda,
            "memory": properties.total_memory,
            "capability": f"{properties.major}.{properties.minor}",
            "limits": limits,
            **_triton_version(),
            **_driver(self.visible[0]),
        }

    def beside(self) -> AbstractContextManager[None]:
        import torch

        return torch.cuda.stream(torch.cuda.Stream(self.device))

    def occupy(self) -> None:
        import torch

        torch.cuda._sleep(_A_WHILE)

    def capture(self, function: Callable[[], Any]) -> tuple[Any, Callable[[], None]]:
        import torch

        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = function()
        return result, graph.replay

    def stopwatch(self) -> Stopwatch:
        from platforms.nvidia_stopwatch import Events

        return Events(self.device)

    @property
    def hardware(self) -> str:
        return f"nvidia {self.environment.get('CUDA_VISIBLE_DEVICES', self.visible[0])}"

    def free_bytes(self) -> int | None:
        import torch

        torch.cuda.empty_cache()  # what earlier cases left in torch's cache is free as well
        return torch.cuda.mem_get_info()[0]

    def capabilities(self) -> dict[str, str]:
        from platforms.cuda_trial import lacking_in_cuda
        from platforms.tilelang_trial import lacking_in_tilelang
        from platforms.triton_trial import lacking_in_triton

        lacking = {**super().capabilities(), **lacking_in_triton(self.device), **lacking_in_cuda(self.device)}
        # One kernel says whether its compiler is here; each takes that compiler, which knows all dtypes, seconds.
        lacking |= lacking_in_tilelang(self.device, ("float32",))
        if "triton" in lacking:
            why = f"it generates Triton kernels here, and triton: {lacking['triton']}"
            lacking |= {"inductor": why, "ninetoothed": why}
        return lacking

    def findings(self) -> Iterable[Damage]:
        try:
            self.synchronize()
        except RuntimeError:
            time.sleep(1)  # until the report is there
        return nvidia_sanitizer.findings()

    def sanitized(self) -> Platform | Absent:
        return nvidia_sanitizer.sanitized(self)

    def for_worker(self, index: int) -> Platform:
        """Return this platform with one device visible: the devices are dealt out to the processes in turn."""
        mine = self.visible[index % len(self.visible)]
        return replace(self, environment={**self.environment, "CUDA_VISIBLE_DEVICES": mine})


def _triton_version() -> dict[str, str]:
    try:
        import triton
    except ImportError:
        return {}
    return {"triton": triton.__version__}


def _driver(device: str) -> dict[str, Any]:
    """Return the driver's version and the device's clocks in MHz, as far as the driver's own tool tells them."""
    asked = ("driver_version", "clocks.sm", "clocks.max.sm", "clocks.mem")
    try:
        said = subprocess.run(
            ["nvidia-smi", "-i", device, f"--query-gpu={','.join(asked)}", "--format=csv,noheader,nounits"],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return {}
    driver, *clocks = (one.strip() for one in said.split(","))
    return {"driver": driver, "clocks": dict(zip(asked[1:], clocks, strict=False))}


def find(probe: Probe, claims: Sequence[Claim]) -> Iterator[Platform | Absent]:
    """Yield NVIDIA's platform, or why it is not there: another vendor may be answering to torch.cuda."""
    others = [claim for claim in claims if claim.vendor != "nvidia" and claim.device == "cuda"]
    if any(claim.vendor == "nvidia" for claim in claims):
        yield Nvidia(visible=_visible(probe), features=_features(probe), wave=_wave(probe))
    elif others:
        yield Absent("nvidia", f"torch.cuda answers for {others[0].vendor} here: {others[0].sign}")
    else:
        yield Absent("nvidia", _why_not(probe))


def _visible(probe: Probe) -> tuple[str, ...]:
    """What CUDA_VISIBLE_DEVICES already names is all there is, in its words (numbers, UUIDs or MIG names)."""
    named = probe.env.get("CUDA_VISIBLE_DEVICES", "")
    count = len(probe.devices_of("cuda"))
    names = [name.strip() for name in named.split(",") if name.strip()][:count]
    return tuple(names) or tuple(str(index) for index in range(count))


def _wave(probe: Probe) -> int:
    """Return how many threads the largest device runs at once."""
    limits = [device.limits for device in probe.devices_of("cuda")]
    return max(one.get("multi_processor_count", 0) * one.get("max_threads_per_multi_processor", 0) for one in limits)


def _features(probe: Probe) -> tuple[str, ...]:
    """Return what all devices have, since any of them may get a case."""
    weakest = min(int(device.capability.partition(".")[0] or 0) for device in probe.devices_of("cuda"))
    return tuple(feature for feature, since in _SINCE.items() if weakest >= since)


def _why_not(probe: Probe) -> str:
    if not probe.torch_version:
        return probe.why_no_torch
    if "cuda" in probe.errors:
        return f"torch.cuda: {probe.errors['cuda']}"
    if "cuda" not in probe.available:
        return f"torch {probe.torch_version} was built without CUDA"
    devices = probe.devices_of("cuda")
    name = devices[0].name if devices else ""
    return f"torch.cuda is there, but its device calls itself {name!r}, and no known vendor shows a sign of itself"
