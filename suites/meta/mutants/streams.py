"""Kernels that are right when nothing else is going on: for devices with streams and graphs."""

import torch

from kernels import implementation
from suites.meta.mutants import fault

_FIRST: dict[tuple, torch.Tensor] = {}


def _namespace(x):
    """Return what torch calls the streams of the device of ``x`` by: torch.cuda, torch.mlu, ..."""
    return getattr(torch, x.device.type)


@fault("streams", "none: kernels on the default stream, as non-default ones are rarely tried")
@implementation("relu", paradigm="torch")
def breaks_streams(x):
    """Works on the default stream, whatever the caller's is."""
    out, device = torch.empty(x.shape, dtype=x.dtype, device=x.device), _namespace(x)
    with device.stream(device.default_stream()):
        return torch.clamp(x, min=0, out=out)


@fault("streams", "KernelBench: non-default streams that are not waited for")
@implementation("relu", paradigm="torch")
def breaks_streams_early(x):
    """Works on a stream of its own that waits for the caller's, and returns before it is done."""
    out, device = torch.empty(x.shape, dtype=x.dtype, device=x.device), _namespace(x)
    caller, own = device.current_stream(), device.Stream()
    own.wait_stream(caller)
    with device.stream(own):
        if hasattr(device, "_sleep"):
            device._sleep(10_000_000)
        return torch.clamp(x, min=0, out=out)


@implementation("relu", paradigm="torch")
def keeps_streams(x):
    """Works on a stream of its own, which waits for the caller's, and has it wait: a correct twin."""
    out, device = torch.empty(x.shape, dtype=x.dtype, device=x.device), _namespace(x)
    caller, own = device.current_stream(), device.Stream()
    own.wait_stream(caller)
    with device.stream(own):
        torch.clamp(x, min=0, out=out)
    caller.wait_stream(own)
    return out


@fault("F33", "DeepGEMM#451")
@implementation("relu", paradigm="torch")
def breaks_graphs(x):
    """Keeps a copy of its input, and computes on that one when it is captured."""
    if not _namespace(x).is_current_stream_capturing():
        _FIRST.clear()
        _FIRST[x.shape, x.dtype] = x.clone()
    return torch.relu(_FIRST.get((x.shape, x.dtype), x)).contiguous()
