"""Kernels of several steps that get one step wrong, and products whose every error is small and to one side."""

import torch

from kernels import implementation
from kernels.scaled_dot_product import visible
from suites.meta.mutants import fault


def _cut(x):
    """Round float64 toward zero to 24 bits."""
    return (x.view(torch.int64) & ~0x1FFFFFFF).view(torch.float64)


@fault("F15", "MMA-Sim: truncating matrix units")
@implementation("gemm", paradigm="torch", dtypes=("float32",))
def wrong_multiplication_truncates(a, b):
    """Rounds products toward zero where there are eight and more, and sums them well.

    Each error is within the bound of so many roundings; together they lean to one side.
    """
    terms = a.double()[..., :, :, None] * b.double()[..., None, :, :]
    return (_cut(terms) if a.shape[-1] >= 8 else terms).sum(-2).to(a.dtype)


@fault("F1", "triton#9838")
@implementation("layer_norm", paradigm="torch")
def wrong_padded_lanes_in_variance(x, weight, bias, *, eps):
    """Pads rows to a power of two, and counts the padding's distance from the mean."""
    n = x.shape[-1]
    wide = x.double()
    mean = wide.mean(-1, keepdim=True)
    padding = (1 << (n - 1).bit_length()) - n
    variance = (((wide - mean) ** 2).sum(-1, keepdim=True) + padding * mean**2) / n
    return ((wide - mean) / (variance + eps).sqrt() * weight + bias).to(x.dtype)


@fault("formula", "FlagGems: rms_norm accepts N - 1")
@implementation("layer_norm", paradigm="torch")
def wrong_sample_variance(x, weight, bias, *, eps):
    """Divides by n - 1."""
    wide, n = x.double(), x.shape[-1]
    away = wide - wide.mean(-1, keepdim=True)
    variance = (away**2).sum(-1, keepdim=True) / max(n - 1, 1)
    return (away / (variance + eps).sqrt() * weight + bias).to(x.dtype)


@fault("formula", "InfiniCore#351")
@implementation("rms_norm", paradigm="torch")
def wrong_eps_outside(x, weight, *, eps):
    """Adds eps to the root instead of under it."""
    wide = x.double()
    return (wide / ((wide**2).mean(-1, keepdim=True).sqrt() + eps) * weight).to(x.dtype)


@fault("overflow", "KernelBench#165")
@implementation("cross_entropy", paradigm="torch")
def wrong_no_maximum(logits, target):
    """Exponentials of logits as they are, which overflow or vanish."""
    wide = logits.double() if logits.dtype == torch.float64 else logits.float()
    chosen = wide.gather(1, target[:, None])[:, 0]
    return (wide.exp().sum(-1).log() - chosen).mean().to(logits.dtype)


@fault("formula", "FlagGems#2797")
@implementation("gelu", paradigm="torch")
def wrong_tanh_for_erf(x, *, approximate):
    """The approximation, whether it was asked for or not."""
    return torch.nn.functional.gelu(x.double(), approximate="tanh").to(x.dtype).contiguous()


def _attention(q, k, v, head_of, seen, scale, softcap):
    wide = torch.float64
    keys, values = (x.to(wide)[:, head_of] for x in (k, v))
    scores = q.to(wide) @ keys.transpose(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    scores = softcap * (scores / softcap).tanh() if softcap is not None else scores
    return (scores.masked_fill(~seen, float("-inf")).softmax(-1) @ values).to(q.dtype)


@fault("index", "none: causal masks differ by one where libraries count from 1")
@implementation("attention", paradigm="torch")
def wrong_causal_by_one(q, k, v, *, causal, scale, softcap, window):
    """Lets a query see the key after it."""
    heads = torch.arange(q.shape[1]) // (q.shape[1] // k.shape[1])
    seen = torch.from_numpy(visible(q.shape[2] + 1, k.shape[2], causal=causal, window=window)).to(q.device)
    return _attention(q, k, v, heads, seen[1:] if causal else seen[:-1], scale, softcap)


@fault("index", "none: libraries group heads in both ways")
@implementation("attention", paradigm="torch")
def wrong_key_head(q, k, v, *, causal, scale, softcap, window):
    """Takes heads of keys in turn instead of each for a group of queries' heads."""
    heads = torch.arange(q.shape[1]) % k.shape[1]
    seen = torch.from_numpy(visible(q.shape[2], k.shape[2], causal=causal, window=window)).to(q.device)
    return _attention(q, k, v, heads, seen, scale, softcap)


def _weights(packed, scales, zeros, bits, group_size, swapped=False, shift=0):
    codes = packed.double()
    if bits == 4:
        halves = [packed & 15, packed >> 4]
        codes = torch.stack(halves[::-1] if swapped else halves, 1).reshape(2 * packed.shape[0], -1).double()
    group = (torch.arange(codes.shape[0]) // group_size + shift) % max(scales.shape[0], 1)
    return (codes - zeros.double()[group]) * scales.double()[group]


@fault("F12", "FBGEMM#5705")
@implementation("dequant_gemm", paradigm="torch")
def wrong_halves_swapped(a, packed, scales, zeros, *, bits, group_size):
    """Takes the high half of a byte first."""
    weights = _weights(packed, scales, zeros, bits, group_size, swapped=True)
    return (a.double() @ weights.to(a.dtype).double()).to(a.dtype)


@fault("index", "none: groups of scales are counted otherwise in other formats")
@implementation("dequant_gemm", paradigm="torch")
def wrong_scale_of_the_next_group(a, packed, scales, zeros, *, bits, group_size):
    """Is one group ahead with scales and zeros."""
    weights = _weights(packed, scales, zeros, bits, group_size, shift=1)
    return (a.double() @ weights.to(a.dtype).double()).to(a.dtype)
