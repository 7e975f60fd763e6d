"""The call of a kernel in a program that an emulator runs: memory goes there, and all of it comes back.

What goes is not the tensors but the whole storages that they lie in, and what comes back is written over these: guard
bands, gaps between rows and inputs then look as they would if the kernel had run in this process, and whoever guards
them sees what it did. ``harness.cpp`` is the other side.
"""

from __future__ import annotations

import ctypes
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from kernels.toolchains.cxx.abi import DTYPES, KernelError
from kernels.toolchains.cxx.target import Target

LARGEST = 2**28
"""Bytes of a storage that is worth sending."""

_PAGE = 2**16  # at least a page of any target, so that alignment is the same on both sides


def call(
    program: Path,
    target: Target,
    name: str,
    tensors: Sequence[torch.Tensor],
    integers: Sequence[int],
    reals: Sequence[float],
) -> None:
    """Run kernel ``name`` of ``program`` in the target's emulator on copies of the tensors' storages.

    Raises KernelError where the program fails, and MemoryError for storages of more than :data:`LARGEST` bytes.
    """
    storages = {tensor.untyped_storage().data_ptr(): tensor.untyped_storage() for tensor in tensors}
    for storage in storages.values():
        if storage.nbytes() > LARGEST:
            size = f"{storage.nbytes() / 2**30:.1f} GiB"
            raise MemoryError(f"an emulated program takes {LARGEST >> 20} MiB of one tensor, not {size}")
    memories = [_bytes_of(storage) for storage in storages.values()]
    number = {address: index for index, address in enumerate(storages)}
    places = [number[tensor.untyped_storage().data_ptr()] for tensor in tensors]
    spans = _spans(tensors, places) if target.byteorder == "big" else set()
    words = _words(memories, tensors, places, integers, reals)
    sent = [memory.copy() for memory in memories]
    _swap(sent, spans)
    order = ">" if target.byteorder == "big" else "<"
    header = np.array([len(words), *words]).astype(f"{order}i8").tobytes()
    reply = _ask([*target.emulator, str(program), name], b"".join([header, *(one.tobytes() for one in sent)]))
    if len(reply) != sum(memory.size for memory in memories):
        raise KernelError(f"{name}: the program returned {len(reply)} bytes")
    received = np.split(np.frombuffer(bytearray(reply), np.uint8), np.cumsum([memory.size for memory in memories])[:-1])
    _swap(received, spans)
    for memory, values in zip(memories, received, strict=True):
        memory[:] = values


def _ask(command: Sequence[str], request: bytes) -> bytes:
    ended = subprocess.run(command, input=request, capture_output=True, check=False)
    if ended.returncode:
        code = ended.returncode
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        raise KernelError(f"{how} of {' '.join(command)}: {ended.stderr.decode(errors='replace').strip()[:1000]}")
    return ended.stdout


def _bytes_of(storage: torch.UntypedStorage) -> np.ndarray:
    """Return the memory of a storage, not a copy of it."""
    if not storage.nbytes():
        return np.empty(0, np.uint8)
    return np.ctypeslib.as_array((ctypes.c_uint8 * storage.nbytes()).from_address(storage.data_ptr()))


def _words(
    memories: Sequence[np.ndarray],
    tensors: Sequence[torch.Tensor],
    places: Sequence[int],
    integers: Sequence[int],
    reals: Sequence[float],
) -> list[int]:
    """Return the request but for the memory itself: storages, tensors, integers, and the bits of reals."""
    words: list[int] = [len(memories)]
    for memory in memories:
        words += [memory.size, memory.ctypes.data % _PAGE]
    words.append(len(tensors))
    for tensor, place in zip(tensors, places, strict=True):
        start = int(tensor.storage_offset()) * tensor.element_size()
        words += [place, start, DTYPES.index(tensor.dtype), tensor.dim(), *tensor.shape, *tensor.stride()]
    return [*words, len(integers), *integers, len(reals), *np.array(reals, np.float64).view(np.int64).tolist()]


def _spans(tensors: Sequence[torch.Tensor], places: Sequence[int]) -> set[tuple[int, int, int, int]]:
    """Return (storage, first byte, end, bytes an element) of what the tensors span, once where several span the same.

    What lies in the gaps of a strided tensor is swapped with it, and swapped back.
    """
    spans = set()
    for tensor, place in zip(tensors, places, strict=True):
        if tensor.numel():
            last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
            width, start = tensor.element_size(), int(tensor.storage_offset()) * tensor.element_size()
            spans.add((place, start, start + (last + 1) * width, width))
    return spans


def _swap(memories: Sequence[np.ndarray], spans: set[tuple[int, int, int, int]]) -> None:
    for place, start, end, width in spans:
        if width > 1:
            memories[place][start:end].view(f"u{width}").byteswap(inplace=True)
