"""MetaX's GPUs under MXMACA: they answer to torch.cuda, with a version of CUDA."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kernels.toolchains.compiler import DIALECTS, GUESS, OPTIMIZED, Compiler
from platforms.accelerator import Accelerator
from platforms.probe import Probe
from platforms.vendor import Card, Gap, Vendor, builds, device_name


def _sign(probe: Probe) -> str:
    if probe.version.get("maca"):
        return f"torch.version.maca is {probe.version['maca']!r}"
    if "+metax" in builds(probe):
        return f"torch is the build {builds(probe).split()[0]!r}"
    return f"the device is called {device_name(probe)!r}" if "metax" in device_name(probe).lower() else ""


@dataclass(frozen=True, kw_only=True)
class Metax(Accelerator):
    """MetaX's GPUs."""

    name: str = "metax"
    device: str = "cuda:0"
    paradigms: tuple[str, ...] = ("torch", "inductor", "triton", "ninetoothed", "cuda", "maca")
    vendor: ClassVar[Vendor] = Vendor(
        name="metax",
        title="MetaX (MXMACA)",
        toxenv="maca",
        kind="cuda",
        sign=_sign,
        tool="mx-smi",
        visible="MACA_VISIBLE_DEVICES",
        collective="nccl",
        library="MCCL",
        graph="CUDAGraph",
        compiler=Compiler(
            paradigm="maca",
            names=("mxcc",),
            home=("MACA_PATH", "MACA_HOME"),
            folder="/opt/maca",
            within=("mxgpu_llvm/bin", "bin"),
            flags=(*OPTIMIZED, "-x", "maca"),
            library=("-shared", "-fPIC", "--maca-path={home}"),
            suffix=".maca",
            dialect=DIALECTS / "maca.hpp",
            sources={
                "-O3 -std=c++17 -x maca -fPIC, MACA_PATH, mxgpu_llvm/bin": "InfiniCore, xmake/metax.lua",
                "-shared --maca-path={home}": GUESS,
            },
        ),
        environment=("MACA_PATH",),
        triton={"warps": "4", "stages": "3", "dot": "tf32"},
        cards=(
            Card(
                name="C550",
                lanes=64,
                threads=512,
                shared=65536,
                grid=(65536, 65536, 65536),
                units=104,
                source="FlagSparse, docs/MACA.md 2.2; FlagGems, _metax/heuristics_config_utils.py",
            ),
        ),
        gaps=(
            Gap("a dot with fewer than 16 or 32 rows or columns ends the compiler", "FlagGems, _metax/ops/addmm.py"),
            Gap("a dot of float64 has no correct lowering", "FlagGems, _metax/ops/cholesky_solve.py"),
            Gap("reducing axis 0 of a tile is compiled wrongly", "FlagGems, _metax/ops/linear_backward.py"),
            Gap("4 KB of private memory a thread: larger arrays of a thread are very slow", "FlagSparse, MACA.md 6"),
            Gap("num_ctas other than 1, and programmatic dependent launch, are refused", "vLLM-metax, kda.py"),
            Gap("without MACA_PATH its Triton ends with a TypeError", "FlagTree, third_party/metax"),
            Gap("loops that wait for another program's flag hang", "FlagSparse, MACA.md 5"),
        ),
        guesses=(
            "whether 16 warps a block run (its compiler says so) or 8 (FlagGems)",
            "whether mxcc takes what it is told, the header by which it reads CUDA C++, and its default architecture",
        ),
        setup=(
            "use the torch and triton of the MXMACA image (torch 2.8.0+metax and its kin); install neither by pip",
            "export MACA_PATH=/opt/maca",
        ),
    )
