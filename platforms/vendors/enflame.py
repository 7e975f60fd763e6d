"""Enflame's GCUs through torch_gcu."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from platforms.accelerator import Accelerator
from platforms.vendor import Card, Gap, Vendor, answers


@dataclass(frozen=True, kw_only=True)
class Enflame(Accelerator):
    """Enflame's GCUs. One launch of Triton has as many programs as there are cores."""

    name: str = "enflame"
    device: str = "gcu:0"
    vendor: ClassVar[Vendor] = Vendor(
        name="enflame",
        title="Enflame GCU (TopsRider)",
        toxenv="gcu",
        kind="gcu",
        sign=answers("gcu"),
        extension="torch_gcu",
        tool="efsmi",
        visible="TOPS_VISIBLE_DEVICES",
        collective="nccl",
        library="ECCL",
        triton={"warps": "4 (gcu300: 2)"},
        dtypes={"float64": "absent", "int64": "absent on gcu300"},
        cards=(Card(name="GCU", grid=(12, 1, 1), units=12, source="FlagGems, codegen_config_utils.py"),),
        gaps=(
            Gap(
                "torch_gcu must come before torch.distributed; its ECCL answers to nccl",
                "LightX2V, enflame_gcu.py",
            ),
            Gap("a grid of more programs than cores is made smaller by FlagGems", "FlagGems, codegen_config_utils.py"),
        ),
        guesses=("streams, events and graphs: none is documented", "torch.gcu.mem_get_info"),
        setup=("use the torch, torch_gcu and triton of its image; install none by pip",),
    )
