"""A rung that is right and slow on purpose, because it is compiled in every call."""

import functools

import torch

from kernels import implementation
from kernels.relu.torch import eager


@implementation(
    "relu", paradigm="inductor", dtypes=("float32",), optimizes="torch/eager", technique="planted: compiled anew"
)
def compiles_every_time(x):
    """Compiles in every call."""
    torch._dynamo.reset()
    return _compiled()(x)


@functools.cache
def _compiled():
    return torch.compile(lambda y: eager(y), backend="eager", dynamic=True)
