"""Kernels in C++ that are wrong everywhere, or only on some targets."""

import torch

from kernels import implementation
from kernels.toolchains.cxx.source import Source
from suites.meta.mutants import fault

SOURCE = Source(__file__)


def _wrong(kernel, kind, report, dtype="float32"):
    @fault(kind, report)
    @implementation("relu", paradigm="cpp", name=f"wrong_{kernel}", dtypes=(dtype,))
    def run(x):
        out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        SOURCE.call(kernel, x, out)
        return out

    return run


one_past_the_end = _wrong("one_past_the_end", "bounds", "tilelang#2979")
input_overwritten = _wrong("input_overwritten", "inputs", "InfiniCore#1207")
rest_unwritten = _wrong("rest_unwritten", "F25", "triton#5048")
sign_in_the_last_byte = _wrong("sign_in_the_last_byte", "F12", "FlagTree#1121")
char_taken_for_signed = _wrong("char_taken_for_signed", "F12", "FBGEMM#5705", "int8")
