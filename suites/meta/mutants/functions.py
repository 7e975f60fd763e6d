"""Functions of single elements gone wrong: overflow, flushes, narrow intermediates, derivatives of something else."""

import torch

from kernels import implementation
from kernels.toolchains.torch import wide
from suites.meta.mutants import fault


@fault("F20", "none: subnormal results flushed, which the contract keeps")
@implementation("exp", paradigm="torch", dtypes=("float16",))
def wrong_small_results_flushed(x):
    """Has zero where results are subnormal in their dtype, though they are computed in a wider one."""
    result = wide(x).exp().to(x.dtype)
    return torch.where(result < torch.finfo(x.dtype).tiny, 0, result).contiguous()


@fault("F16", "triton#8654")
@implementation("exp", paradigm="torch", dtypes=("float64",))
def wrong_rounded_argument(x):
    """exp2 of x log2(e), rounded before it: large arguments lose bits."""
    return torch.exp2(x * 1.4426950408889634).contiguous()


@fault("overflow", "none: infinity over infinity")
@implementation("tanh", paradigm="torch")
def wrong_quotient_of_exponentials(x):
    """(e^2x - 1) / (e^2x + 1), which is NaN for large x."""
    power = (2 * wide(x)).exp()
    return ((power - 1) / (power + 1)).to(x.dtype).contiguous()


@fault("cancellation", "none: 1 - 2 / (e^2x + 1) near 0")
@implementation("tanh", paradigm="torch")
def wrong_near_zero(x):
    """1 - 2 / (e^2x + 1), which cancels near 0."""
    return (1 - 2 / ((2 * wide(x)).exp() + 1)).to(x.dtype).contiguous()


@fault("F15", "FlagGems#2797")
@implementation("silu", paradigm="torch", dtypes=("float16", "bfloat16"))
def wrong_sigmoid_in_the_narrow_type(x):
    """Rounds the sigmoid to the type of the input."""
    return (x * torch.sigmoid(wide(x)).to(x.dtype)).contiguous()


@fault("overflow", "none: exp(x) over 1 + exp(x)")
@implementation("silu", paradigm="torch")
def wrong_exponential_of_large_numbers(x):
    """x e^x / (1 + e^x), NaN for large x."""
    power = wide(x).exp()
    return (wide(x) * power / (1 + power)).to(x.dtype).contiguous()


@fault("formula", "none: gate and up in the other order")
@implementation("swiglu", paradigm="torch")
def wrong_halves_exchanged(gate, up):
    """Takes the sigmoid of what should be multiplied."""
    return (torch.nn.functional.silu(up.double()) * gate.double()).to(gate.dtype).contiguous()


@fault("F24", "triton#10945")
@implementation("swiglu", paradigm="torch", dtypes=("float16", "bfloat16"))
def wrong_rounded_twice(gate, up):
    """Rounds silu(gate) before it is multiplied."""
    return (torch.nn.functional.silu(wide(gate)).to(gate.dtype) * up).contiguous()


@fault("form", "none: results in the other order")
@implementation("swiglu_backward", paradigm="torch")
def wrong_results_exchanged(grad, gate, up):
    """Returns the gradient of up first."""
    wide_gate, wide_up, slope = gate.double(), up.double(), torch.sigmoid(gate.double())
    first = grad.double() * wide_up * slope * (1 + wide_gate * (1 - slope))
    return (grad.double() * wide_gate * slope).to(gate.dtype).contiguous(), first.to(gate.dtype).contiguous()


@fault("formula", "none: a derivative of the sigmoid alone")
@implementation("silu_backward", paradigm="torch")
def wrong_slope_of_the_sigmoid(grad, x):
    """Leaves out the term of x."""
    return (grad.double() * torch.sigmoid(x.double())).to(x.dtype).contiguous()


@fault("formula", "FlagGems#2797")
@implementation("gelu_backward", paradigm="torch")
def wrong_derivative_of_the_other(grad, x, *, approximate):
    """The derivative of the function itself, also where its approximation was asked for."""
    wide_x = x.double().requires_grad_()
    with torch.enable_grad():
        result = torch.nn.functional.gelu(wide_x)
    return torch.autograd.grad(result, wide_x, grad.double())[0].to(x.dtype).contiguous()


@fault("formula", "none: a clamp for a soft cap")
@implementation("softcap", paradigm="torch")
def wrong_hard_cap(x, *, cap):
    """Clamps at the cap."""
    return x.clamp(-cap, cap).contiguous()


@fault("F15", "aotriton#179")
@implementation("softcap", paradigm="torch", dtypes=("float16", "bfloat16"))
def wrong_quotient_rounded(x, *, cap):
    """Rounds x / cap to the type of the input."""
    return (cap * torch.tanh(wide(x / cap))).to(x.dtype).contiguous()


@fault("F21", "FlagGems#5953")
@implementation("exp", paradigm="torch")
def wrong_refuses_nothing(x):
    """Starts a grid of no programs, which is an error."""
    if not x.numel():
        raise RuntimeError("invalid configuration: a grid of 0 programs")
    return wide(x).exp().to(x.dtype).contiguous()


@fault("honesty", "KernelBench: a fallback that hides what does not compile")
@implementation("gelu", paradigm="torch")
def wrong_fallback_in_another_precision(x, *, approximate):
    """Falls back to float16 for what it cannot do, such as an empty remainder of vectors of four."""
    if x.numel() % 4 == 0:
        return torch.nn.functional.gelu(wide(x), approximate=approximate).to(x.dtype).contiguous()
    return torch.nn.functional.gelu(x.half().float(), approximate=approximate).to(x.dtype).contiguous()
