"""Iluvatar CoreX: its GPUs answer to torch.cuda."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from platforms.accelerator import Accelerator
from platforms.probe import Probe
from platforms.vendor import Card, Gap, Vendor, builds, device_name


def _sign(probe: Probe) -> str:
    if "corex" in probe.attributes:
        return "torch.corex exists"
    if "corex" in builds(probe):
        return f"torch is the build {builds(probe).split()[-1]!r}"
    name = device_name(probe).lower()
    return f"the device is called {device_name(probe)!r}" if "iluvatar" in name or name.startswith("bi-v") else ""


@dataclass(frozen=True, kw_only=True)
class Iluvatar(Accelerator):
    """Iluvatar's GPUs."""

    name: str = "iluvatar"
    device: str = "cuda:0"
    vendor: ClassVar[Vendor] = Vendor(
        name="iluvatar",
        title="Iluvatar CoreX",
        toxenv="corex",
        kind="cuda",
        sign=_sign,
        tool="ixsmi",
        visible="CUDA_VISIBLE_DEVICES",
        collective="nccl",
        graph="CUDAGraph",
        attributes=("corex",),
        environment=("ILUVATAR_VISIBLE_DEVICES",),
        triton={"warps": "4", "dot": "tf32"},
        dtypes={"float64": "absent in Triton", "float8_e4m3fn": "absent"},
        cards=(
            Card(
                name="BI-V150",
                lanes=64,
                threads=512,
                grid=(65536,),
                units=16,
                source="FlagGems, _iluvatar/ops/linalg_matrix_norm.py",
            ),
        ),
        gaps=(
            Gap("a sum over a tile of 512 lanes with 8 warps was wrong", "FlagGems, _iluvatar linalg_matrix_norm.py"),
            Gap("a dot of float32 over full tiles was wrong", "FlagGems, _iluvatar/ops/cholesky_solve.py"),
            Gap("a constant of float64 ends the compiler", "FlagGems, _iluvatar special_modified_bessel_k1.py"),
            Gap("division that rounds toward zero is wrong; / is approximate", "FlagGems, _iluvatar/ops/div.py"),
            Gap("sqrt differs by 1 to 2 units in the last place between its cores", "FlagGems, linalg_matrix_norm.py"),
            Gap("64-bit compare-and-swap is absent", "FlagTree, third_party/iluvatar"),
        ),
        guesses=("whether torch.corex exists in its builds: reports disagree",),
        setup=("use the torch and triton of the CoreX image; install neither by pip",),
    )
