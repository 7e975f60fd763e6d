"""Hygon's DCUs: they answer to torch.cuda, and to ROCm's version as AMD's do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kernels.toolchains.compiler import DIALECTS, GUESS, OPTIMIZED, Compiler, named_by_torch
from platforms.accelerator import Accelerator
from platforms.probe import Probe
from platforms.vendor import Card, Gap, Vendor, builds

_OWN = ("gfx928", "gfx936", "gfx938")
"""Architectures of this vendor alone; gfx906 is AMD's as well."""


def mark(probe: Probe) -> str:
    """Return what tells this vendor's ROCm from AMD's, in words, or ""."""
    devices = probe.devices_of("cuda")
    arch = devices[0].arch.split(":")[0] if devices else ""
    if "__hcu_version__" in probe.attributes:
        return "torch.__hcu_version__ exists"
    if "dtk" in builds(probe):
        return f"torch is the build {builds(probe).split()[0]!r}"
    return f"the architecture is {arch}" if arch in _OWN else ""


def _sign(probe: Probe) -> str:
    return mark(probe) if probe.version.get("hip") else ""


@dataclass(frozen=True, kw_only=True)
class Hygon(Accelerator):
    """Hygon's DCUs."""

    name: str = "hygon"
    device: str = "cuda:0"
    paradigms: tuple[str, ...] = ("torch", "inductor", "triton", "ninetoothed", "cuda", "hip")
    vendor: ClassVar[Vendor] = Vendor(
        name="hygon",
        title="Hygon DCU (DTK)",
        toxenv="dtk",
        kind="cuda",
        sign=_sign,
        tool="hy-smi",
        visible="HIP_VISIBLE_DEVICES",
        collective="nccl",
        graph="CUDAGraph",
        compiler=Compiler(
            paradigm="hip",
            names=("hipcc",),
            home=("DTK_ROOT", "ROCM_PATH"),
            folder="/opt/dtk",
            flags=(*OPTIMIZED, "-x", "hip"),
            architecture="--offload-arch={}",
            called=named_by_torch,
            suffix=".hip",
            dialect=DIALECTS / "hip.hpp",
            sources={
                "-std=c++17 -fPIC, DTK_ROOT, /opt/dtk": "InfiniCore, xmake/hygon.lua (of DTK's own nvcc)",
                "-O3 -x hip --offload-arch=ARCH -shared": GUESS,
            },
        ),
        attributes=("__hcu_version__",),
        triton={"warps": "4", "dot": "ieee, and nothing else"},
        cards=(Card(name="DCU", lanes=64, threads=512, shared=65536, grid=(65536,), source="FlagSparse, docs/DCU.md"),),
        gaps=(
            Gap("tiles of more than 64 columns, or more than one stage, are refused", "FlagSparse, docs/DCU.md 4.6"),
            Gap("timing of large tiles by the autotuner ends in a memory fault", "FlagGems, _hygon/ops/weight_norm.py"),
            Gap("libdevice's fmod wants operands of one width", "FlagGems, _hygon/ops/div.py"),
            Gap("a norm of absolute values over batches is compiled wrongly", "FlagGems, _hygon linalg_matrix_norm.py"),
            Gap("loops that wait for a flag need acquire semantics and a bounded grid", "FlagSparse, docs/DCU.md 4.6"),
        ),
        guesses=(
            "the name that the device gives itself (BW1000?)",
            "graphs",
            "whether hipcc of its toolkit is told what AMD's is, and reads CUDA C++ through the same header",
        ),
        setup=("use the torch and triton of the DTK image; install neither by pip",),
    )
