"""What the TileLang files share: a program compiled for where its tensors are, and the dtypes that it computes in.

Programs take contiguous tensors of symbolic sizes, so that one compiled form serves all shapes. Others are
copied first.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tilelang
import torch

THREADS = 128
"""Threads a block."""

Program = Callable[..., Any]
"""A function of dtype names that returns a ``T.prim_func``."""

tilelang.set_log_level("WARNING")


def compiled(program: Program, x: torch.Tensor, *more: Any) -> Callable[..., Any]:
    """Return ``program`` for the dtype and the device of ``x``, built once; raises what the compiler raises."""
    # On a processor TileLang writes C; what a device takes it finds out by itself.
    return _built(program, "c" if x.device.type == "cpu" else "auto", str(x.dtype).removeprefix("torch."), *more)


@functools.cache
def _built(program: Program, target: str, *arguments: Any) -> Callable[..., Any]:
    return tilelang.compile(program(*arguments), target=target)


def wide(dtype: str) -> str:
    """Return the name of the dtype that contracts compute floats of ``dtype`` in."""
    return "float64" if dtype == "float64" else "float32"
