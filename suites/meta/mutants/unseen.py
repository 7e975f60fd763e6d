"""Kernels whose values are right and which leave no trace: what a sanitizer sees and nothing else does."""

import torch

from kernels import implementation
from kernels.toolchains.cuda import CudaSource
from kernels.toolchains.cxx.source import Source
from suites.meta.mutants import fault

SOURCES: dict[str, Source | CudaSource] = {"cpp": Source(__file__), "cuda": CudaSource(__file__)}


def _relu(paradigm, kernel, kind=None, report=""):
    def run(x):
        out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        SOURCES[paradigm].call(kernel, x, out)
        return out

    if kind:
        fault(kind, report)(run)
    return implementation("relu", paradigm=paradigm, name=kernel, dtypes=("float32",))(run)


breaks_reading = _relu("cpp", "breaks_reading", "bounds", "none: a prefetch past the end, of what nobody takes")
breaks_integers = _relu("cpp", "breaks_integers", "F9", "none: 32 bits that overflow, which nobody takes")
keeps_reading = _relu("cpp", "keeps_reading")
breaks_shared = _relu("cuda", "breaks_shared", "bounds", "none: the next thread's slot in shared memory")
