"""Intel's GPUs through torch.xpu, which is a part of torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from platforms.accelerator import Accelerator
from platforms.vendor import Card, Gap, Vendor, answers_alone


@dataclass(frozen=True, kw_only=True)
class Intel(Accelerator):
    """Intel's GPUs."""

    name: str = "intel"
    device: str = "xpu:0"
    vendor: ClassVar[Vendor] = Vendor(
        name="intel",
        title="Intel GPU (oneAPI)",
        toxenv="xpu",
        kind="xpu",
        sign=answers_alone("xpu"),
        tool="xpu-smi",
        visible="ZE_AFFINITY_MASK",
        collective="xccl",
        graph="XPUGraph",
        modules=("intel_extension_for_pytorch",),
        triton={"warps": "4", "stages": "2", "dot": "tf32 (tf32, tf32x3, ieee, bf16x3, bf16x6)"},
        dtypes={
            "float64": "absent on some GPUs (property has_fp64)",
            "bfloat16": "emulated on some (property has_bfloat16_arithmetic)",
        },
        cards=(Card(name="Xe", lanes=32, source="intel-xpu-backend-for-triton, compiler.py"),),
        gaps=(
            Gap("num_ctas other than 1 is refused", "intel-xpu-backend-for-triton, compiler.py"),
            Gap("a dot of int8 needs 32 terms or more", "intel-xpu-backend-for-triton, compiler.py"),
            Gap("scalar arguments of bfloat16 are cut, not rounded", "intel-xpu-backend-for-triton, driver.py"),
        ),
        guesses=("ZE_AFFINITY_MASK takes whole numbers alone",),
        setup=("pip install torch --index-url https://download.pytorch.org/whl/xpu",),
    )
