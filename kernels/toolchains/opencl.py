"""What the OpenCL files share: a queue, programs that are built once, and tensors as buffers over their own memory.

A tensor's whole storage becomes one buffer (``CL_MEM_USE_HOST_PTR``), and a kernel gets it with the place of the first
element, so that strides are passed as they are and nothing is packed. Afterwards the storage holds what the device
made of all of it: what a kernel does beside its tensors is as visible as what it does to them, whether the device
works in the host's memory or in a copy.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyopencl as cl
import torch
from pyopencl import cltypes

from kernels.toolchains.opencl_prelude import PRELUDE

GROUP = 64
"""Work-items of a work-group where a kernel does not care. Always as many: drivers may build a kernel anew for each."""

AXES = 4
"""How many axes the kernels can tell apart: those of a ``long4``."""

TYPES = {
    torch.float64: "double",
    torch.float32: "float",
    torch.float16: "half",
    torch.bfloat16: "bfloat16",
    torch.int64: "long",
    torch.int32: "int",
    torch.int8: "char",
}
"""The element types that kernels can be built for, by the words of the prelude."""


@functools.cache
def context() -> cl.Context:
    """Return the context of the device that ``PYOPENCL_CTX`` names, or the first one; raises what the driver raises."""
    return cl.create_some_context(interactive=False)


@functools.cache
def queue() -> cl.CommandQueue:
    """Return the queue of that device."""
    return cl.CommandQueue(context())


def group_size(most: int) -> int:
    """Return the largest power of two up to ``most`` work-items that the device takes in a work-group."""
    return min(most, 1 << (int(queue().device.max_work_group_size).bit_length() - 1))


def launch(
    source: str,
    kernel: str,
    items: Sequence[int],
    arguments: Sequence[Any],
    *,
    dtype: torch.dtype,
    group: Sequence[int] | None = None,
    definitions: Mapping[str, int] | None = None,
) -> None:
    """Run ``kernel`` of ``source`` on so many ``items``, and wait for it.

    The program is built for elements of ``dtype``, with the words of the prelude and ``definitions``. A kernel has two
    parameters for each tensor among ``arguments``, the storage and a ``long``, the place of the first element in it;
    one ``long`` for an int; one WIDE for a float; and one ``long4`` for a tuple of ints, a geometry. ``items`` are
    rounded up to whole groups (by default of :data:`GROUP`, along one axis). Raises MemoryError where a buffer is
    larger than the device takes.
    """
    built = _kernel(source, kernel, TYPES[dtype], tuple(sorted((definitions or {}).items())))
    local = tuple(group) if group else (group_size(GROUP),)
    whole = tuple(-(-count // size) * size for count, size in zip(items, local, strict=True))
    with _buffers([one for one in arguments if isinstance(one, torch.Tensor)]) as buffers:
        built.set_args(*(value for one in arguments for value in _values(one, buffers, dtype)))
        cl.enqueue_nd_range_kernel(queue(), built, whole, local)


def sizes(shape: Sequence[int]) -> tuple[int, ...]:
    """Return ``shape`` as one of :data:`AXES` axes; raises ValueError for more axes."""
    return _padded(shape, 1)


def strides(stride: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of a tensor taken as one of :data:`AXES` axes; raises ValueError for more axes."""
    return _padded(stride, 0)


def _padded(values: Sequence[int], filler: int) -> tuple[int, ...]:
    if len(values) > AXES:
        raise ValueError(f"a tensor of {len(values)} axes; these kernels index at most {AXES}")
    return (*[filler] * (AXES - len(values)), *values)


@functools.cache
def _kernel(source: str, name: str, element: str, definitions: tuple[tuple[str, int], ...]) -> cl.Kernel:
    options = [f"-DT_{element}", *(f"-D{word}={value}" for word, value in definitions)]
    return cl.Kernel(cl.Program(context(), PRELUDE + source).build(options), name)


def _values(argument: Any, buffers: Mapping[int, cl.Buffer], dtype: torch.dtype) -> tuple[Any, ...]:
    """Return what the kernel gets for ``argument``."""
    if isinstance(argument, torch.Tensor):
        return buffers.get(_base(argument)), np.int64(argument.storage_offset())
    if isinstance(argument, tuple):
        return (cltypes.make_long4(*argument),)  # type: ignore[attr-defined]
    if isinstance(argument, float):
        return (np.float64(argument) if dtype == torch.float64 else np.float32(argument),)
    return (np.int64(argument),)


@contextmanager
def _buffers(tensors: Sequence[torch.Tensor]) -> Iterator[dict[int, cl.Buffer]]:
    """Give a buffer over each storage that ``tensors`` lie in, by address; at the end the host's memory is up to date.

    One buffer for all tensors of a storage, since buffers must not overlap.
    """
    storages = {_base(one): _bytes(one) for one in tensors if one.untyped_storage().nbytes()}
    largest = int(queue().device.max_mem_alloc_size)
    if any(memory.nbytes > largest for memory in storages.values()):
        raise MemoryError(f"the device does not allocate memory for more than {largest} bytes at a time")
    # Inputs are open to writing too, for what a faulty kernel writes there shall be seen.
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
    buffers = {base: cl.Buffer(context(), flags, hostbuf=memory) for base, memory in storages.items()}
    yield buffers
    for base, buffer in buffers.items():
        # A mapped buffer is one that the host's memory agrees with: no copy where the device works in that memory.
        shape, element = storages[base].shape, storages[base].dtype
        mapped: Any = cl.enqueue_map_buffer(queue(), buffer, cl.map_flags.READ, 0, shape, element)[0]
        mapped.base.release(queue())
    queue().finish()


def _base(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _bytes(tensor: torch.Tensor) -> np.ndarray:
    """Return the whole storage of ``tensor`` as bytes."""
    return torch.tensor([], dtype=torch.uint8).set_(tensor.untyped_storage()).numpy()
