"""Kernels in CUDA C++ whose threads do not wait for each other as they should."""

import torch

from kernels import implementation
from kernels.toolchains.cuda import CudaSource
from suites.meta.mutants import fault

SOURCE = CudaSource(__file__)


def _wrong(kernel, kind, report):
    @fault(kind, report)
    @implementation("sum", paradigm="cuda", name=f"wrong_{kernel}", dtypes=("float32",))
    def run(x, *, dim):
        rows = x.movedim(dim, -1)
        out = torch.empty(rows.shape[:-1], dtype=x.dtype, device=x.device)
        if out.numel():
            SOURCE.call(kernel, rows, out)
        return out

    return run


barrier_missing = _wrong("barrier_missing", "F27", "tilelang#2613")
barrier_divergent = _wrong("barrier_divergent", "F32", "FlagTree#1030")
lanes_missing = _wrong("lanes_missing", "F18", "tilelang#2099")
