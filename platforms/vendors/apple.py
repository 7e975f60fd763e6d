"""Apple's GPUs through torch.mps, which is a part of torch; its namespace has neither streams nor a current device."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import ClassVar

from platforms.accelerator import Accelerator
from platforms.vendor import Gap, Vendor, answers_alone


@dataclass(frozen=True, kw_only=True)
class Apple(Accelerator):
    """Apple's GPUs."""

    name: str = "apple"
    device: str = "mps:0"
    paradigms: tuple[str, ...] = ("torch",)
    vendor: ClassVar[Vendor] = Vendor(
        name="apple",
        title="Apple (Metal)",
        toxenv="mps",
        kind="mps",
        sign=answers_alone("mps"),
        collective="gloo",
        dtypes={"float64": "absent: Metal has none", "bfloat16": "since macOS 14"},
        gaps=(
            Gap("torch.mps has no Stream, no current_stream, no get_device_name", "torch 2.13"),
            Gap("Triton has no backend for it", "triton"),
        ),
        guesses=("whether torch.compile's Metal backend is worth a paradigm",),
        setup=("pip install torch",),
    )

    def open(self) -> None:
        import torch

        torch.set_num_threads(self.threads)
        torch.zeros(1, device=self.device)
        self.synchronize()

    def beside(self) -> AbstractContextManager[None] | None:
        return None
