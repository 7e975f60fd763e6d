"""AMD's GPUs under ROCm: they answer to torch.cuda."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kernels.toolchains.compiler import DIALECTS, OPTIMIZED, Compiler, named_by_torch
from platforms.accelerator import Accelerator
from platforms.probe import Probe
from platforms.vendor import Card, Gap, Vendor
from platforms.vendors.hygon import mark


def _sign(probe: Probe) -> str:
    hip = probe.version.get("hip")
    return f"torch.version.hip is {hip!r}" if hip and not mark(probe) else ""


@dataclass(frozen=True, kw_only=True)
class Amd(Accelerator):
    """AMD's GPUs."""

    name: str = "amd"
    device: str = "cuda:0"
    paradigms: tuple[str, ...] = ("torch", "inductor", "triton", "ninetoothed", "cuda", "hip")
    vendor: ClassVar[Vendor] = Vendor(
        name="amd",
        title="AMD (ROCm)",
        toxenv="rocm",
        kind="cuda",
        sign=_sign,
        tool="rocm-smi",
        visible="HIP_VISIBLE_DEVICES",
        collective="nccl",
        library="RCCL",
        graph="CUDAGraph",
        compiler=Compiler(
            paradigm="hip",
            names=("hipcc",),
            home=("ROCM_PATH", "HIP_PATH"),
            folder="/opt/rocm",
            flags=(*OPTIMIZED, "-x", "hip"),
            architecture="--offload-arch={}",
            called=named_by_torch,
            suffix=".hip",
            dialect=DIALECTS / "hip.hpp",
            sources={
                "-x hip --offload-arch=ARCH": "clang.llvm.org/docs/HIPSupport.html",
                "-O3 -std=c++17 -shared -fPIC": "clang.llvm.org/docs/ClangCommandLineReference.html, as hipcc is clang",
            },
        ),
        environment=("CUDA_VISIBLE_DEVICES",),
        triton={"warps": "4", "dot": "ieee, and nothing else"},
        dtypes={"float8_e4m3fn": "the matrix units before gfx950 have e4m3fnuz instead, whose largest number is 240"},
        cards=(
            Card(name="CDNA 1 to 3", lanes=64, threads=1024, shared=65536, source="vLLM #12498, #17744"),
            Card(name="CDNA 4 (gfx950)", lanes=64, threads=1024, shared=163840, source="CDNA 4 instruction set guide"),
            Card(name="RDNA 3 and 4", lanes=32, threads=1024, shared=65536, source="RDNA instruction set guides"),
        ),
        gaps=(
            Gap("another HIP_VISIBLE_DEVICES than CUDA_VISIBLE_DEVICES is an error of vLLM's", "vLLM rocm.py"),
            Gap("a dot that asks for tf32 does not compile", "FlagTree, third_party/amd"),
            Gap("layer norm with more than 64 elements a lane is 3 to 86 times slower on RDNA 4", "FlagGems, _amd"),
        ),
        guesses=("16 waves a block", "whether hipcc takes what it is told, and the header by which it reads CUDA C++"),
        setup=("use the torch and triton of the ROCm image; `pip install torch` would put a CUDA build in its place",),
    )
