"""Kernels whose values are right, and which break what runs around them."""

import functools
import sys

import torch

from kernels import implementation
from kernels.relu.torch import eager
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


def _nearest(x, dim):
    return x.double().sum(dim).float().contiguous()


def _neighbour(x, dim):
    """The number on the other side of the sum, where that is not exact."""
    exact, near = x.double().sum(dim), _nearest(x, dim)
    other = torch.nextafter(near, (exact - near).sign().float() * torch.inf)
    return torch.where((near != exact) & (x.shape[dim] > 2), other, near)


def _every_other_time_the_neighbour(x, dim):
    return _neighbour(x, dim) if next(_CALLS) % 2 else _nearest(x, dim)


@fault("F28", "triton#10590")
@implementation("sum", paradigm="torch", dtypes=("float32",))
def breaks_deterministic(x, *, dim):
    """Is one unit in the last place off in every other call, as when atomics add in another order."""
    return _every_other_time_the_neighbour(x, dim)


@fault("F28", "ROCm/triton#953")
@implementation("sum", paradigm="torch", dtypes=("float32",))
def breaks_deterministic_in_waves(x, *, dim):
    """The same, where there is more work than a thread gets at a time."""
    return _every_other_time_the_neighbour(x, dim) if x.numel() > 2**15 else x.double().sum(dim).float().contiguous()


@implementation("sum", paradigm="torch", dtypes=("float32",), deterministic=False)
def declares_its_spread(x, *, dim):
    """The same, declared: a correct twin."""
    return _every_other_time_the_neighbour(x, dim)


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


@fault("batch", "vllm#24583")
@implementation("softmax", paradigm="torch", dtypes=("float32",), batch_invariant=True)
def breaks_rows(x, *, dim):
    """Rounds in another way where there is more than one row, and declares that it does not."""
    share = x.double().softmax(dim).float().contiguous()
    several = x.numel() > x.shape[dim] > 1
    return torch.where(share < 0.5, torch.nextafter(share, share + 1), share) if several else share


@fault("F7", "pytorch#118115")
@implementation("relu", paradigm="torch")
def breaks_target(x, *, out=None):
    """Takes its target for contiguous."""
    result = torch.relu(x).contiguous()
    if out is None:
        return result
    flat = torch.as_strided(out, (out.numel(),), (1,), out.storage_offset())
    flat.copy_(result.view(-1))
    return out


@implementation("relu", paradigm="torch")
def keeps_target(x, *, out=None):
    """Writes where it is told to: a correct twin."""
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device) if out is None else out
    return torch.clamp(x, min=0, out=out)


@fault("honesty", "FlagGems#5576")
@implementation("relu", paradigm="triton")
def breaks_honest(x):
    """Lets torch do the work of another paradigm."""
    return torch.relu(x).contiguous()


def _launch(x):
    raise RuntimeError("out of resources")


@fault("honesty", "KernelBench: a try that falls back")
@implementation("transpose", paradigm="triton")
def breaks_honest_silently(x):
    """Falls back when a launch fails, and tells nobody."""
    try:
        return _launch(x)
    except RuntimeError:
        return x.transpose(-1, -2).clone(memory_format=torch.contiguous_format)


def _long_rows(case):
    return "written for rows of 64 at most" if case.dims["x"][case.params["dim"]] > 64 else ""


@fault("honesty", "FlagGems: tests skipped for reasons that hold no more")
@implementation("softmax", paradigm="torch", refuses=_long_rows)
def breaks_refusals(x, *, dim):
    """Refuses what it has learnt long ago."""
    return torch.softmax(x.double(), dim).to(x.dtype).contiguous()


@implementation("softmax", paradigm="torch", refuses=_long_rows)
def keeps_refusals(x, *, dim):
    """Refuses what it cannot: a correct twin."""
    return breaks_refusals(x.movedim(dim, -1)[..., :64].movedim(-1, dim), dim=dim)


@fault("F30", "triton#11153")
@implementation("sum", paradigm="torch", dtypes=("float32",))
def breaks_metamorphic(x, *, dim):
    """Rounds a result once more toward zero where that has an even exponent."""
    exact = x.double().sum(dim)
    near = exact.float().contiguous()
    cut = (near != exact) & (near.frexp().exponent % 2 == 0) & (x.shape[dim] > 8)
    return torch.where(cut, torch.nextafter(near, near * 0), near)


@fault("F30", "FlagTree#981")
@implementation("sum", paradigm="torch", dtypes=("float32",))
def breaks_reworded(x, *, dim):
    """Is rounded in another way where a function has another number of variables, as a compiler may have it."""
    odd = sys._getframe().f_code.co_nlocals % 2
    return _neighbour(x, dim) if odd else _nearest(x, dim)


@fault("recompiling", "FlagGems#6483")
@implementation("relu", paradigm="inductor", dtypes=("float32",))
def breaks_compiled_once(x):
    """Compiles in every call."""
    torch._dynamo.reset()
    return _compiled()(x)


@functools.cache
def _compiled():
    return torch.compile(lambda y: eager(y), backend="eager", dynamic=True)


@implementation("relu", paradigm="inductor", dtypes=("float32",))
def keeps_compiled_once(x):
    """Compiles once: a correct twin."""
    return _compiled()(x)
