"""What a kernel computes that is not the operation, though it looks like it."""

import torch

from kernels import implementation
from suites.meta.mutants import fault


@fault("F1", "Liger-Kernel#518")
@implementation("softmax", paradigm="torch")
def wrong_padded_lanes_counted(x, *, dim):
    """Pads rows to a power of two with zeros, which then enter the sum as exp(0 - max)."""
    rows = x.movedim(dim, -1).double()
    width = rows.shape[-1]
    if not rows.numel():
        return torch.softmax(x, dim)
    padding = (1 << (width - 1).bit_length()) - width
    top = rows.amax(-1, keepdim=True)
    total = (rows - top).exp().sum(-1, keepdim=True) + padding * (-top).exp()
    return ((rows - top).exp() / total).movedim(-1, dim).to(x.dtype)


@fault("F15", "aotriton#179")
@implementation("gemm", paradigm="torch")
def wrong_float16_accumulator(a, b):
    """Sums in float16 whatever comes in."""
    total = torch.zeros(*a.shape[:-1], b.shape[-1], dtype=torch.float16)
    for k in range(a.shape[-1]):
        total += (a[..., k, None] * b[..., k, None, :]).half()
    return total.to(a.dtype)


@fault("F16", "triton#8654")
@implementation("gemm", paradigm="torch")
def wrong_tf32_undeclared(a, b):
    """Cuts float32 operands to tf32 and says nothing."""
    if a.dtype == torch.float32:
        a, b = ((x.contiguous().view(torch.int32) & ~0x1FFF).view(torch.float32) for x in (a, b))
    return torch.matmul(a, b)


@fault("F25", "triton#5048")
@implementation("gemm", paradigm="torch")
def wrong_last_k_tile_dropped(a, b):
    """Loops over K // 32 whole tiles."""
    whole = a.shape[-1] // 32 * 32 if a.shape[-1] > 32 else a.shape[-1]
    return torch.matmul(a[..., :whole], b[..., :whole, :])


@fault("formula", "KernelBench#165")
@implementation("gemm", paradigm="torch")
def wrong_zeros(a, b):
    """Returns what memory was set to."""
    return torch.zeros(*a.shape[:-1], b.shape[-1], dtype=a.dtype)


@fault("F4", "triton#10291")
@implementation("relu", paradigm="torch")
def wrong_nan_dropped(x):
    """A comparison that NaN fails."""
    return torch.where(x > 0, x, torch.zeros((), dtype=x.dtype))


@fault("F24", "triton#11584")
@implementation("add", paradigm="torch")
def wrong_truncating_cast(x, y):
    """Rounds bfloat16 results toward zero."""
    if x.dtype != torch.bfloat16:
        return x + y
    return ((x.float() + y.float()).view(torch.int32) >> 16).to(torch.int16).view(torch.bfloat16)


@fault("overflow", "KernelBench#165")
@implementation("softmax", paradigm="torch")
def wrong_no_maximum(x, *, dim):
    """Leaves out the subtraction of the maximum, so that large logits overflow."""
    exponentials = x.float().exp() if x.dtype != torch.float64 else x.exp()
    return (exponentials / exponentials.sum(dim, keepdim=True)).to(x.dtype)


@fault("form", "FlagGems#5953")
@implementation("softmax", paradigm="torch")
def wrong_shape(x, *, dim):
    """Forgets to put the axis back."""
    return torch.softmax(x, dim).movedim(dim, 0)


@fault("form", "FlagGems#5983")
@implementation("add", paradigm="torch")
def wrong_dtype(x, y):
    """Returns the accumulator's dtype."""
    return x.double() + y.double() if x.is_floating_point() else x + y


@fault("form", "FlagGems#6278")
@implementation("add", paradigm="torch")
def wrong_not_a_tensor(x, y):
    """Returns a number for a tensor of one element."""
    total = x + y
    return total.item() if total.numel() == 1 else total


@fault("F3", "iree#24175")
@implementation("softmax", paradigm="torch")
def wrong_masked_row_is_zero(x, *, dim):
    """Replaces the NaN of fully masked rows, against the contract."""
    return torch.nan_to_num(torch.softmax(x.double(), dim), nan=0.0).to(x.dtype)
