"""The call of a kernel in C++: one list of words, which ``called`` in ``include/kernel.hpp`` reads.

A call of a small kernel is mostly what is done here, so that nothing is looked up or built that was before.
"""

from __future__ import annotations

import ctypes
import functools
import struct
from collections.abc import Callable, Sequence
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

_NUMBERS = {dtype: number for number, dtype in enumerate(DTYPES)}


class KernelError(Exception):
    """A kernel reports that it could not compute; the message says why."""


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
    words = [stream, len(tensors)]
    for tensor in tensors:
        shape = tensor.shape
        words += (tensor.data_ptr(), _NUMBERS[tensor.dtype], len(shape), *shape, *tensor.stride())
    words += (len(integers), *integers)
    trouble = _kernel(library, name)(struct.pack(f"{len(words)}q{len(reals)}d", *words, *reals))
    if trouble:
        raise KernelError(f"{name}: {trouble.decode(errors='replace')}")


@functools.cache
def _kernel(library: Path, name: str) -> Callable[[bytes], bytes | None]:
    function = getattr(ctypes.CDLL(str(library)), f"kernel_{name}")
    function.argtypes, function.restype = (ctypes.c_char_p,), ctypes.c_char_p
    return function  # type: ignore[no-any-return]
