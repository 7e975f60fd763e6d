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


def write(tensors: Sequence[torch.Tensor], values: Mapping[str, np.ndarray]) -> None:
    """Put ``values``, logical storage arrays in the order of ``tensors``, into these tensors in place."""
    for tensor, array in zip(tensors, values.values(), strict=True):
        once = layout.once(tensor.stride())
        bits = np.ascontiguousarray(array[once]).view(f"i{array.itemsize}")
        tensor.view(integer_type(tensor.dtype))[once].copy_(torch.from_numpy(bits))
