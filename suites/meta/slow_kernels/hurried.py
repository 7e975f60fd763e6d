"""Rungs that are fast because they do not compute: nobody may time them."""

import itertools

import torch

from kernels import implementation
from kernels.relu.torch import eager

_CALLS = itertools.count()


@implementation("relu", paradigm="torch", optimizes="eager", technique="planted: nothing is computed")
def unwritten(x):
    """Leaves its result as it is."""
    return torch.zeros_like(x)


@implementation("relu", paradigm="torch", optimizes="eager", technique="planted: nothing is computed any more")
def right_at_first(x):
    """Computes as long as somebody may be looking."""
    return eager(x) if next(_CALLS) < 2 else torch.zeros_like(x)


@implementation("relu", paradigm="torch", optimizes="eager", technique="planted: works in place")
def in_place(x):
    """Leaves its result in its input too."""
    return x.sub_(x.clamp(max=0)).mul_(2).mul(0.5)
