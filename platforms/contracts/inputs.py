"""Other values in the very same inputs: what checks write into tensors before, between and after calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch

from golden import layout
from golden.inputs import make_inputs
from platforms.execution import Bench
from platforms.patterns import integer_type


def another(bench: Bench) -> dict[str, np.ndarray]:
    """Return inputs of the same shapes with other values: those of the case with the next seed."""
    return make_inputs(replace(bench.case, seed=bench.case.seed + 1), bench.operation.forms(bench.case))


def on_device(tensors: Sequence[torch.Tensor], values: Mapping[str, np.ndarray]) -> list[torch.Tensor]:
    """Return the bits of ``values``, logical storage arrays in the order of ``tensors``, where these are."""
    return [
        torch.from_numpy(np.array(array[layout.once(tensor.stride())]).view(f"i{array.itemsize}")).to(tensor.device)
        for tensor, array in zip(tensors, values.values(), strict=True)
    ]


def write(tensors: Sequence[torch.Tensor], bits: Sequence[torch.Tensor]) -> None:
    """Put what :func:`on_device` returned into ``tensors`` in place, in the current stream."""
    for tensor, some in zip(tensors, bits, strict=True):
        tensor.view(integer_type(tensor.dtype))[layout.once(tensor.stride())].copy_(some)
