"""Arithmetic in bfloat16 and float8, which Triton's interpreter does on the bit patterns as if they were integers.

Here operands are widened to float32, the operation is done there, and the result is rounded to nearest even: what a
device does that has no arithmetic in these formats, and what torch does. Reductions and scans that the interpreter
hands to NumPy as a whole are done in float32 as a whole; those with a combining function of the kernel's own round
after every step, since that function computes in the narrow format.

What is too large for a float8 format becomes what the installed torch makes of it on the CPU, which has changed between
versions of torch. (Conversions on devices mostly saturate.)

Products of float32 with ``input_precision="tf32"``, the default, take operands rounded to tf32, to nearest with ties to
even. (Devices may truncate instead.) ``"tf32x3"`` is computed as ``"ieee"`` is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.runtime import interpreter
from triton.runtime.interpreter import TensorHandle

from platforms.interpreter_guard import narrow
from platforms.interpreter_guard.patches import Patches

_Method = Callable[..., Any]
_Native = interpreter._interpreter
_ir = interpreter._ir

_IN_TORCH = {
    "fp8e5": torch.float8_e5m2,
    "fp8e4nv": torch.float8_e4m3fn,
    "fp8e5b16": torch.float8_e5m2fnuz,
    "fp8e4b8": torch.float8_e4m3fnuz,
}

_SIMPLE = ("create_fma", "create_erf", "create_rsqrt", "create_fabs", "unary_op")
"""Methods of the builder whose operands and result are of one type."""


def _overflow_in_torch(dtype: torch.dtype) -> int:
    return int(torch.tensor([torch.inf]).to(dtype).view(torch.uint8).item())


_FORMATS = {
    **narrow.FORMATS,
    **{name: narrow.overflowing_to(name, _overflow_in_torch(dtype)) for name, dtype in _IN_TORCH.items()},
}


def apply(patches: Patches) -> None:
    """Patch the interpreter's arithmetic."""
    builder = interpreter.InterpreterBuilder
    patches.wrap(builder, "binary_op", _binary_op)
    for name in _SIMPLE:
        patches.wrap(builder, name, _in_float32)
    patches.wrap(builder, "create_maxnumf", lambda original: lambda self, a, b: self.binary_op(a, b, np.fmax))
    patches.wrap(builder, "create_minnumf", lambda original: lambda self, a, b: self.binary_op(a, b, np.fmin))
    patches.wrap(builder, "create_clampf", _create_clampf)
    patches.wrap(builder, "cast_impl", _cast_impl)
    patches.wrap(builder, "create_fp_to_fp", _create_fp_to_fp)
    patches.wrap(builder, "create_dot", _create_dot)
    patches.wrap(builder, "create_atomic_rmw", _create_atomic_rmw)
    patches.supply(
        builder, "get_bf16", lambda self, value: _narrowed(TensorHandle(np.array([value]), tl.float64), tl.bfloat16)
    )
    for name in ("min_max", "sum"):
        patches.wrap(interpreter.ReduceOps, name, _whole_in_float32)
    for name in ("cumsum", "cumprod"):
        patches.wrap(interpreter.ScanOps, name, _whole_in_float32)


def format_of(dtype: Any) -> narrow.Format | None:
    """Return the narrow format of a Triton dtype, or None if NumPy has that dtype itself."""
    return _FORMATS.get(dtype.scalar.name)


def _widened(handle: TensorHandle) -> TensorHandle:
    form = format_of(handle.dtype)
    return TensorHandle(form.widen(handle.data), tl.float32) if form else handle


def _narrowed(handle: TensorHandle, dtype: Any, *, toward_zero: bool = False) -> TensorHandle:
    form = format_of(dtype)
    return TensorHandle(form.narrow(handle.data, toward_zero=toward_zero), dtype.scalar) if form else handle


def _in_float32(original: _Method) -> _Method:
    """Widen all operands, and round the result to the type of the last of them, unless it is of another type."""

    def method(self: Any, *operands: Any) -> Any:
        kinds = [one.dtype for one in operands if isinstance(one, TensorHandle) and format_of(one.dtype)]
        if not kinds:
            return original(self, *operands)
        result = original(self, *(_widened(one) if isinstance(one, TensorHandle) else one for one in operands))
        return _narrowed(result, kinds[-1]) if result.dtype == tl.float32 else result

    return method


def _binary_op(original: _Method) -> _Method:
    def truth_is_int1(self: Any, *operands: Any) -> Any:
        result = original(self, *operands)
        # Left with the type of what was compared, a later cast would take the truth values for such numbers.
        return TensorHandle(result.data, tl.int1) if result.data.dtype == np.bool_ else result

    return _in_float32(truth_is_int1)


def _create_clampf(original: _Method) -> _Method:
    def create_clampf(
        self: Any, value: TensorHandle, low: TensorHandle, high: TensorHandle, propagate_nans: Any
    ) -> TensorHandle:
        if propagate_nans == _ir.PROPAGATE_NAN.NONE:
            return self.create_minnumf(self.create_maxnumf(value, low), high)
        return _in_float32(original)(self, value, low, high, propagate_nans)

    return create_clampf


def _cast_impl(original: _Method) -> _Method:
    def cast_impl(self: Any, source: TensorHandle, target: Any) -> TensorHandle:
        if source.dtype.scalar == target.scalar:
            return original(self, source, target)
        if format_of(target):
            return _narrowed(_widened(source), target)
        return original(self, _widened(source), target)

    return cast_impl


def _create_fp_to_fp(original: _Method) -> _Method:
    def create_fp_to_fp(self: Any, source: TensorHandle, target: Any, rounding: Any) -> TensorHandle:
        if format_of(target):
            return _narrowed(_widened(source), target, toward_zero=rounding == _ir.ROUNDING_MODE.RTZ)
        if format_of(source.dtype):
            return self.cast_impl(source, target)
        return original(self, source, target, rounding)

    return create_fp_to_fp


def _create_dot(original: _Method) -> _Method:
    def create_dot(
        self: Any, a: TensorHandle, b: TensorHandle, d: TensorHandle, input_precision: Any, *rest: Any
    ) -> TensorHandle:
        a, b = _widened(a), _widened(b)
        if input_precision == _ir.INPUT_PRECISION.TF32:
            a, b = _to_tf32(a), _to_tf32(b)
        return _narrowed(original(self, a, b, _widened(d), input_precision, *rest), d.dtype)

    return create_dot


def _to_tf32(handle: TensorHandle) -> TensorHandle:
    if handle.data.dtype != np.float32:
        return handle
    return TensorHandle(narrow.round_to_tf32(handle.data), tl.float32)


def _create_atomic_rmw(original: _Method) -> _Method:
    def create_atomic_rmw(
        self: Any, operation: Any, pointers: TensorHandle, value: TensorHandle, mask: TensorHandle, *rest: Any
    ) -> Any:
        if operation != _ir.ATOMIC_OP.FADD or not format_of(value.dtype):
            return original(self, operation, pointers, value, mask, *rest)
        return _add_atomically(self, pointers, value, mask)

    return create_atomic_rmw


def _add_atomically(builder: Any, pointers: TensorHandle, value: TensorHandle, mask: TensorHandle) -> TensorHandle:
    """Add lane by lane as far as lanes share an address, and return what each of them found."""
    shape = pointers.data.shape
    addresses = pointers.data.ravel()
    values = np.broadcast_to(value.data, shape).ravel()
    left = np.flatnonzero(np.broadcast_to(mask.data, shape))
    found = np.zeros_like(values)
    while left.size:
        _, first = np.unique(addresses[left], return_index=True)
        lanes = np.ascontiguousarray(left[first])
        everywhere = np.ones(lanes.size, np.bool_)
        at = np.ascontiguousarray(addresses[lanes])
        old = _Native.load(at, everywhere, np.ascontiguousarray(values[lanes]), values.dtype)
        found[lanes] = old
        total = builder.create_fadd(
            TensorHandle(old, value.dtype.scalar), TensorHandle(values[lanes], value.dtype.scalar)
        )
        _Native.store(at, total.data, everywhere)
        left = np.delete(left, first)
    return TensorHandle(found.reshape(shape), value.dtype.scalar)


def _whole_in_float32(original: _Method) -> _Method:
    """For methods of ReduceOps and ScanOps that take one tensor and do all of it in one call of NumPy."""

    def method(self: Any, tensor: Any, *rest: Any, **named: Any) -> Any:
        tensor = tensor[0] if isinstance(tensor, tuple) else tensor
        if not format_of(tensor.dtype):
            return original(self, tensor, *rest, **named)
        dtype = tensor.dtype
        result = original(self, self.to_tensor(_widened(tensor.handle).data, tl.float32), *rest, **named)
        back = [_narrow_tensor(one, dtype) for one in (result if isinstance(result, (tuple, list)) else (result,))]
        return type(result)(back) if isinstance(result, (tuple, list)) else back[0]

    return method


def _narrow_tensor(tensor: Any, dtype: Any) -> Any:
    if tensor.dtype != tl.float32:
        return tensor
    kind = tensor.type.with_element_ty(dtype) if tensor.type.is_block() else dtype
    return tl.tensor(_narrowed(tensor.handle, dtype), kind)
