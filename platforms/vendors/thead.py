"""T-Head's PPUs: they answer to torch.cuda."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from platforms.accelerator import Accelerator
from platforms.probe import Probe
from platforms.vendor import Card, Gap, Vendor, device_name


def _sign(probe: Probe) -> str:
    if "PPU_SDK" in probe.env:
        return "the environment has PPU_SDK"
    name = device_name(probe)
    return f"the device is called {name!r}" if "ppu" in name.lower().split("-")[0] else ""


@dataclass(frozen=True, kw_only=True)
class Thead(Accelerator):
    """T-Head's PPUs."""

    name: str = "thead"
    device: str = "cuda:0"
    vendor: ClassVar[Vendor] = Vendor(
        name="thead",
        title="T-Head PPU",
        toxenv="ppu",
        kind="cuda",
        sign=_sign,
        tool="ppu-smi",
        visible="CUDA_VISIBLE_DEVICES",
        collective="nccl",
        graph="CUDAGraph",
        environment=("PPU_SDK",),
        cards=(Card(name="PPU-ZW810E", source="FlagGems, runtime/backend/device_finder.py"),),
        gaps=(
            Gap("the autotuner hangs in scatter_reduce", "FlagGems, _thead/ops/scatter_reduce_.py"),
            Gap("views with stride 0 are compiled wrongly", "FlagGems, _thead/ops/scatter_reduce_.py"),
            Gap("its library's conv1d of float32 is off by 3.7e-3", "FlagGems, _thead/ops/cudnn_convolution.py"),
        ),
        guesses=("the name that the device gives itself", "lanes, threads and shared memory: none is documented"),
        setup=("use the torch and triton of its image; install neither by pip",),
    )
