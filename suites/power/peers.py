"""What others accept: their inputs and their tolerances, each as a judge of a few lines, with where it is read from.

Their inputs are made here by the nearest of our laws of values: ``torch.randn`` is "normal", ``torch.rand`` is
"positive", small whole numbers are "integers". Sizes above :data:`LARGEST` are cut, in rows first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, cycle

import numpy as np

from golden.case import Case, TensorSpec
from golden.dtypes import dtype_of
from kernels.operation import Operation
from suites.power.workloads import WORKLOADS

LARGEST = 2**15
"""Elements of a tensor that one call gets at most, so that twenty calls of everything end."""

Judge = Callable[[np.ndarray, np.ndarray, str, int], bool]
"""Whether an output is accepted beside what is expected, in a dtype, of a reduction over so many elements."""


@dataclass(frozen=True)
class Peer:
    """One project's way to test a kernel.

    Attributes:
        name, source: the project, and the file that the figures are read from.
        accepts: its tolerance.
        sizes: rows and columns that it tries, in turn.
        regimes, layouts: the laws of values, and how tensors lie, in turn.
        dtypes: the floating dtypes it tries, where an operation has them.
        sentinels: whether it looks at the memory around tensors.
    """

    name: str
    source: str
    accepts: Judge
    sizes: Sequence[tuple[int, int]]
    regimes: Sequence[str] = ("normal",)
    layouts: Sequence[str] = ("contiguous",)
    dtypes: Sequence[str] = ("float16", "float32", "bfloat16")
    sentinels: bool = False

    def cases(
        self, operation: Operation, dtypes: Sequence[str], *, calls: int, seed: int, largest: int = LARGEST
    ) -> Iterator[Case]:
        """Yield the cases of ``calls`` calls of a kernel for ``dtypes``; of its first if they try none of them."""
        known = [name for name in self.dtypes if name in dtypes] or dtypes[:1]
        laws = [one for one in self.regimes if one in operation.regimes(known[0], operation.tensors[0])] or ["normal"]
        turns = zip(range(calls), cycle(known), cycle(laws), count(seed * calls), strict=False)
        for number, dtype, regime, own in turns:
            rows, columns = self.sizes[number // len(known) % len(self.sizes)]
            layout = self.layouts[number % len(self.layouts)]
            yield _case(operation, dtype, _cut(rows, columns, largest), regime, layout, own)


def _cut(rows: int, columns: int, largest: int) -> tuple[int, int]:
    columns = min(columns, largest)
    return max(min(rows, largest // columns), 1), columns


def _case(operation: Operation, dtype: str, size: tuple[int, int], regime: str, layout: str, seed: int) -> Case:
    dims, params = WORKLOADS[operation.name](*size)
    bare = Case(operation.name, dtype, dims, params, {}, seed)
    specs = {}
    for name, form in operation.forms(bare).items():
        if form.values is None:
            law = regime if regime in operation.regimes(dtype, name) else "normal"
            law = law if law in operation.regimes(dtype, name) else operation.regimes(dtype, name)[0]
            specs[name] = TensorSpec(law, layout if len(form.shape) > 1 else "contiguous")
    return Case(operation.name, dtype, dims, params, specs, seed)


def _flat(
    relative: Mapping[str, float], absolute: Mapping[str, float], *, each: bool = False, share: float = 0.0
) -> Judge:
    """Return a judge by |a - b| <= absolute (for ``each`` reduced element) + relative |b|; NaN equal to NaN alone."""

    def accepts(output: np.ndarray, expected: np.ndarray, dtype: str, reduced: int) -> bool:
        if not dtype_of(dtype).is_float or output.dtype.kind in "iu":
            return bool(np.array_equal(output, expected))
        limit = absolute.get(dtype, absolute["*"]) * (reduced if each else 1)
        near = np.isclose(output, expected, rtol=relative.get(dtype, relative["*"]), atol=limit, equal_nan=True)
        return bool(np.mean(~near) <= share) if near.size else True

    return accepts


def _normalized(limit: float) -> Judge:
    """Return a judge by the mean square error over the mean square; infinities must be met, and NaN is refused."""

    def accepts(output: np.ndarray, expected: np.ndarray, dtype: str, reduced: int) -> bool:
        if output.dtype.kind in "iu":
            return bool(np.array_equal(output, expected))
        if np.isnan(output).any() or (np.isinf(output) != np.isinf(expected)).any():
            return False
        output, expected = (np.where(np.isinf(x), np.sign(x), x) for x in (output, expected))
        size = np.mean(np.square(expected)) if expected.size else 0.0
        return bool(np.mean(np.square(output - expected)) <= limit * size) if expected.size else True

    return accepts


def _either(output: np.ndarray, expected: np.ndarray, dtype: str, reduced: int) -> bool:
    """Wrong where both the absolute and the relative error exceed 0.01; any NaN or infinity is wrong."""
    if output.dtype.kind in "iu":
        return bool(np.array_equal(output, expected))
    if not np.isfinite(output).all():
        return False
    away = np.abs(output - expected)
    return not bool(((away > 1e-2) & (away > 1e-2 * (np.abs(expected) + 1e-8))).any())


PYTORCH = {"float16": 1e-3, "bfloat16": 1.6e-2, "float32": 1.3e-6, "float64": 1e-7, "*": 0.0}
_NEAR_ZERO = {"float64": 1e-7, "*": 1e-5}

PEERS: tuple[Peer, ...] = (
    Peer(
        "FlagGems",
        "tests/accuracy_utils.py, src/flag_gems/testing/__init__.py",
        _flat({**PYTORCH, "*": 1e-3}, {"*": 1e-4}, each=True),
        [(1, 2), (4096, 256), (200, 2560), (15, 1024), (495, 71)],
    ),
    Peer(
        "PyTorch OpInfo",
        "torch/testing/_comparison.py, torch/testing/_internal/common_methods_invocations.py",
        _flat(PYTORCH, _NEAR_ZERO),
        [(5, 5), (5, 10), (20, 20), (1, 1), (10, 20)],
        regimes=("normal", "normal", "mixed"),
        layouts=("contiguous", "transposed", "sliced2"),
        dtypes=("float32", "float64", "float16", "bfloat16"),
    ),
    Peer(
        "InfiniCore",
        "test/infiniop/*.py",
        _flat({"float16": 1e-2, "bfloat16": 5e-2, "*": 1e-3}, {"float16": 1e-3, "bfloat16": 5e-3, "*": 3e-5}),
        [(1, 2048), (13, 4), (16, 5632), (4, 64), (64, 2048)],
        regimes=("positive",),
        layouts=("contiguous", "padded3", "expanded0"),
    ),
    Peer(
        "ntops",
        "tests/utils.py, tests/test_*.py",
        _flat({"float32": 1e-3, "*": 1e-2}, {"float32": 1e-3, "*": 1e-2}),
        [(16, 32), (31, 33), (8, 64), (5, 97), (2, 500)],
        dtypes=("float32", "float16"),
    ),
    Peer(
        "tilelang",
        "tilelang/profiler/__init__.py",
        _flat({"*": 1e-2}, {"*": 1e-2}, share=0.01),
        [(1024, 1024), (512, 1024), (128, 256)],
        regimes=("integers",),
        dtypes=("float16",),
    ),
    Peer(
        "KernelBench",
        "src/kernelbench/eval.py",
        _flat({"float32": 1e-4, "*": 1e-2}, {"float32": 1e-4, "*": 1e-2}),
        [(16, 16384), (1024, 1024)],
        regimes=("positive", "normal"),
        dtypes=("float32",),
    ),
    Peer(
        "BackendBench",
        "BackendBench/eval.py",
        _flat({"*": 1e-2}, {"*": 1e-2}),
        [(5, 5), (5, 10), (128, 1024), (512, 768), (1, 1)],
        dtypes=("float32", "float16", "bfloat16"),
    ),
    Peer(
        "flashinfer-bench",
        "flashinfer_bench/bench/evaluators/default.py",
        _either,
        [(1, 4096), (7, 4096), (64, 2048), (128, 128)],
        dtypes=("bfloat16", "float16"),
    ),
    Peer(
        "kernelport",
        "kernelport 0.1.0",
        _flat(PYTORCH, _NEAR_ZERO),
        [(1, 1), (7, 13), (32, 128), (33, 129)],
        dtypes=("float32", "float16", "bfloat16"),
    ),
    Peer(
        "llama.cpp",
        "tests/test-backend-ops.cpp",
        _normalized(1e-7),
        [(5, 10), (16, 256), (3, 1056), (64, 77), (1, 1)],
        layouts=("contiguous", "transposed"),
        dtypes=("float32", "float16"),
        sentinels=True,
    ),
)
"""In the order of the table."""
