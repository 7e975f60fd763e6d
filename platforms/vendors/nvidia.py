"""NVIDIA GPUs through torch, its compiler, Triton and what generates it, TileLang, and CUDA C++."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from platforms.accelerator import Accelerator, visible, wave
from platforms.outcome import Damage
from platforms.platform import Absent, Platform
from platforms.probe import Probe
from platforms.vendor import Card, Vendor, device_name
from platforms.vendors import nvidia_sanitizer

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

_SINCE = {"shared memory": 0, "matrix unit": 7, "bulk copies": 9, "symmetric memory": 8}
"""The compute capability, its first number, that each feature came with."""

_BRANDS = ("nvidia", "tesla", "geforce", "quadro", "titan")
"""What the names of devices begin with."""

_GUIDE = "CUDA C++ Programming Guide, technical specifications per compute capability"

_A_WHILE = 50_000_000
"""Clock cycles for which a stream is kept busy: some hundredths of a second."""


def _sign(probe: Probe) -> str:
    named = any(brand in device_name(probe).lower() for brand in _BRANDS)
    return f"the device is called {device_name(probe)!r}" if named and probe.version.get("cuda") else ""


@dataclass(frozen=True, kw_only=True)
class Nvidia(Accelerator):
    """NVIDIA's GPUs."""

    name: str = "nvidia"
    device: str = "cuda:0"
    paradigms: tuple[str, ...] = ("torch", "inductor", "triton", "ninetoothed", "tilelang", "cuda")
    features: tuple[str, ...] = tuple(_SINCE)
    start_method: str = "forkserver"
    filling: int = 2**24
    operations: int = 2**37
    vendor: ClassVar[Vendor] = Vendor(
        name="nvidia",
        title="NVIDIA (CUDA)",
        met=True,
        toxenv="here",
        kind="cuda",
        sign=_sign,
        tool="nvidia-smi",
        visible="CUDA_VISIBLE_DEVICES",
        collective="nccl",
        graph="CUDAGraph",
        products="ieee; tf32 on request",
        triton={"warps": "4", "stages": "3", "dot": "tf32 (tf32, tf32x3, ieee)"},
        dtypes={"bfloat16": "since capability 8.0", "float8_e4m3fn": "in matrix units since capability 8.9"},
        cards=tuple(
            Card(name=name, lanes=32, threads=1024, shared=shared * 1024, grid=(2**31 - 1, 65535, 65535), source=_GUIDE)
            for name, shared in (("sm_75", 64), ("sm_80", 163), ("sm_86, 89, 120", 99), ("sm_90, 100", 227))
        ),
        setup=("nothing: the two commands of the README",),
    )

    @classmethod
    def of(cls, probe: Probe) -> Nvidia:
        return cls(visible=visible(probe, cls.vendor), features=_features(probe), wave=wave(probe, "cuda"))

    def facts(self) -> dict[str, Any]:
        import torch

        properties = torch.cuda.get_device_properties(self.device)
        limits = {name: getattr(properties, name) for name in _LIMITS if hasattr(properties, name)}
        return {
            **super().facts(),
            "cuda": torch.version.cuda,
            "memory": properties.total_memory,
            "capability": f"{properties.major}.{properties.minor}",
            "limits": limits,
            **_driver(self.taken),
        }

    def stopwatch(self) -> Stopwatch:
        from platforms.vendors.nvidia_stopwatch import Cycles

        return Cycles(self.device)

    def occupy(self) -> None:
        import torch

        torch.cuda._sleep(_A_WHILE)

    def capabilities(self) -> dict[str, str]:
        from platforms.tilelang_trial import lacking_in_tilelang

        # One kernel says whether its compiler is here; each takes that compiler, which knows all dtypes, seconds.
        tilelang = lacking_in_tilelang(self.device, ("float32",))
        return {**super().capabilities(), **tilelang}

    def findings(self) -> Iterable[Damage]:
        try:
            self.synchronize()
        except RuntimeError:
            time.sleep(1)  # until the report is there
        return nvidia_sanitizer.findings()

    def sanitized(self) -> Platform | Absent:
        return nvidia_sanitizer.sanitized(self)


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


def _features(probe: Probe) -> tuple[str, ...]:
    """Return what all devices have, since any of them may get a case."""
    weakest = min(int(device.capability.partition(".")[0] or 0) for device in probe.devices_of("cuda"))
    return tuple(feature for feature, since in _SINCE.items() if weakest >= since)
