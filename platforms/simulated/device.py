"""A device type of torch in Python: tensors that wrap ones of the processor, and each operation done on those.

It stands on PyTorch's PrivateUse1 key and its Python backends (``torch.utils.backend_registration``, since 2.10). One
process has one such device, under one name.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import torch
from torch.utils import _pytree as tree
from torch.utils._python_dispatch import return_and_correct_aliasing

from platforms.simulated import numerics
from platforms.simulated.graphs import Capture, Graph, refuse
from platforms.simulated.streams import Event, Stream, Timeline

_BETWEEN = {"copy_", "_to_copy", "_copy_from", "index", "index_put_", "_index_put_impl_"}
"""Operators whose operands may lie on the device and on the host."""

_KEPT: list[torch.library.Library] = []
"""What is registered with a library that nobody holds is forgotten."""


class Device:
    """The simulated device of this process.

    Args:
        kind: the torch device type that it plays.
        graph: what its namespace calls the class of its graphs, "" for none.
        planted: its arithmetic, of :data:`platforms.simulated.kinds`.
        unsupported: names of dtypes that it refuses.
        count: how many devices there are.
    """

    current: Device

    def __init__(
        self, kind: str, *, graph: str, planted: Sequence[str] = (), unsupported: Sequence[str] = (), count: int = 2
    ) -> None:
        self.kind, self.planted, self.index, self.count = kind, tuple(planted), 0, count
        self.unsupported = {getattr(torch, name) for name in unsupported}
        self.namespace = self._namespace(graph)

    def install(self, extension: str) -> None:
        """Register the device with torch, and as the module that a vendor's extension would be."""
        from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

        Device.current = self
        _setup_privateuseone_for_python_backend(self.kind, self.namespace)
        for name, key, function in (
            ("_", "PrivateUse1", _run),
            ("_", "AutocastPrivateUse1", torch.library.fallthrough_kernel),
        ):
            library = torch.library.Library(name, "IMPL")
            library.fallback(function, key)
            _KEPT.append(library)
        aten = torch.library.Library("aten", "IMPL")
        aten.impl("_copy_from", _copy_from, "PrivateUse1")
        for operator in _own():
            aten.impl(operator, partial(_run, operator), "PrivateUse1")
        _KEPT.append(aten)
        torch.accelerator.synchronize = self.namespace.synchronize  # type: ignore[assignment]
        torch.autograd.set_multithreading_enabled(False)  # type: ignore[no-untyped-call]
        setattr(
            Stream, f"{self.kind}_stream", property(lambda stream: stream.number)
        )  # the handle that native code gets
        sys.modules[extension] = types.ModuleType(extension)

    def _namespace(self, graph: str) -> Any:
        timeline, module = Timeline.current, types.ModuleType(f"torch.{self.kind}")
        properties = types.SimpleNamespace(name=f"simulated {self.kind}", total_memory=2**34)
        offered: dict[str, Any] = {
            "is_available": lambda: True,
            "is_initialized": lambda: True,
            "_is_in_bad_fork": lambda: False,
            "device_count": lambda: self.count,
            "current_device": lambda: self.index,
            "set_device": self._set_device,
            "synchronize": lambda device=None: timeline.synchronize(),
            "manual_seed_all": torch.manual_seed,
            "get_amp_supported_dtype": lambda: [torch.float16, torch.bfloat16],
            "get_device_name": lambda device=None: properties.name,
            "get_device_properties": lambda device=None: properties,
            "mem_get_info": lambda device=None: (2**33, 2**34),
            "empty_cache": lambda: None,
            "Stream": Stream,
            "Event": Event,
            "stream": timeline.entered,
            "is_current_stream_capturing": lambda: Graph.capturing is not None,
            "current_stream": lambda device=None: timeline.stream,
            "default_stream": lambda device=None: timeline.default,
            **({graph: Graph, "graph": Capture} if graph else {}),
        }
        for name, value in offered.items():
            setattr(module, name, value)
        return module

    def _set_device(self, device: Any) -> None:
        self.index = device if isinstance(device, int) else torch.device(device).index or 0


class DeviceTensor(torch.Tensor):
    """A tensor of the simulated device; ``host`` is the tensor of the processor that holds its numbers."""

    host: torch.Tensor

    @staticmethod
    def __new__(cls, host: torch.Tensor, index: int = 0) -> DeviceTensor:  # noqa: PYI034 - Self is of 3.11
        tensor: DeviceTensor = torch.Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
            cls,
            host.shape,
            strides=host.stride(),
            storage_offset=host.storage_offset(),
            dtype=host.dtype,
            device=torch.device(Device.current.kind, index),
        )
        tensor.host = host
        return tensor

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return f"DeviceTensor({self.host}, device={str(self.device)!r})"

    def data_ptr(self) -> int:
        return self.host.data_ptr()

    def untyped_storage(self) -> torch.UntypedStorage:
        return self.host.untyped_storage()

    def tolist(self) -> Any:
        return self.cpu().tolist()

    def numpy(self, *, force: bool = False) -> Any:
        raise TypeError(f"can't convert {self.device} device type tensor to numpy; use Tensor.cpu() first")

    def __deepcopy__(self, memo: Any) -> DeviceTensor:
        return DeviceTensor(self.host.clone(), self.device.index).requires_grad_(self.requires_grad)  # type: ignore[return-value]

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, *args, **(kwargs or {}))


def _own() -> Iterator[Any]:
    """Yield the operators that torch would make of others, though the processor has a kernel of each, as cards have."""
    keys = ("CPU", "CompositeImplicitAutograd")
    alone, composed = (set(torch._C._dispatch_get_registrations_for_dispatch_key(key)) for key in keys)
    for name in sorted(alone & composed):
        packet, _, overload = name.removeprefix("aten::").partition(".")
        yield getattr(getattr(torch.ops.aten, packet), overload or "default")


def _run(func: Any, *args: Any, **kwargs: Any) -> Any:
    device, name = Device.current, func._schema.name.partition("::")[2]
    leaves = [one for one in tree.tree_leaves((args, kwargs)) if isinstance(one, torch.Tensor)]
    mine = [one for one in leaves if isinstance(one, DeviceTensor)]
    places = {one.device for one in leaves if isinstance(one, DeviceTensor) or one.dim()}
    if len(places) > 1 and name not in _BETWEEN:
        found = " and ".join(sorted(map(str, places)))
        raise RuntimeError(f"Expected all tensors to be on the same device, but found {found} ({func})")
    wanted = kwargs.get("device")
    target = torch.device(wanted) if wanted is not None else mine[0].device if mine else torch.device(device.kind)
    if wanted is not None:
        kwargs = {**kwargs, "device": torch.device("cpu"), "pin_memory": False}
    for one in mine:
        Timeline.current.read(one.host.untyped_storage().data_ptr())
    computing = numerics.computes(func)
    if target.type == "cpu" or name == "_local_scalar_dense":
        refuse(name)

    given = {at.name: one for at, one in zip(func._schema.arguments, args, strict=False)}

    def compute() -> Any:
        hosts, more = (
            {name: tree.tree_map(partial(_operand, func, name, computing), one) for name, one in some.items()}
            for some in (given, kwargs)
        )
        return func(*hosts.values(), **more)

    made = compute()
    if target.type == "cpu":
        return made.clone() if any(made is one.host for one in mine) else made
    index = device.index if target.index is None else target.index
    result = tree.tree_map(lambda one: _wrapped(func, one, index, computing), made)
    _note(func, mine, result)
    if Graph.capturing is not None and computing | (name in numerics._MOVES):
        _capture(compute, func, result, computing)
    if mine and name != "_to_copy":
        return return_and_correct_aliasing(func, args, kwargs, result)
    return result


def _operand(func: Any, argument: str, computing: bool, one: Any) -> Any:
    """Return the tensor that ``one`` stands for, as the device reads it; an operator in place reads it as it is."""
    if not isinstance(one, DeviceTensor):
        return one
    if not computing or func._schema.is_mutable:
        return one.host
    return numerics.operand(func, argument, Device.current.planted, one.host)


def _wrapped(func: Any, one: Any, index: int, computing: bool) -> Any:
    if not isinstance(one, torch.Tensor):
        return one
    if one.dtype in Device.current.unsupported:
        raise RuntimeError(f"{Device.current.kind} has no {str(one.dtype).removeprefix('torch.')}")
    return DeviceTensor(numerics.result(func, Device.current.planted, one) if computing else one, index)


def _note(func: Any, mine: list[DeviceTensor], result: Any) -> None:
    """Tell the timeline which memory was written: what is new, and what an operator changes."""
    before = {one.host.untyped_storage().data_ptr() for one in mine}
    for one in tree.tree_leaves(result):
        if isinstance(one, DeviceTensor):
            memory = one.host.untyped_storage().data_ptr()
            if func._schema.is_mutable or memory not in before:
                Timeline.current.wrote(memory)


def _capture(compute: Any, func: Any, result: Any, computing: bool) -> None:
    kept = [one.host for one in tree.tree_leaves(result) if isinstance(one, DeviceTensor)]

    def again() -> None:
        made = [one for one in tree.tree_leaves(compute()) if isinstance(one, torch.Tensor)]
        if not func._schema.is_mutable:
            for old, new in zip(kept, made, strict=True):
                old.copy_(numerics.result(func, Device.current.planted, new) if computing else new)

    if not func._schema.name.startswith(("aten::empty", "aten::new_empty")):
        assert Graph.capturing is not None
        Graph.capturing.add(again)


def _copy_from(source: torch.Tensor, target: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    hosts = [one.host if isinstance(one, DeviceTensor) else one for one in (source, target)]
    if not isinstance(target, DeviceTensor):
        refuse("a copy to the host")
    if isinstance(source, DeviceTensor):
        Timeline.current.read(hosts[0].untyped_storage().data_ptr())
    hosts[1].copy_(hosts[0])
    if isinstance(target, DeviceTensor):
        Timeline.current.wrote(hosts[1].untyped_storage().data_ptr())
    return target
