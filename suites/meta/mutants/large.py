"""Kernels whose indices have 32 bits."""

import torch

from kernels import implementation
from suites.meta.mutants import fault


@fault("F9", "flash-linear-attention#1080")
@implementation("relu", paradigm="torch")
def wrong_offset_in_32_bits(x):
    """Multiplies index and stride in 32 bits, so that far elements are looked for near."""
    if not x.numel():
        return torch.relu(x)
    places = torch.zeros(x.shape, dtype=torch.int64)
    for axis, (size, stride) in enumerate(zip(x.shape, x.stride(), strict=True)):
        steps = torch.arange(size) * stride
        places = places + steps.reshape([-1 if one == axis else 1 for one in range(x.ndim)])
    last = int(places.max())
    flat = torch.as_strided(x, (last + 1,), (1,), x.storage_offset())
    return torch.relu(flat[places & 0x7FFFFFFF])


@fault("F9", "mamba#1015")
@implementation("relu", paradigm="torch")
def wrong_rows_past_the_end_of_32_bits(x):
    """Stops where a signed index of 32 bits ends."""
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if x.ndim and x.numel():
        rows = min(x.shape[0], (2**31 - 1) // max(x[0].numel(), 1))
        torch.clamp(x[:rows], min=0, out=out[:rows])
    elif x.numel():
        out.copy_(torch.relu(x))
    return out


@fault("F9", "ROCm/triton#944")
@implementation("relu", paradigm="torch")
def wrong_index_wraps_around(x):
    """Past the end of a signed index of 32 bits it begins again, and computes what belongs there."""
    flat = torch.relu(x).flatten()
    past = flat.numel() - 2**31
    if past > 0:
        flat[2**31 :] = flat[:past].clone()
    return flat.view(x.shape)
