"""dequant_gemm in CUDA C++: a thread for each element, and tiles of dequantized weights in shared memory."""

from __future__ import annotations

import torch

from kernels import implementation
from kernels.toolchains.cuda import CudaSource, has_matrix_units, multiprocessors

SOURCE = CudaSource(__file__)

COLUMNS, ROWS, LINES = 64, 16, 16
"""Of a block of threads for few rows: its columns and rows, and how many packed lines it takes at a time."""

RESIDENT = 2
"""Such blocks at a time on a multiprocessor."""


def _product(kernel: str, a: torch.Tensor, *weights: torch.Tensor, bits: int, group_size: int) -> torch.Tensor:
    out = torch.empty((a.shape[0], weights[0].shape[1]), dtype=a.dtype, device=a.device)
    if out.numel():
        SOURCE.call(kernel, a, *weights, out, integers=(bits, group_size))
    return out


@implementation("dequant_gemm", paradigm="cuda")
def naive(
    a: torch.Tensor, packed: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor, *, bits: int, group_size: int
) -> torch.Tensor:
    """Return ``a`` times the weights; each thread dequantizes a column of them in float32."""
    return _product("naive", a, packed, scales, zeros, bits=bits, group_size=group_size)


@implementation("dequant_gemm", paradigm="cuda", optimizes="naive", technique="dequantized tiles in shared memory")
def tiled(
    a: torch.Tensor, packed: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor, *, bits: int, group_size: int
) -> torch.Tensor:
    """Return ``a`` times the weights; each weight is dequantized once a block."""
    return _product("tiled", a, packed, scales, zeros, bits=bits, group_size=group_size)


@implementation(
    "dequant_gemm",
    paradigm="cuda",
    optimizes="tiled",
    technique="split-K; weights unpacked in the registers that matrix units read",
    dtypes=("float16", "bfloat16"),
    needs=("matrix unit",),
)
def few_rows(
    a: torch.Tensor, packed: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor, *, bits: int, group_size: int
) -> torch.Tensor:
    """Return the same, for few rows of ``a``; weights are rounded to its dtype.

    Where a group is no multiple of :data:`LINES` packed lines, or the device has no matrix units, it is :func:`tiled`.
    """
    if group_size * bits // 8 % LINES or not has_matrix_units(a):
        return tiled(a, packed, scales, zeros, bits=bits, group_size=group_size)
    m, n = a.shape[0], scales.shape[1]
    packed, scales, zeros = map(_padded, (packed, scales, zeros))
    columns = scales.shape[1]
    slices = max(1, RESIDENT * multiprocessors(a) // max(1, -(-n // COLUMNS) * -(-m // ROWS)))
    slices = min(slices, scales.shape[0])
    out = a.new_empty((m, columns))
    partial = (a.new_empty((slices, m, columns), dtype=torch.float32),) if slices > 1 else ()
    if out.numel():
        integers = (bits, group_size, slices)
        SOURCE.call("few_rows", _aligned(a), packed, scales, zeros, out, *partial, integers=integers)
    return out if columns == n else out[:, :n].contiguous()


def _padded(rows: torch.Tensor) -> torch.Tensor:
    """Return ``rows`` aligned, as many columns long as a block or some multiple; what is added is anything."""
    if not (missing := -rows.shape[1] % COLUMNS):
        return _aligned(rows)
    longer = torch.empty((rows.shape[0], rows.shape[1] + missing), dtype=rows.dtype, device=rows.device)
    longer[:, : rows.shape[1]] = rows
    return longer


def _aligned(tensor: torch.Tensor) -> torch.Tensor:
    """Return ``tensor`` contiguous, at an address that 16 bytes divide; a copy where it lies otherwise."""
    tensor = tensor.contiguous()
    return tensor if tensor.data_ptr() % 16 == 0 else tensor.clone()
