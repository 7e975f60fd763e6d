"""Kernels that are right when nothing else is going on: for devices with streams and graphs."""

import torch

from kernels import implementation
from suites.meta.mutants import fault

_FIRST: dict[tuple, torch.Tensor] = {}


@fault("streams", "none: kernels on the default stream, as non-default ones are rarely tried")
@implementation("relu", paradigm="torch")
def breaks_streams(x):
    """Works on the default stream, whatever the caller's is."""
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    with torch.cuda.stream(torch.cuda.default_stream()):
        return torch.clamp(x, min=0, out=out)


@fault("streams", "KernelBench: non-default streams that are not waited for")
@implementation("relu", paradigm="torch")
def breaks_streams_early(x):
    """Works on a stream of its own that waits for the caller's, and returns before it is done."""
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    caller, own = torch.cuda.current_stream(), torch.cuda.Stream()
    own.wait_stream(caller)
    with torch.cuda.stream(own):
        torch.cuda._sleep(10_000_000)
        return torch.clamp(x, min=0, out=out)


@implementation("relu", paradigm="torch")
def keeps_streams(x):
    """Works on a stream of its own, which waits for the caller's, and has it wait: a correct twin."""
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    caller, own = torch.cuda.current_stream(), torch.cuda.Stream()
    own.wait_stream(caller)
    with torch.cuda.stream(own):
        torch.clamp(x, min=0, out=out)
    caller.wait_stream(own)
    return out


@fault("F33", "DeepGEMM#451")
@implementation("relu", paradigm="torch")
def breaks_graphs(x):
    """Keeps a copy of its input, and computes on that one when it is captured."""
    if not torch.cuda.is_current_stream_capturing():
        _FIRST.clear()
        _FIRST[x.shape, x.dtype] = x.clone()
    return torch.relu(_FIRST.get((x.shape, x.dtype), x)).contiguous()
