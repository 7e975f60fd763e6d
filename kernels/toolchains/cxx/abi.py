"""The call of a kernel in C++ as ctypes sees it; ``include/kernel.hpp`` has the same structures."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path

import torch

DTYPES = (
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.int8,
    torch.uint8,
)
"""In the order of ``enum class DType``."""


class KernelError(Exception):
    """A kernel reports that it could not compute; the message says why."""


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("dtype", ctypes.c_int64),
        ("rank", ctypes.c_int64),
        ("sizes", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
    )


class _Call(ctypes.Structure):
    _fields_ = (
        ("tensors", ctypes.POINTER(_Tensor)),
        ("integers", ctypes.POINTER(ctypes.c_int64)),
        ("reals", ctypes.POINTER(ctypes.c_double)),
        ("stream", ctypes.c_void_p),
    )


def call(
    library: Path,
    name: str,
    tensors: Sequence[torch.Tensor],
    integers: Sequence[int],
    reals: Sequence[float],
    *,
    stream: int = 0,
) -> None:
    """Call kernel ``name`` of a shared library on tensors where they lie; raises KernelError.

    ``stream`` is the device's stream that it is launched on, 0 for none.
    """
    function = getattr(ctypes.CDLL(str(library)), f"kernel_{name}")
    function.restype = ctypes.c_char_p
    structures = (_Tensor * len(tensors))(*(_structure(tensor) for tensor in tensors))
    request = _Call(structures, _integers(integers), (ctypes.c_double * len(reals))(*reals), stream)
    trouble = function(ctypes.byref(request))
    if trouble:
        raise KernelError(f"{name}: {trouble.decode(errors='replace')}")


def _structure(tensor: torch.Tensor) -> _Tensor:
    sizes, strides = _integers(tensor.shape), _integers(tensor.stride())
    return _Tensor(tensor.data_ptr(), DTYPES.index(tensor.dtype), tensor.dim(), sizes, strides)


def _integers(values: Sequence[int]) -> ctypes.Array[ctypes.c_int64]:
    return (ctypes.c_int64 * len(values))(*values)
