"""Arithmetic in narrow formats is float32 arithmetic, rounded; and the products, reductions and atomics made of it."""

from __future__ import annotations

import numpy as np
import torch
import triton
import triton.language as tl

from suites.meta.guarded_kernels.comparing import same_bits

FLOAT8 = (torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz)
NARROW = (torch.bfloat16, *FLOAT8)


def _pairs(dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """All pairs of float8 codes; or of 256 bfloat16 codes, specials among them."""
    codes = torch.arange(256, dtype=torch.uint8)
    if dtype == torch.bfloat16:
        specials = torch.tensor([0.0, -0.0, 1.0, -1.0, torch.inf, -torch.inf, torch.nan, 3.389e38, 1e-40])
        generator = torch.Generator().manual_seed(1)
        values = torch.cat([specials, torch.randn(256 - 9, generator=generator) * 10]).to(dtype)
    else:
        values = codes.view(dtype)
    x, y = torch.meshgrid(torch.arange(256), torch.arange(256), indexing="ij")
    return values[x.flatten()], values[y.flatten()]


@triton.jit
def _elementwise(x_ptr, y_ptr, out_ptr, WHAT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    if WHAT == "add":
        z = x + y
    elif WHAT == "sub":
        z = x - y
    elif WHAT == "mul":
        z = x * y
    elif WHAT == "div":
        z = x / y
    elif WHAT == "fmax":
        z = tl.maximum(x, y)
    elif WHAT == "minimum":
        z = tl.minimum(x, y, propagate_nan=tl.PropagateNan.ALL)
    elif WHAT == "abs":
        z = tl.abs(x)
    elif WHAT == "where":
        z = tl.where(x > y, x, y)
    elif WHAT == "fma":
        z = tl.fma(x, y, x)
    elif WHAT == "lt":
        z = (x < y).to(tl.int8)
    elif WHAT == "eq":
        z = (x == y).to(tl.int8)
    elif WHAT == "truth":
        z = (x != y).to(tl.float32).to(x.dtype)
    elif WHAT == "clamp":
        z = tl.clamp(x, tl.full([BLOCK], -1.0, x.dtype), tl.full([BLOCK], 1.5, x.dtype))
    elif WHAT == "exp":
        z = tl.exp(x.to(tl.float32)).to(x.dtype)
    elif WHAT == "constant":
        z = x * 1.5 + 2
    tl.store(out_ptr + i, z)


def _run(what: str, dtype: torch.dtype, out_dtype: torch.dtype | None = None) -> tuple[torch.Tensor, ...]:
    x, y = _pairs(dtype)
    out = torch.empty(x.shape, dtype=out_dtype or dtype)
    _elementwise[(4,)](x, y, out, what, BLOCK=x.numel() // 4)
    return x, y, out


def check_arithmetic_is_that_of_torch() -> None:
    for dtype in NARROW:
        for what in ("add", "sub", "mul", "div"):
            x, y, out = _run(what, dtype)
            same_bits(out, getattr(torch, what)(x.float(), y.float()).to(dtype))


def check_bfloat16_agrees_with_bfloat16_of_torch() -> None:
    for what in ("add", "mul", "div"):
        x, y, out = _run(what, torch.bfloat16)
        same_bits(out, getattr(torch, what)(x, y))


def check_comparisons() -> None:
    for dtype in NARROW:
        for what in ("lt", "eq"):
            x, y, out = _run(what, dtype, torch.int8)
            assert torch.equal(out, getattr(torch, what)(x.float(), y.float()).to(torch.int8))
        x, y, out = _run("truth", dtype)
        same_bits(out, (x.float() != y.float()).to(dtype))


def check_float32_truth_becomes_bfloat16() -> None:
    x, y = torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.tensor([1.0, 1.0, 3.0, 5.0])
    out = torch.empty(4, dtype=torch.bfloat16)
    _less_as_bfloat16[(1,)](x, y, out, BLOCK=4)
    assert out.tolist() == [0.0, 0.0, 0.0, 1.0]


@triton.jit
def _keep_larger(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    larger = (x > tl.load(y_ptr + i)) & (i != 3)
    tl.store(out_ptr + i, x, mask=larger)


def check_comparisons_make_masks() -> None:
    for dtype in NARROW:
        x, y = torch.tensor([1.0, 2.0, -1.0, 4.0]).to(dtype), torch.tensor([2.0, 1.0, -2.0, 1.0]).to(dtype)
        out = torch.zeros(4).to(dtype)
        _keep_larger[(1,)](x, y, out, BLOCK=4)
        assert out.tolist() == [0.0, 2.0, -1.0, 0.0]


@triton.jit
def _less_as_bfloat16(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, (tl.load(x_ptr + i) < tl.load(y_ptr + i)).to(tl.bfloat16))


def check_selection_and_magnitude() -> None:
    for dtype in NARROW:
        x, y, out = _run("where", dtype)
        same_bits(out, torch.where(x.float() > y.float(), x.float(), y.float()).to(dtype))
        x, y, out = _run("abs", dtype)
        same_bits(out, x.float().abs().to(dtype))


def check_maximum_takes_the_number_and_minimum_the_nan() -> None:
    for dtype in (torch.bfloat16, torch.float32):
        x = torch.tensor([1.0, torch.nan, 2.0, torch.nan]).to(dtype)
        y = torch.tensor([torch.nan, 3.0, 1.0, torch.nan]).to(dtype)
        out = torch.empty(4, dtype=dtype)
        _elementwise[(1,)](x, y, out, "fmax", BLOCK=4)
        same_bits(out, torch.fmax(x, y))
        _elementwise[(1,)](x, y, out, "minimum", BLOCK=4)
        same_bits(out, torch.minimum(x, y))


def check_fma_clamp_exp_and_constants_in_bfloat16() -> None:
    x, y, out = _run("fma", torch.bfloat16)
    product = x.float() * y.float()
    # Where the product alone is too large, it matters whether it is rounded before the sum.
    plain = product.isfinite() | ~(x.isfinite() & y.isfinite())
    same_bits(out[plain], (product + x.float()).bfloat16()[plain])
    x, _, out = _run("clamp", torch.bfloat16)
    same_bits(out, torch.fmin(torch.fmax(x.float(), torch.tensor(-1.0)), torch.tensor(1.5)).bfloat16())
    x, _, out = _run("exp", torch.bfloat16)
    same_bits(out, _exp(x))
    x, _, out = _run("constant", torch.bfloat16)
    same_bits(out, x * 1.5 + 2)


def _exp(x: torch.Tensor) -> torch.Tensor:
    with np.errstate(over="ignore"):
        return torch.from_numpy(np.exp(x.float().numpy())).bfloat16()


@triton.jit
def _product(
    a_ptr, b_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr
):  # fmt: skip
    m = tl.arange(0, M)[:, None]
    n = tl.arange(0, N)[None, :]
    k = tl.arange(0, K)
    a = tl.load(a_ptr + m * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + n)
    tl.store(out_ptr + m * N + n, tl.dot(a, b, input_precision=PRECISION))


def _multiply(a: torch.Tensor, b: torch.Tensor, precision: str | None = None) -> torch.Tensor:
    out = torch.empty(a.shape[0], b.shape[1])
    _product[(1,)](a, b, out, a.shape[0], b.shape[1], a.shape[1], precision)
    return out


def check_products_of_small_integers_are_exact() -> None:
    generator = torch.Generator().manual_seed(2)
    for dtype in NARROW:
        a = torch.randint(-4, 5, (16, 32), generator=generator).float().to(dtype)
        b = torch.randint(-4, 5, (32, 16), generator=generator).float().to(dtype)
        assert torch.equal(_multiply(a, b), a.float() @ b.float())


def check_nan_of_float8_reaches_the_product() -> None:
    a = torch.ones(16, 16).to(torch.float8_e4m3fn)
    b = a.clone()
    b.view(torch.uint8)[3, 5] = 0x7F
    assert _multiply(a, b).isnan().nonzero()[:, 1].unique().tolist() == [5]


def check_tf32_is_the_default_and_rounds_operands() -> None:
    # 1 + 2^-11 lies in the middle between two tf32 numbers, 1 + 3 * 2^-12 above the middle.
    a = torch.eye(16)
    b = torch.zeros(16, 16)
    b[0, :4] = torch.tensor([1 + 2**-11, 1 + 3 * 2**-12, 1 + 3 * 2**-11, 1 + 2**-12])
    rounded = [1.0, 1 + 2**-10, 1 + 2**-9, 1.0]
    assert _multiply(a, b)[0, :4].tolist() == rounded
    assert _multiply(a, b, "tf32")[0, :4].tolist() == rounded
    assert torch.equal(_multiply(a, b, "ieee"), b)


@triton.jit
def _pick_larger(a, b):
    return tl.where(a > b, a, b)


@triton.jit
def _add(a, b):
    return a + b


@triton.jit
def _reductions(x_ptr, out_ptr, index_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + 0, tl.sum(x, 0))
    tl.store(out_ptr + 1, tl.max(x, 0))
    tl.store(out_ptr + 2, tl.min(x, 0))
    tl.store(out_ptr + 3, tl.reduce(x, 0, _pick_larger))
    tl.store(index_ptr + 0, tl.argmax(x, 0))
    tl.store(index_ptr + 1, tl.argmin(x, 0))


def check_reductions() -> None:
    generator = torch.Generator().manual_seed(3)
    x = torch.randperm(64, generator=generator).float() - 40
    for dtype in (torch.bfloat16, torch.float8_e5m2fnuz):
        values = x.to(dtype) if dtype == torch.bfloat16 else (x / 8).to(dtype)
        out, index = torch.empty(4, dtype=dtype), torch.empty(2, dtype=torch.int32)
        _reductions[(1,)](values, out, index, BLOCK=64)
        wide = values.float()
        same_bits(out, torch.stack([wide.sum(), wide.max(), wide.min(), wide.max()]).to(dtype))
        assert index.tolist() == [wide.argmax().item(), wide.argmin().item()]


@triton.jit
def _scans(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.cumsum(x, 0).to(x.dtype))
    tl.store(out_ptr + BLOCK + i, tl.associative_scan(x, 0, _add))
    tl.store(out_ptr + 2 * BLOCK + i, tl.sort(x))


def check_scans_and_sort_in_bfloat16() -> None:
    x = torch.tensor([1.0, 256.0, 1.0, -3.0, 0.5, 1.0, -256.0, 7.0]).bfloat16()
    out = torch.empty(3, 8, dtype=torch.bfloat16)
    _scans[(1,)](x, out, BLOCK=8)
    same_bits(out[0], x.float().cumsum(0).bfloat16())
    stepwise = [x[0]]
    for value in x[1:]:
        stepwise.append(stepwise[-1] + value)
    same_bits(out[1], torch.stack(stepwise))
    same_bits(out[2], x.sort().values)


@triton.jit
def _running(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.cumsum(x, 0))
    tl.store(out_ptr + BLOCK + i, tl.cumprod(x, 0))


def check_running_sums_and_products_in_float8_round_once() -> None:
    x = torch.tensor([1.0, 1.125, -1.75, 0.5, 2.0, 3.0, -1.0, 0.25])
    for dtype in FLOAT8:
        values, out = x.to(dtype), torch.empty(2, 8, dtype=dtype)
        _running[(1,)](values, out, BLOCK=8)
        same_bits(out[0], values.float().cumsum(0).to(dtype))
        same_bits(out[1], values.float().cumprod(0).to(dtype))


@triton.jit
def _add_atomically(x_ptr, place_ptr, out_ptr, old_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    old = tl.atomic_add(out_ptr + tl.load(place_ptr + i), tl.load(x_ptr + i), mask=i != 3)
    tl.store(old_ptr + i, old, mask=i != 3)


def check_atomic_add_in_bfloat16_adds_lane_by_lane() -> None:
    x = torch.tensor([1.0, 2.0, 256.0, 99.0, 1.0, 1.0, 4.0, 8.0]).bfloat16()
    place = torch.tensor([0, 1, 0, 0, 0, 0, 1, 2])
    out = torch.tensor([0.0, 10.0, 0.5, 7.0]).bfloat16()
    old = torch.zeros(8, dtype=torch.bfloat16)
    _add_atomically[(1,)](x, place, out, old, BLOCK=8)
    # 257 is no bfloat16 number: twice 1 on top of 256 is lost.
    assert out.tolist() == [256.0, 16.0, 8.5, 7.0]
    assert old.tolist() == [0.0, 10.0, 1.0, 0.0, 256.0, 256.0, 12.0, 0.5]
