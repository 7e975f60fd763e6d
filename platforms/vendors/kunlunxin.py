"""Kunlunxin's XPUs: they answer to torch.cuda once torch_xmlir is imported; torch.xpu is Intel's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from platforms.accelerator import Accelerator
from platforms.probe import Probe
from platforms.vendor import Card, Gap, Vendor

_DRIVER = "/proc/kunlun/version"


def _sign(probe: Probe) -> str:
    there = "torch_xmlir" in probe.modules and _DRIVER in probe.files
    return f"torch_xmlir is installed and {_DRIVER} exists" if there else ""


@dataclass(frozen=True, kw_only=True)
class Kunlunxin(Accelerator):
    """Kunlunxin's XPUs."""

    name: str = "kunlunxin"
    device: str = "cuda:0"
    vendor: ClassVar[Vendor] = Vendor(
        name="kunlunxin",
        title="Kunlunxin XPU",
        toxenv="kunlun",
        kind="cuda",
        sign=_sign,
        tool="xpu-smi",
        visible="CUDA_VISIBLE_DEVICES",
        collective="nccl",
        graph="CUDAGraph",
        modules=("torch_xmlir",),
        environment=("FLAGTREE_BACKEND", "XPU_VISIBLE_DEVICES"),
        files=(_DRIVER,),
        triton={"warps": "ignored: there are none"},
        dtypes={"float64": "computed as float32 in places", "bfloat16": "limited"},
        cards=(Card(name="P800", lanes=1, grid=(65536,), units=12, source="FlagTree, third_party/xpu"),),
        gaps=(
            Gap("NaN equals NaN unless isOpenCmpNan is set; -0.0 differs from 0", "FlagGems, _kunlunxin isclose.py"),
            Gap("a sum drops lanes beyond 8192", "FlagGems, _kunlunxin/ops/dot.py"),
            Gap("atomic additions lose elements", "FlagGems, _kunlunxin/ops/unique.py"),
            Gap("a masked store of a scalar ignores its mask", "FlagGems, _kunlunxin/ops/triu.py"),
            Gap("batched products of float32 are wrong for sizes that are no power of two", "FlagGems, _kunlunxin"),
            Gap("inf and NaN become 4.25e37 in bfloat16", "FlagGems, _kunlunxin/ops/new_full.py"),
            Gap("log of bfloat16 is ln 2 too large in 1.6 % of elements", "FlagGems, _kunlunxin/ops/log1p.py"),
            Gap("its Triton driver says that it is active on every machine", "FlagTree, third_party/xpu driver.py"),
        ),
        guesses=("the name that the device gives itself", "graphs", "CUDA_VISIBLE_DEVICES or XPU_VISIBLE_DEVICES"),
        setup=(
            "use the torch, torch_xmlir and triton of its image; install none by pip",
            "export FLAGTREE_BACKEND=xpu where Triton is FlagTree's",
        ),
    )

    def prepare(self) -> None:
        import torch_xmlir  # type: ignore[import-not-found]  # noqa: F401 - before the first use of torch.cuda

        super().prepare()
