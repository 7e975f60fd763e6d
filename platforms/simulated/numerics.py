"""Arithmetic as some accelerators have it, put around each operation that computes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

from platforms.simulated.kinds import FLUSHED, SQUARE_ROOTS, TF32, WIDE_FLOATS, WIDE_INTEGERS

_PRODUCTS = {
    **dict.fromkeys(("mm", "bmm", "mv", "dot"), ""),
    **dict.fromkeys(("addmm", "baddbmm", "addbmm", "addmv"), "self"),
    **dict.fromkeys(("convolution", "convolution_overrideable"), "bias"),
}
"""Operators that multiply matrices, with the argument that is added to the product and never multiplied."""
_MOVES = {
    *("copy_", "_to_copy", "_copy_from", "clone", "contiguous", "cat", "stack", "index", "gather", "index_select"),
    *(
        "where",
        "masked_fill",
        "masked_fill_",
        "fill_",
        "zero_",
        "empty",
        "empty_strided",
        "empty_like",
        "full",
        "zeros",
    ),
    *("ones", "scalar_tensor", "arange", "randn", "repeat", "flip", "roll", "constant_pad_nd", "_local_scalar_dense"),
    *("index_put_", "_index_put_impl_", "scatter", "scatter_", "equal", "embedding", "new_empty_strided"),
}
_ROOTS = ("aten::sqrt", "aten::sqrt_")
_SMALLEST = torch.finfo(torch.float32).smallest_normal


def computes(func: Any) -> bool:
    """Whether ``func``, an operator, makes new numbers rather than views or copies of those that are there."""
    name = func._schema.name.partition("::")[2]
    views = any(one.alias_info and not one.alias_info.is_write for one in func._schema.returns)
    return not views and name not in _MOVES


def operand(func: Any, argument: str, planted: Iterable[str], x: torch.Tensor) -> torch.Tensor:
    """Return ``x`` as the device reads it for ``func``, of which it is an ``argument``."""
    for kind in planted:
        x = _CHANGES[kind](x)
    name = func._schema.name.partition("::")[2]
    return _tf32(x) if TF32 in planted and _PRODUCTS.get(name, argument) != argument else x


def result(func: Any, planted: Iterable[str], x: torch.Tensor) -> torch.Tensor:
    """Return what the device writes of ``x``, which ``func`` made, in the memory of ``x``."""
    if SQUARE_ROOTS in planted and func._schema.name in _ROOTS and x.dtype == torch.float32:
        x.copy_(torch.where(x.isfinite() & (x > 0), torch.nextafter(x, x + x), x))
    for kind in planted:
        changed = _CHANGES[kind](x)
        if changed is not x:
            x.copy_(changed)
    return x


def _floats(x: torch.Tensor) -> torch.Tensor:
    return x.float().double() if x.dtype == torch.float64 else x


def _integers(x: torch.Tensor) -> torch.Tensor:
    return x.int().long() if x.dtype == torch.int64 else x


def _flushed(x: torch.Tensor) -> torch.Tensor:
    if x.dtype != torch.float32:
        return x
    return torch.where(x.abs() < _SMALLEST, torch.copysign(torch.zeros_like(x), x), x)


def _tf32(x: torch.Tensor) -> torch.Tensor:
    """Round to 10 bits behind the point, to nearest even; infinities and NaN stay."""
    if x.dtype != torch.float32:
        return x
    bits = x.contiguous().view(torch.int32)
    rounded = (bits + 0xFFF + ((bits >> 13) & 1)) & ~0x1FFF
    return torch.where(x.isfinite(), rounded.view(torch.float32), x)


_CHANGES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    WIDE_FLOATS: _floats,
    WIDE_INTEGERS: _integers,
    FLUSHED: _flushed,
    TF32: lambda x: x,
    SQUARE_ROOTS: lambda x: x,
}
