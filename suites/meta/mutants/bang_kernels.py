"""Kernels in BANG C that break a rule of on-chip memory, or that are right in one order of their tasks."""

import torch

from kernels import implementation
from kernels.toolchains.bang import BangSource
from suites.meta.mutants import fault

SOURCE = BangSource(__file__)


def _wrong(operation, kernel, kind, report):
    @fault(kind, report)
    @implementation(operation, paradigm="bang", name=f"wrong_{kernel}", dtypes=("float32",))
    def run(x, **parameters):
        out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        if out.numel():
            SOURCE.call(kernel, x.contiguous(), out)
        return out

    return run


size_not_padded = _wrong("relu", "size_not_padded", "bounds", "none: a vector that is no whole lot")
address_not_aligned = _wrong("relu", "address_not_aligned", "bounds", "none: a vector behind a scalar")
nram_overrun = _wrong("relu", "nram_overrun", "bounds", "none: a copy that is longer than on-chip memory")
loaded_by_the_first = _wrong("relu", "loaded_by_the_first", "F2", "none: on-chip memory taken for shared")
copied_the_wrong_way = _wrong("relu", "copied_the_wrong_way", "bounds", "none: a direction that is not the memories'")
padding_pooled = _wrong("relu", "padding_pooled", "F1", "none: a pool over more lanes than were loaded")
filter_not_reshaped = _wrong("relu", "filter_not_reshaped", "index", "none: a product with a filter as it was loaded")
columns_not_padded = _wrong("relu", "columns_not_padded", "bounds", "none: a product of columns that are no whole lot")
carry_of_another_task = _wrong("cumsum", "carry_of_another_task", "F17", "none: a carry that is read from the result")
carry_by_the_scalar_unit = _wrong("cumsum", "carry_by_the_scalar_unit", "F17", "none: the same, past __memcpy")
last_piece_left = _wrong("relu", "last_piece_left", "F1", "none: a loop over whole lots alone")
whole_lots_stored = _wrong("relu", "whole_lots_stored", "bounds", "none: what is padded on the chip is stored padded")
input_rectified_too = _wrong("relu", "input_rectified_too", "inputs", "none: a buffer that is stored to both ends")
sum_of_calls = _wrong("relu", "sum_of_calls", "F28", "none: what a launch is told depends on those before it")
