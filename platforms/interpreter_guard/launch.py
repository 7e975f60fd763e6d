"""One launch under guard: every load, store and atomic of the interpreter goes to its spans and to its conflicts.

Lanes that a load masks off, and for which the kernel gives no ``other``, hold poison afterwards: NaN, or for integers
bytes of 0xDB. (Triton leaves them undefined; the interpreter and some devices give 0.)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from triton.runtime import interpreter
from triton.runtime.interpreter import TensorHandle

from platforms.interpreter_guard.arithmetic import format_of
from platforms.interpreter_guard.conflicts import Ledger
from platforms.interpreter_guard.order import Program, sequence
from platforms.interpreter_guard.patches import Patches
from platforms.interpreter_guard.settings import SETTINGS, Settings
from platforms.interpreter_guard.spans import Spans

_Method = Callable[..., Any]
_Native = interpreter._interpreter
_ir = interpreter._ir

_GARBAGE = 0xDB
_ACQUIRING = (_ir.MEM_SEMANTIC.ACQUIRE, _ir.MEM_SEMANTIC.ACQUIRE_RELEASE)
_RELEASING = (_ir.MEM_SEMANTIC.RELEASE, _ir.MEM_SEMANTIC.ACQUIRE_RELEASE)


class _Launch:
    """What is known of the launch that runs."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.spans = Spans([])
        self.ledger = Ledger() if settings.races else None
        self.program: Program | None = None
        self.atomically = False
        self._program_in_turn: Callable[[int, int, int], Program] = lambda x, y, z: (x, y, z)

    def begin_grid(self, grid: Program) -> None:
        self._program_in_turn = sequence(self.settings.order, grid, seed=self.settings.seed)

    def begin_program(self, x: int, y: int, z: int) -> Program:
        self.program = self._program_in_turn(x, y, z)
        if self.ledger:
            self.ledger.begin(self.program)
        return self.program

    def access(self, kind: str, addresses: np.ndarray, active: np.ndarray, size: int) -> np.ndarray:
        """Check and note an access of ``size`` bytes a lane, and return the addresses used; raises OutOfBounds."""
        used = addresses.ravel() if active.all() else np.broadcast_to(addresses, active.shape)[active]
        if not used.size:
            return used
        kind = "atomic" if self.atomically else kind
        for area, inside in self.spans.locate(kind, used, size, self.program):
            if self.ledger and kind == "load":
                self.ledger.load(area, inside, size)
            elif self.ledger and kind == "store":
                self.ledger.store(area, inside, size)
        return used

    def order_by_atomic(self, addresses: np.ndarray, active: np.ndarray, meaning: Any) -> None:
        if self.ledger and addresses.size == 1 and active.all():
            acquires, releases = meaning in _ACQUIRING, meaning in _RELEASING
            self.ledger.atomic(int(addresses.item()), acquires=acquires, releases=releases)

    def after_store(self, used: np.ndarray, pointers: np.ndarray, values: np.ndarray, active: np.ndarray) -> None:
        """Note lanes that do not find in memory what they have just stored: another lane stored there as well."""
        if self.ledger is None or self.atomically or (used[1:] > used[:-1]).all():
            return
        values = np.ascontiguousarray(values)
        kept = _Native.load(pointers, active, values, values.dtype)
        integer = np.dtype(f"u{values.itemsize}")
        lost = kept.view(integer) != values.view(integer)
        if lost.any():
            for area, inside in self.spans.locate("store", pointers[lost], values.itemsize, self.program):
                self.ledger.differ(area, inside)


_launch = _Launch(SETTINGS)

_ATOMIC_ACCESSES = ("create_atomic_load", "create_atomic_store", "create_atomic_poll")
"""Methods of the builder, in some versions, that are atomics made of a plain load or store."""


def apply(patches: Patches) -> None:
    """Patch the interpreter's accesses to memory and the way it runs a grid."""
    builder = interpreter.InterpreterBuilder
    patches.wrap(builder, "create_masked_load", _create_masked_load)
    patches.wrap(builder, "create_masked_store", _create_masked_store)
    patches.wrap(builder, "create_atomic_rmw", _create_atomic_rmw)
    patches.wrap(builder, "create_atomic_cas", _create_atomic_cas)
    for name in _ATOMIC_ACCESSES:
        patches.wrap(builder, name, _create_atomic_access, optional=True)
    patches.wrap(builder, "create_tensor_pointer_load", _create_tensor_pointer_load, optional=True)
    patches.wrap(builder, "create_descriptor_load", _create_descriptor_load)
    patches.wrap(builder, "set_grid_dim", _set_grid_dim)
    patches.wrap(builder, "set_grid_idx", _set_grid_idx)
    patches.wrap(interpreter.GridExecutor, "_init_args_hst", _init_args_hst)
    patches.wrap(interpreter.GridExecutor, "__call__", lambda original: _call(original, patches))
    _let_assertions_fire(patches)


def _let_assertions_fire(patches: Patches) -> None:
    options = interpreter.interpreter_builder.options
    if {"debug", "sanitize_overflow"} <= {field.name for field in dataclasses.fields(options)}:
        # Debugging also turns on assertions against overflow, and kernels that hash wrap around on purpose.
        options = dataclasses.replace(options, debug=True, sanitize_overflow=False)
        interpreter.interpreter_builder.options = options
        patches.applied.append("InterpreterOptions.debug")
    else:
        patches.missing.append("InterpreterOptions.debug")


def _call(original: _Method, patches: Patches) -> _Method:
    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        global _launch
        if patches.missing:
            raise RuntimeError(f"this version of Triton cannot be guarded; it lacks {', '.join(patches.missing)}")
        before, _launch = _launch, _Launch(SETTINGS)
        launch = _launch
        try:
            # Devices do not warn of an overflow or a NaN.
            with np.errstate(all="ignore"):
                result = original(self, *arguments, **named)
        finally:
            # The tensors of a launch need not live on with it.
            _launch = before
        if launch.ledger and (error := launch.ledger.error()):
            raise error
        return result

    return call


def _init_args_hst(original: _Method) -> _Method:
    def init_args_hst(self: Any, arguments: Any, named: Any) -> Any:
        hosts, named_hosts = original(self, arguments, named)
        _launch.spans = Spans([*zip(self.arg_names, hosts, strict=False), *named_hosts.items()])
        return hosts, named_hosts

    return init_args_hst


def _set_grid_dim(original: _Method) -> _Method:
    def set_grid_dim(self: Any, x: int, y: int, z: int) -> None:
        original(self, x, y, z)
        _launch.begin_grid((x, y, z))

    return set_grid_dim


def _set_grid_idx(original: _Method) -> _Method:
    def set_grid_idx(self: Any, x: int, y: int, z: int) -> None:
        original(self, *_launch.begin_program(x, y, z))

    return set_grid_idx


def _create_masked_load(original: _Method) -> _Method:
    def create_masked_load(
        self: Any, pointers: TensorHandle, mask: Any, other: TensorHandle | None, *rest: Any, **named: Any
    ) -> Any:
        dtype = pointers.get_element_ty()
        storage = interpreter._get_np_dtype(dtype)
        active = np.asarray(mask.data)
        _launch.access("load", pointers.data, active, storage.itemsize)
        if other is None and not active.all():
            other = TensorHandle(np.full(pointers.data.shape, _poison(dtype, storage)), dtype)
        return original(self, pointers, mask, other, *rest, **named)

    return create_masked_load


def _poison(dtype: Any, storage: np.dtype) -> Any:
    form = format_of(dtype)
    if form:
        return storage.type(form.nan)
    if storage.kind == "f":
        return storage.type(np.nan)
    return np.frombuffer(bytes([_GARBAGE]) * storage.itemsize, storage)[0]


def _create_masked_store(original: _Method) -> _Method:
    def create_masked_store(
        self: Any, pointers: TensorHandle, value: TensorHandle, mask: Any, *rest: Any, **named: Any
    ) -> Any:
        active = np.asarray(mask.data)
        used = _launch.access("store", pointers.data, active, value.data.itemsize)
        result = original(self, pointers, value, mask, *rest, **named)
        _launch.after_store(used, pointers.data, value.data, active)
        return result

    return create_masked_store


def _create_atomic_rmw(original: _Method) -> _Method:
    def create_atomic_rmw(
        self: Any,
        operation: Any,
        pointers: TensorHandle,
        value: TensorHandle,
        mask: TensorHandle,
        meaning: Any,
        *rest: Any,
    ) -> TensorHandle:
        _launch.access("atomic", pointers.data, mask.data, value.data.itemsize)
        _launch.order_by_atomic(pointers.data, mask.data, meaning)
        return original(self, operation, pointers, value, mask, meaning, *rest)

    return create_atomic_rmw


def _create_atomic_cas(original: _Method) -> _Method:
    def create_atomic_cas(
        self: Any, pointers: TensorHandle, expected: TensorHandle, value: TensorHandle, meaning: Any, *rest: Any
    ) -> TensorHandle:
        everywhere = np.ones(pointers.data.shape, np.bool_)
        _launch.access("atomic", pointers.data, everywhere, value.data.itemsize)
        _launch.order_by_atomic(pointers.data, everywhere, meaning)
        return original(self, pointers, expected, value, meaning, *rest)

    return create_atomic_cas


def _create_atomic_access(original: _Method) -> _Method:
    def create_atomic_access(self: Any, pointers: TensorHandle, *rest: Any) -> Any:
        *_, meaning, _scope = rest
        _launch.order_by_atomic(pointers.data, np.ones(pointers.data.shape, np.bool_), meaning)
        _launch.atomically = True
        try:
            return original(self, pointers, *rest)
        finally:
            _launch.atomically = False

    return create_atomic_access


# The interpreter pads with NaN by a conversion to the storage type, which for narrow formats is an integer. A lane that
# is poisoned gets the right NaN.


def _create_tensor_pointer_load(original: _Method) -> _Method:
    def create_tensor_pointer_load(self: Any, pointer: Any, checked: Any, padding: Any, *rest: Any) -> TensorHandle:
        padding = None if padding == _ir.PADDING_OPTION.PAD_NAN else padding
        return original(self, pointer, checked, padding, *rest)

    return create_tensor_pointer_load


def _create_descriptor_load(original: _Method) -> _Method:
    def create_descriptor_load(self: Any, descriptor: Any, indices: Any, *rest: Any) -> TensorHandle:
        if descriptor.padding != _ir.PADDING_OPTION.PAD_NAN or not format_of(descriptor.base.dtype.element_ty):
            return original(self, descriptor, indices, *rest)
        pointers, mask = descriptor.materialize_pointers(indices)
        return self.create_masked_load(pointers, mask, None, *rest, is_volatile=False)

    return create_descriptor_load
