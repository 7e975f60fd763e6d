"""What a kernel does to memory that it must not do."""

import ctypes

import torch

from kernels import implementation
from suites.meta.mutants import fault


@fault("F10", "flash-linear-attention#892")
@implementation("softmax", paradigm="torch")
def wrong_last_row_unwritten(x, *, dim):
    """The grid is one program short."""
    out = torch.empty_like(x)
    if x.numel():
        rows = torch.softmax(x, dim).movedim(dim, -1)
        out.movedim(dim, -1).reshape(-1)
        out.movedim(dim, -1).view(rows.shape)[..., :-1].copy_(rows[..., :-1])
    return out


@fault("bounds", "tilelang#2979")
@implementation("add", paradigm="torch")
def wrong_one_past_the_end(x, y):
    """The mask compares with <= where it should with <."""
    result = x + y
    out = torch.empty(result.shape, dtype=result.dtype, device=result.device)
    out.copy_(result)
    if out.numel():
        ctypes.memset(out.data_ptr() + out.numel() * out.element_size(), 0x5A, out.element_size())
    return out


@fault("bounds", "tilelang#2979")
@implementation("relu", paradigm="torch")
def wrong_gap_overwritten(x):
    """Writes a whole row's pitch of its input's memory: what lies between the rows of a slice is somebody else's."""
    if x.dim() > 1 and x.stride(-1) == 1 and x.stride(-2) > x.size(-1) and x.numel():
        past = x.data_ptr() + x.size(-1) * x.element_size()
        ctypes.memset(past, 0, x.element_size())
    return torch.relu(x)


@fault("inputs", "InfiniCore#1207")
@implementation("softmax", paradigm="torch")
def wrong_input_overwritten(x, *, dim):
    """Subtracts the maximum in place."""
    if x.numel() and 0 not in x.stride():
        x.sub_(x.amax(dim, keepdim=True))
    return torch.softmax(x, dim)


@fault("F7", "pytorch#181133")
@implementation("relu", paradigm="torch")
def wrong_stride_ignored(x):
    """Walks over the storage as if every tensor were contiguous."""
    strides: list[int] = []
    pitch = 1
    for size in reversed(x.shape):
        strides.insert(0, pitch)
        pitch *= max(size, 1)
    reach = x.storage_offset() + x.numel()
    if reach * x.element_size() > x.untyped_storage().nbytes():
        return torch.relu(x)
    return torch.relu(torch.as_strided(x, x.shape, strides, x.storage_offset()))
