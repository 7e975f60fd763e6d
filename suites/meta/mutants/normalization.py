"""Rows that are normalized wrongly: padding, one-pass moments, narrow sums, maxima of nothing."""

import torch

from kernels import implementation
from kernels.toolchains.torch import wide
from suites.meta.mutants import fault

LANES = 32


def _padding(n):
    """Return by how much a row of n falls short of a power of two."""
    return (1 << (n - 1).bit_length()) - n


@fault("cancellation", "none: E[x^2] - E[x]^2 of squares that are rounded")
@implementation("layer_norm", paradigm="torch", dtypes=("float16", "bfloat16"))
def wrong_one_pass_variance(x, weight, bias, *, eps):
    """The mean of squares, each in the type of the input, less the square of the mean."""
    rows = wide(x)
    mean = rows.mean(-1, keepdim=True)
    variance = wide(x * x).mean(-1, keepdim=True) - mean * mean
    return ((rows - mean) / (variance + eps).sqrt() * weight + bias).to(x.dtype)


@fault("formula", "none: eps left out, which FlagGems' and InfiniCore's tolerances let pass")
@implementation("layer_norm", paradigm="torch")
def wrong_without_eps(x, weight, bias, *, eps):
    """Divides by the deviation alone."""
    rows = x.double()
    away = rows - rows.mean(-1, keepdim=True)
    return (away / (away**2).mean(-1, keepdim=True).sqrt() * weight + bias).to(x.dtype)


@fault("F1", "Liger-Kernel#518")
@implementation("rms_norm", paradigm="torch")
def wrong_mean_of_padded_row(x, weight, *, eps):
    """Divides the sum of squares by the length of the block."""
    rows, n = x.double(), x.shape[-1]
    squares = (rows**2).sum(-1, keepdim=True) / (n + _padding(n))
    return (rows / (squares + eps).sqrt() * weight).to(x.dtype)


@fault("F15", "InfiniCore#351")
@implementation("rms_norm", paradigm="torch", dtypes=("float16", "bfloat16"))
def wrong_squares_in_the_narrow_type(x, weight, *, eps):
    """Rounds every square, and what they sum up to, to the type of the input."""
    squares = (x * x).cumsum(-1)[..., -1:] / x.shape[-1]
    return (wide(x) / (wide(squares) + eps).sqrt() * wide(weight)).to(x.dtype).contiguous()


@fault("F6", "LightLLM#1467")
@implementation("rms_norm", paradigm="torch")
def wrong_stride_of_the_second_load(x, weight, *, eps):
    """Reads rows for the sum by their stride, and again for the result as if they were contiguous."""
    rows = x.double()
    again, reach = rows, x.storage_offset() + x.numel()
    if x.numel() and reach * x.element_size() <= x.untyped_storage().nbytes():
        again = torch.as_strided(x, x.shape, torch.empty(x.shape).stride(), x.storage_offset()).double()
    return (again / ((rows**2).mean(-1, keepdim=True) + eps).sqrt() * weight).to(x.dtype)


@fault("F6", "unsloth#10617")
@implementation("rms_norm", paradigm="torch")
def wrong_stride_of_the_weight(x, weight, *, eps):
    """Takes the elements of the weight for neighbours."""
    near = torch.as_strided(weight, weight.shape, (1,), weight.storage_offset()).double()
    rows = x.double()
    return (rows / ((rows**2).mean(-1, keepdim=True) + eps).sqrt() * near).to(x.dtype)


@fault("F18", "bitsandbytes#1885")
@implementation("rms_norm", paradigm="torch")
def wrong_lanes_of_a_narrower_warp(x, weight, *, eps):
    """Sums the first 32 lanes of each 64 where the row has no more than one such group."""
    rows, n = x.double(), x.shape[-1]
    summed = rows[..., :LANES] if LANES < n <= 2 * LANES else rows
    return (rows / ((summed**2).sum(-1, keepdim=True) / n + eps).sqrt() * weight).to(x.dtype)


@fault("formula", "none: the variance of the population")
@implementation("var_mean", paradigm="torch")
def wrong_population_variance(x, *, dim):
    """Divides by n."""
    variance, mean = torch.var_mean(wide(x), dim, correction=0)
    return variance.to(x.dtype).contiguous(), mean.to(x.dtype).contiguous()


@fault("cancellation", "none: E[x^2] - E[x]^2 in float32, as textbooks have it")
@implementation("var_mean", paradigm="torch")
def wrong_one_pass(x, *, dim):
    """Sums and squares in one pass."""
    rows, n = wide(x), x.shape[dim]
    total, squares = rows.sum(dim), (rows * rows).sum(dim)
    variance = (squares - total * total / n) / (n - 1) if n > 1 else torch.full_like(total, float("nan"))
    return variance.to(x.dtype).contiguous(), (total / n).to(x.dtype).contiguous()


@fault("F22", "flash-linear-attention#172")
@implementation("layer_norm_backward", paradigm="torch")
def wrong_weights_of_the_first_rows(grad, x, weight, bias, *, eps):
    """Sums the gradients of weight and bias over 64 rows, as many as there are programs."""
    dx, dw, db = _layer_norm_backward(grad, x, weight, eps)
    return dx.to(x.dtype), _flat(dw)[:64].sum(0).to(x.dtype), _flat(db)[:64].sum(0).to(x.dtype)


@fault("formula", "none: one of the three terms of the gradient")
@implementation("layer_norm_backward", paradigm="torch")
def wrong_term_of_the_mean(grad, x, weight, bias, *, eps):
    """Leaves out that the mean depends on x."""
    dx, dw, db = _layer_norm_backward(grad, x, weight, eps, centred=False)
    return dx.to(x.dtype), _flat(dw).sum(0).to(x.dtype), _flat(db).sum(0).to(x.dtype)


def _flat(x):
    return x.reshape(-1, x.shape[-1])


def _layer_norm_backward(grad, x, weight, eps, centred=True):
    rows, grad = x.double(), grad.double()
    away = rows - rows.mean(-1, keepdim=True)
    root = ((away**2).mean(-1, keepdim=True) + eps).rsqrt()
    normal, weighed = away * root, grad * weight.double()
    mean = weighed.mean(-1, keepdim=True) if centred else 0
    return root * (weighed - mean - normal * (weighed * normal).mean(-1, keepdim=True)), grad * normal, grad


@fault("F1", "triton#9838")
@implementation("rms_norm_backward", paradigm="torch")
def wrong_mean_over_the_block(grad, x, weight, *, eps):
    """Divides the mean in the second term by the length of the padded row."""
    rows, grad, n = x.double(), grad.double(), x.shape[-1]
    root = ((rows**2).mean(-1, keepdim=True) + eps).rsqrt()
    normal, weighed = rows * root, grad * weight.double()
    mean = (weighed * normal).sum(-1, keepdim=True) / (n + _padding(n))
    return (root * (weighed - normal * mean)).to(x.dtype), _flat(grad * normal).sum(0).to(x.dtype)


@fault("F3", "flashinfer#4267")
@implementation("softmax", paradigm="torch")
def wrong_finite_sentinel(x, *, dim):
    """Begins the running maximum at -50000, below which there are logits too."""
    rows = x.double()
    if not rows.numel():
        return torch.softmax(x, dim)
    peak = rows.amax(dim, keepdim=True).clamp(min=-5e4)
    powers = (rows - peak).exp()
    return (powers / powers.sum(dim, keepdim=True)).to(x.dtype)


@fault("F15", "aotriton#179")
@implementation("softmax", paradigm="torch", dtypes=("float16", "bfloat16"))
def wrong_sum_in_the_narrow_type(x, *, dim):
    """Adds exponentials up in the type of the input."""
    if not x.numel():
        return torch.softmax(x, dim)
    powers = (wide(x) - wide(x).amax(dim, keepdim=True)).exp()
    total = powers.to(x.dtype).cumsum(dim).select(dim, -1).unsqueeze(dim)
    return (powers / wide(total)).to(x.dtype)


@fault("F25", "triton#5048")
@implementation("softmax", paradigm="torch")
def wrong_blocks_between(x, *, dim):
    """Sums the first block of 64 of a row, and the last."""
    rows = x.movedim(dim, -1).double()
    if not rows.numel():
        return torch.softmax(x, dim)
    powers = (rows - rows.amax(-1, keepdim=True)).exp()
    inner = powers[..., 64 : (rows.shape[-1] - 1) // 64 * 64]
    total = powers.sum(-1, keepdim=True) - inner.sum(-1, keepdim=True)
    return (powers / total).movedim(-1, dim).to(x.dtype)


@fault("overflow", "none: the logarithm of a softmax that has vanished")
@implementation("log_softmax", paradigm="torch")
def wrong_log_of_softmax(x, *, dim):
    """Takes the logarithm last."""
    return torch.softmax(wide(x), dim).log().to(x.dtype)


@fault("F7", "pytorch#192212")
@implementation("log_softmax", paradigm="torch")
def wrong_axis_taken_for_the_last(x, *, dim):
    """Goes along the last axis when the tensor has its strides as they come."""
    return torch.log_softmax(wide(x), -1 if x.is_contiguous() else dim).to(x.dtype).contiguous()


@fault("index", "none: causal masks differ by one where libraries count from 1")
@implementation("causal_softmax", paradigm="torch")
def wrong_sees_the_next(x):
    """Lets a row see one column beyond the diagonal."""
    return _causal(x, 1)


@fault("F10", "flash-linear-attention#892")
@implementation("causal_softmax", paradigm="torch")
def wrong_unseen_unwritten(x):
    """Leaves what is beyond the diagonal as memory was."""
    out = torch.empty(x.shape, dtype=x.dtype)
    seen = torch.ones(x.shape[-2:], dtype=torch.bool).tril()
    out[..., seen] = _causal(x, 0)[..., seen]
    return out


@fault("F3", "iree#24175")
@implementation("causal_softmax", paradigm="torch")
def wrong_maximum_of_the_unseen(x):
    """Subtracts the maximum of whole rows, so that what is seen may vanish."""
    rows, seen = wide(x), torch.ones(x.shape[-2:], dtype=torch.bool).tril()
    if not rows.numel():
        return torch.empty(x.shape, dtype=x.dtype)
    powers = torch.where(seen, (rows - rows.amax(-1, keepdim=True)).exp(), 0)
    return (powers / powers.sum(-1, keepdim=True)).to(x.dtype)


def _causal(x, beyond):
    unseen = ~torch.ones(x.shape[-2:], dtype=torch.bool).tril(beyond)
    shares = torch.softmax(x.double().masked_fill(unseen, float("-inf")), -1)
    return shares.masked_fill(unseen, 0).to(x.dtype).contiguous()


@fault("formula", "none: the sum of the gradient, unweighed")
@implementation("softmax_backward", paradigm="torch")
def wrong_sum_unweighed(grad, x, *, dim):
    """Takes the sum of grad for that of grad times the softmax."""
    shares, grad = torch.softmax(x.double(), dim), grad.double()
    return (shares * (grad - grad.sum(dim, keepdim=True))).to(x.dtype).contiguous()


@fault("F25", "triton#5048")
@implementation("log_softmax_backward", paradigm="torch")
def wrong_sum_of_whole_blocks(grad, x, *, dim):
    """Sums the gradient over whole blocks of 16 where a row has several."""
    n = x.shape[dim]
    whole = n // 16 * 16 if n > 16 else n
    shares, grad = torch.softmax(x.double(), dim), grad.double()
    return (grad - shares * grad.narrow(dim, 0, whole).sum(dim, keepdim=True)).to(x.dtype).contiguous()


@fault("formula", "none: another reduction of the loss")
@implementation("cross_entropy", paradigm="torch")
def wrong_mean_over_valid_rows(logits, target):
    """Leaves out rows whose target is class 0, as if that were padding."""
    losses = torch.nn.functional.cross_entropy(logits.double(), target, reduction="none")
    return losses[target != 0].mean().to(logits.dtype) if (target != 0).any() else losses.mean().to(logits.dtype)


@fault("F15", "aotriton#179")
@implementation("cross_entropy", paradigm="torch", dtypes=("float16", "bfloat16"))
def wrong_losses_in_the_narrow_type(logits, target):
    """Adds the losses of all rows up in the type of the logits."""
    losses = torch.nn.functional.cross_entropy(wide(logits), target, reduction="none").to(logits.dtype)
    return losses.cumsum(0)[-1] / len(losses)


@fault("formula", "none: another reduction of the loss")
@implementation("cross_entropy_backward", paradigm="torch")
def wrong_not_averaged(grad, logits, target):
    """Gives every row the gradient of a sum."""
    shares = torch.softmax(logits.double(), -1)
    shares[torch.arange(len(target)), target] -= 1
    return (shares * grad.double()).to(logits.dtype)


@fault("F7", "pytorch#118115")
@implementation("cross_entropy_backward", paradigm="torch")
def wrong_targets_taken_for_neighbours(grad, logits, target):
    """Reads the targets one behind the other, wherever they lie."""
    near = torch.as_strided(target, target.shape, (1,), target.storage_offset()).clamp(0, logits.shape[1] - 1)
    shares = torch.softmax(logits.double(), -1)
    shares[torch.arange(len(target)), near] -= 1
    return (shares * grad.double() / len(target)).to(logits.dtype)
