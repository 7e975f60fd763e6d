"""Kernels whose values are right, and which break what runs around them."""

import torch

from kernels import implementation
from suites.meta.mutants import fault

_REMEMBERED: dict[tuple, torch.Tensor] = {}
_CALLS = iter(range(10**9))


@fault("honesty", "KernelBench: results cached by address")
@implementation("relu", paradigm="torch")
def breaks_fresh(x):
    """Returns what it computed last time for a tensor at this place."""
    key = (x.data_ptr(), x.shape, x.stride(), x.dtype)
    if key not in _REMEMBERED:
        _REMEMBERED.clear()
        _REMEMBERED[key] = torch.relu(x)
    return _REMEMBERED[key].clone(memory_format=torch.contiguous_format)


def _every_other_time_a_bit_more(x, dim):
    exact = x.double().sum(dim).float().contiguous()
    many = x.shape[dim] > 8 and next(_CALLS) % 2
    return torch.where(exact == exact.round(), exact, torch.nextafter(exact, exact + 1)) if many else exact


@fault("F28", "triton#10590")
@implementation("sum", paradigm="torch", dtypes=("float32",))
def breaks_deterministic(x, *, dim):
    """Is one unit in the last place off in every other call, as when atomics add in another order."""
    return _every_other_time_a_bit_more(x, dim)


@implementation("sum", paradigm="torch", dtypes=("float32",), deterministic=False)
def declares_its_spread(x, *, dim):
    """The same, declared: a correct twin."""
    return _every_other_time_a_bit_more(x, dim)


@fault("F2", "intel-xpu-backend-for-triton#1125")
@implementation("relu", paradigm="torch")
def breaks_surroundings(x):
    """Reads one element past the last, and lets it in unless it is NaN."""
    out = torch.relu(x).contiguous()
    if x.numel() and x.is_contiguous() and x.is_floating_point():
        past = torch.as_strided(x, (1,), (1,), x.storage_offset() + x.numel())
        out.view(-1)[-1:] += torch.where(past == past, past, 0)
    return out


@fault("F7", "FlagGems#2489")
@implementation("relu", paradigm="torch")
def breaks_layouts(x):
    """Takes what is aligned to two elements, and to no more, for aligned to four."""
    shift = x.storage_offset() % 4
    if shift == 2 and x.is_contiguous():
        x = torch.as_strided(x, x.shape, x.stride(), x.storage_offset() - shift)
    return torch.relu(x).contiguous()
