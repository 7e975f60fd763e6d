"""Wrong kernels in NineToothed, each with one fault."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import ninetoothed
import ninetoothed.language as ntl
import torch
from ninetoothed import Tensor

from kernels import implementation
from kernels.toolchains.ninetoothed import elementwise
from suites.meta.mutants import fault


def nan_dropped(x, out):
    out = ntl.where(x > 0, x, ntl.zeros_like(x))


def nan_kept(x, out):
    out = ntl.where(x <= 0, ntl.zeros_like(x), x)


@functools.cache
def _kernel(application: Callable[..., Any]) -> Any:
    return ninetoothed.make(elementwise, application, (Tensor(1), Tensor(1)))


def _empty(x: torch.Tensor) -> torch.Tensor:
    return torch.empty(x.shape, dtype=x.dtype, device=x.device)


@fault("F4", "triton#10291")
@implementation("relu", paradigm="ninetoothed")
def wrong_nan_dropped(x: torch.Tensor) -> torch.Tensor:
    out = _empty(x)
    _kernel(nan_dropped)(x.view(-1), out.view(-1))
    return out


@fault("F25", "triton#5048")
@implementation("relu", paradigm="ninetoothed")
def wrong_last_unwritten(x: torch.Tensor) -> torch.Tensor:
    out = _empty(x)
    _kernel(nan_kept)(x.view(-1)[:-1], out.view(-1)[:-1])
    return out


@fault("inputs", "InfiniCore#1207")
@implementation("relu", paradigm="ninetoothed")
def wrong_input_overwritten(x: torch.Tensor) -> torch.Tensor:
    out = _empty(x)
    _kernel(nan_kept)(x.view(-1), out.view(-1))
    _kernel(nan_kept)(x.view(-1), x.view(-1))
    return out
