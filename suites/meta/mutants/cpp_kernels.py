"""Kernels in C++ that are wrong everywhere, or only on some targets."""

import torch

from kernels import implementation
from kernels.toolchains.cxx.source import Source

SOURCE = Source(__file__)


def _wrong(kernel, dtype="float32"):
    @implementation("relu", paradigm="cpp", name=f"wrong_{kernel}", dtypes=(dtype,))
    def run(x):
        out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        SOURCE.call(kernel, x, out)
        return out

    return run


one_past_the_end = _wrong("one_past_the_end")
input_overwritten = _wrong("input_overwritten")
rest_unwritten = _wrong("rest_unwritten")
sign_in_the_last_byte = _wrong("sign_in_the_last_byte")
char_taken_for_signed = _wrong("char_taken_for_signed", "int8")
