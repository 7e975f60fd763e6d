"""The catalogue's own kernels in CUDA C++, each with one thing changed in its source."""

import atexit
import functools
import shutil
import tempfile
from pathlib import Path
from unittest.mock import patch

from kernels import implementation
from kernels.dequant_gemm import cuda as dequant_gemm
from kernels.toolchains.cuda import CudaSource
from suites.meta.mutants import fault


@functools.cache
def _changed(path, before, after):
    """Return the source with ``after`` in the place of ``before``, which it has once."""
    text = path.read_text(encoding="utf-8")
    if text.count(before) != 1:
        raise ValueError(f"{path} has {text.count(before)} times {before!r}, not once")
    folder = Path(tempfile.mkdtemp(prefix="portolan-changed-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / path.name).write_text(text.replace(before, after), encoding="utf-8")
    return CudaSource(str(folder / path.name))


def _few_rows(name, before, after, *, kind, report):
    @fault(kind, report)
    @implementation(
        "dequant_gemm",
        paradigm="cuda",
        name=f"wrong_{name}",
        dtypes=("float16", "bfloat16"),
        needs=("matrix unit",),
    )
    def run(a, packed, scales, zeros, *, bits, group_size):
        with patch.object(dequant_gemm, "SOURCE", _changed(dequant_gemm.SOURCE.path, before, after)):
            return dequant_gemm.few_rows(a, packed, scales, zeros, bits=bits, group_size=group_size)

    return run


copy_not_awaited = _few_rows(
    "copy_not_awaited", "await_copies<STAGES - 2>()", "await_copies<STAGES - 1>()", kind="F26", report="tilelang#2668"
)
groups_of_no_slice = _few_rows(
    "groups_of_no_slice",
    "end = static_cast<int>(all * (slice + 1) / slices)",
    "end = begin + static_cast<int>(all / slices)",
    kind="F25",
    report="none: what is left where slices of k are of one size",
)
