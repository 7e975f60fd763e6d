"""A driver for Triton whose device is not there: kernels are told what the device would say, and never launched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from triton.backends.compiler import GPUTarget

from platforms.targets.architecture import ARCHITECTURES, Architecture

MULTIPROCESSORS = 128
"""How many multiprocessors every absent device says it has; only the number of programs follows from it."""


class AbsentDriver:
    """What Triton asks of a driver before a launch, answered for one architecture.

    Devices are numbered by architecture, since Triton keeps what it prepares for a device by its number.
    """

    def __init__(self, architecture: Architecture) -> None:
        self._architecture = architecture
        self._number = list(ARCHITECTURES).index(architecture.name)
        self.utils = self

    def get_current_target(self) -> GPUTarget:
        return target_of(self._architecture)

    def get_current_device(self) -> int:
        return self._number

    def get_current_stream(self, device: int) -> int:
        return 0

    def get_active_torch_device(self) -> torch.device:
        return torch.device("meta")

    def get_benchmarker(self) -> Callable[..., Sequence[float]]:
        """Return what calls a kernel once and finds all configurations equally fast."""

        def once(kernel: Callable[[], Any], **_: Any) -> Sequence[float]:
            kernel()
            return (1.0, 1.0, 1.0)

        return once

    def get_device_properties(self, device: int) -> dict[str, int]:
        one = self._architecture
        return {
            "max_shared_mem": one.shared,
            "max_num_regs": 65536,
            "multiprocessor_count": MULTIPROCESSORS,
            "warpSize": one.lanes,
        }


def target_of(architecture: Architecture) -> GPUTarget:
    """Return what Triton calls ``architecture``."""
    return GPUTarget(architecture.backend, architecture.number, architecture.lanes)
