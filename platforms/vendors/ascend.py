"""Huawei's Ascend NPUs through torch_npu."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from platforms.accelerator import Accelerator
from platforms.vendor import Card, Gap, Vendor, answers


@dataclass(frozen=True, kw_only=True)
class Ascend(Accelerator):
    """Ascend NPUs. One launch of Triton has at most 65535 programs."""

    name: str = "ascend"
    device: str = "npu:0"
    programs: int | None = 65535
    vendor: ClassVar[Vendor] = Vendor(
        name="ascend",
        title="Ascend NPU (CANN)",
        toxenv="npu",
        kind="npu",
        sign=answers("npu"),
        extension="torch_npu",
        tool="npu-smi",
        visible="ASCEND_RT_VISIBLE_DEVICES",
        collective="hccl",
        graph="NPUGraph",
        products="hf32 in convolutions, not in matrix products",
        triton={"warps": "ignored", "stages": "1", "dot": "ieee (ieee, hf32)"},
        dtypes={
            "float64": "absent",
            "int64": "by the scalar unit where vectors are added or compared",
        },
        cards=(
            Card(name="910B", shared=196608, grid=(65535,), units=48, source="triton-ascend, docs migration_guide"),
        ),
        gaps=(
            Gap("more than 65535 programs in one launch are refused", "triton-ascend, migration_guide"),
            Gap("atomic additions of int64 are absent; only acq_rel at the scope of the GPU", "triton-ascend, docs"),
            Gap("equal places in one atomic addition of a vector count once", "FlagGems, moe_align_block_size.py"),
            Gap("a mask of loads with an offset known at run time gives wrong data", "FlagGems, linalg_lstsq.py"),
            Gap("loops that wait for another program, and associative scans, are absent", "triton-ascend, docs"),
            Gap("cdiv is exact up to 2^24 alone", "triton-ascend, docs"),
            Gap("a list of visible devices that is not ascending counts no device", "torch_npu, npu/__init__.py"),
            Gap("triton and triton-ascend cannot both be installed", "triton-ascend, docs FAQ"),
            Gap("is_npu() of others raises where torch.npu is there without a card", "SGLang, common.py"),
        ),
        guesses=("the handle of a stream", "torch.npu.mem_get_info"),
        setup=(
            "use the torch, torch_npu and triton-ascend of the CANN image; install none by pip",
            "source /usr/local/Ascend/ascend-toolkit/set_env.sh",
        ),
    )
