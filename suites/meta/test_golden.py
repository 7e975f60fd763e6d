"""Is golden what an independent computation says, within the radius that it claims? Every operation, drawn cases.

The other computation has 300 bits (mpmath) and its own formulas, over NumPy arrays of such numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from golden.case import Case
from golden.dtypes import decode, dtype_of
from golden.enclosure import Enclosure
from golden.inputs import make_inputs
from golden.judge import Golden, seal
from kernels import strategies
from kernels.operation import Operation
from kernels.registry import load
from suites.goldens import compute
from suites.meta import reduction_formulas

OPERATIONS = load().operations
BUDGET = 96

CONTEXT = mpmath.mp.clone()
CONTEXT.prec = 300


def each(function: Callable[..., Any]) -> Callable[..., np.ndarray]:
    """Return ``function`` of one number as one of arrays of numbers."""
    return np.vectorize(function, otypes=[object])


EXP, LOG, TANH, ERF, SQRT = (each(getattr(CONTEXT, name)) for name in ("exp", "log", "tanh", "erf", "sqrt"))


def number(x: Any) -> Any:
    return CONTEXT.mpf(x)


def softmax(x: np.ndarray, *, dim: int) -> np.ndarray:
    powers = EXP(x)
    return powers / powers.sum(axis=dim, keepdims=True)


def gelu(x: np.ndarray, *, approximate: str) -> np.ndarray:
    half = x / 2
    if approximate == "none":
        return half * (1 + ERF(x / CONTEXT.sqrt(2)))
    return half * (1 + TANH(CONTEXT.sqrt(2 / CONTEXT.pi) * (x + number(0.044715) * x**3)))


def layer_norm(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, *, eps: float) -> np.ndarray:
    n = x.shape[-1]
    mean = x.sum(-1, keepdims=True) / n
    variance = (x**2).sum(-1, keepdims=True) / n - mean**2
    return (x - mean) / SQRT(variance + number(eps)) * weight + bias


def rms_norm(x: np.ndarray, weight: np.ndarray, *, eps: float) -> np.ndarray:
    return x / SQRT((x**2).sum(-1, keepdims=True) / x.shape[-1] + number(eps)) * weight


def cross_entropy(logits: np.ndarray, target: np.ndarray) -> np.ndarray:
    rows = [CONTEXT.log(EXP(row).sum()) - row[int(one)] for row, one in zip(logits, target, strict=True)]
    return np.array(sum(rows) / len(rows), object)


def attention(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, *, causal: bool, scale: float | None, softcap: Any, window: Any
) -> np.ndarray:
    result = np.empty(q.shape, object)
    factor = 1 / CONTEXT.sqrt(q.shape[-1]) if scale is None else number(scale)
    for b, h, i in np.ndindex(*q.shape[:3]):
        group = h * k.shape[1] // q.shape[1]
        seen = [
            j for j in range(k.shape[2]) if not (causal and j > i) and not (window is not None and abs(i - j) >= window)
        ]
        scores = [(q[b, h, i] * k[b, group, j]).sum() * factor for j in seen]
        if softcap is not None:
            scores = [number(softcap) * CONTEXT.tanh(score / number(softcap)) for score in scores]
        powers = [CONTEXT.exp(score) for score in scores]
        total = sum(powers) or number("nan")
        weighted = (power * v[b, group, j] for power, j in zip(powers, seen, strict=True))
        result[b, h, i] = sum(weighted, np.full(q.shape[-1], number(0))) / total
    return result


def attended(query: np.ndarray, keys: Any, values: Any, scale: float | None) -> np.ndarray:
    """Return what one query gets of keys and values that it sees."""
    factor = 1 / CONTEXT.sqrt(len(query)) if scale is None else number(scale)
    powers = [CONTEXT.exp((query * key).sum() * factor) for key in keys]
    weighted = sum((power * value for power, value in zip(powers, values, strict=True)), 0 * query)
    return weighted / (sum(powers) or number("nan"))


def rope(x: np.ndarray, cos: np.ndarray, sin: np.ndarray) -> np.ndarray:
    result, half = np.array(x, object), cos.shape[-1]
    for b, h, s, i in np.ndindex(*x.shape[:3], half):
        turned = CONTEXT.mpc(x[b, h, s, i], x[b, h, s, i + half]) * CONTEXT.mpc(cos[s, i], sin[s, i])
        result[b, h, s, i], result[b, h, s, i + half] = turned.real, turned.imag
    return result


def varlen_attention(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, cu_q: np.ndarray, cu_k: np.ndarray, *, causal: bool, scale: Any
) -> np.ndarray:
    result = np.empty(q.shape, object)
    for sequence, (first, last) in enumerate(pairwise(cu_q)):
        begin, end = cu_k[sequence : sequence + 2]
        for i, h in np.ndindex(last - first, q.shape[1]):
            group, stop = h * k.shape[1] // q.shape[1], end - (last - first - 1 - i) if causal else end
            seen = slice(begin, max(begin, stop))
            result[first + i, h] = attended(q[first + i, h], k[seen, group], v[seen, group], scale)
    return result


def decode_attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, lengths: np.ndarray, *, scale: Any) -> np.ndarray:
    result = np.empty(q.shape, object)
    for b, h in np.ndindex(*q.shape[:2]):
        group = h * k.shape[1] // q.shape[1]
        result[b, h] = attended(q[b, h], k[b, group, : lengths[b]], v[b, group, : lengths[b]], scale)
    return result


def paged_attention(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, page_table: np.ndarray, lengths: np.ndarray, *, scale: Any
) -> np.ndarray:
    result = np.empty(q.shape, object)
    for b, h in np.ndindex(*q.shape[:2]):
        group = h * k.shape[2] // q.shape[1]
        places = [(page_table[b, i // k.shape[1]], i % k.shape[1]) for i in range(lengths[b])]
        keys, values = ([x[page, slot, group] for page, slot in places] for x in (k, v))
        result[b, h] = attended(q[b, h], keys, values, scale)
    return result


def attention_backward(
    grad: np.ndarray,
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    *,
    causal: bool,
    scale: Any,
    softcap: Any,
    window: Any,
) -> tuple[np.ndarray, ...]:
    """The chain rule, score by score: d softmax_j / d score_l is p_j (1 if j = l else 0) - p_j p_l."""
    dq, dk, dv = (np.array(0 * x, object) for x in (q, k, v))
    factor = 1 / CONTEXT.sqrt(q.shape[-1]) if scale is None else number(scale)
    for b, h, i in np.ndindex(*q.shape[:3]):
        group = h * k.shape[1] // q.shape[1]
        seen = [
            j for j in range(k.shape[2]) if not (causal and j > i) and not (window is not None and abs(i - j) >= window)
        ]
        scores = [(q[b, h, i] * k[b, group, j]).sum() * factor for j in seen]
        slopes = [number(1)] * len(seen)
        if softcap is not None:
            shares = [CONTEXT.tanh(score / number(softcap)) for score in scores]
            scores, slopes = [number(softcap) * share for share in shares], [1 - share**2 for share in shares]
        powers = [CONTEXT.exp(score) for score in scores]
        shares = [power / sum(powers) for power in powers]
        wanted = [(grad[b, h, i] * v[b, group, j]).sum() for j in seen]
        mean = sum(share * one for share, one in zip(shares, wanted, strict=True))
        for j, share, one, slope in zip(seen, shares, wanted, slopes, strict=True):
            step = share * (one - mean) * slope * factor
            dq[b, h, i] += step * k[b, group, j]
            dk[b, group, j] += step * q[b, h, i]
            dv[b, group, j] += share * grad[b, h, i]
    return dq, dk, dv


def dequant_gemm(
    a: np.ndarray, packed: np.ndarray, scales: np.ndarray, zeros: np.ndarray, *, bits: int, group_size: int
) -> np.ndarray:
    k, n = a.shape[1], packed.shape[1]
    weights = np.full((k, n), number(0))
    for row, column in np.ndindex(k, n):
        code = packed[row, column] if bits == 8 else packed[row // 2, column] >> 4 * (row % 2) & 15
        weights[row, column] = (code - zeros[row // group_size, column]) * scales[row // group_size, column]
    return a @ weights if k else np.full((a.shape[0], n), number(0))


def gelu_slope(x: Any, *, approximate: str) -> Any:
    if approximate == "none":
        return CONTEXT.ncdf(x) + x * CONTEXT.npdf(x)
    inner = CONTEXT.sqrt(2 / CONTEXT.pi) * (x + number(0.044715) * x**3)
    rise = CONTEXT.sqrt(2 / CONTEXT.pi) * (1 + 3 * number(0.044715) * x**2)
    return (1 + CONTEXT.tanh(inner) + x * rise / CONTEXT.cosh(inner) ** 2) / 2


def silu_slope(x: Any) -> Any:
    return (1 + CONTEXT.exp(-x) * (1 + x)) / (1 + CONTEXT.exp(-x)) ** 2


def nearest(x: Any, dtype: str) -> Any:
    """Return the number of a floating dtype that is nearest to ``x``, the even one of two as near."""
    kind = dtype_of(dtype)
    exponent = max(CONTEXT.frexp(x)[1] - kind.precision, kind.emin - kind.precision + 1)
    rounded = CONTEXT.ldexp(CONTEXT.nint(CONTEXT.ldexp(x, -exponent)), exponent)
    return rounded if abs(rounded) <= kind.largest else CONTEXT.inf * CONTEXT.sign(x)


def clamp(x: np.ndarray, *, min: float | None, max: float | None) -> np.ndarray:
    for end, outside in ((min, lambda one: one < min), (max, lambda one: one > max)):
        if end is not None:
            x = each(lambda one: number(end) if outside(one) else one)(x)  # noqa: B023
    return x


def cast(x: np.ndarray, *, dtype: str) -> np.ndarray:
    if dtype_of(dtype).is_float:
        return each(lambda one: nearest(one, dtype))(x)
    return each(lambda one: number(int(one)))(x)


def scaled(x: np.ndarray, scale: np.ndarray, largest: float, least: float) -> np.ndarray:
    """Return x / scale, held within a range; 0 where the scale is."""
    divide = each(lambda one, by: max(min(one / by, number(largest)), number(least)) if by else number(0))
    return divide(x, scale[..., None])


def quantize_fp8(x: np.ndarray, scale: np.ndarray, *, format: str) -> np.ndarray:
    dtype = {"e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}[format]
    largest = dtype_of(dtype).largest
    return each(lambda one: nearest(one, dtype))(scaled(x, scale, largest, -largest))


def scatter_add(x: np.ndarray, index: np.ndarray, src: np.ndarray) -> np.ndarray:
    result = x.copy()
    for row, added in zip(index, src, strict=True):
        result[row] = result[row] + added
    return result


def index_copy(x: np.ndarray, index: np.ndarray, src: np.ndarray) -> np.ndarray:
    result = x.copy()
    result[index] = src
    return result


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a @ b if a.shape[1] else np.full((a.shape[0], b.shape[1]), number(0))


def grouped_gemm(x: np.ndarray, w: np.ndarray, group_sizes: np.ndarray) -> np.ndarray:
    owners = np.repeat(np.arange(group_sizes.size), group_sizes)
    rows = [product(row[None], w[group])[0] for row, group in zip(x, owners, strict=True)]
    return np.array(rows, object).reshape(len(rows), w.shape[2])


def conv2d(x: np.ndarray, weight: np.ndarray, *, stride: int, padding: int) -> np.ndarray:
    padded = np.pad(x, [(0, 0), (0, 0), (padding, padding), (padding, padding)], constant_values=number(0))
    taps_h, taps_w = weight.shape[2:]
    high, wide = (padded.shape[2] - taps_h) // stride + 1, (padded.shape[3] - taps_w) // stride + 1
    result = np.empty((x.shape[0], weight.shape[0], high, wide), object)
    for image, output, i, j in np.ndindex(*result.shape):
        under = padded[image, :, i * stride : i * stride + taps_h, j * stride : j * stride + taps_w]
        result[image, output, i, j] = (under * weight[output]).sum()
    return result


FORMULAS: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: x + y,
    "relu": lambda x: np.where(x > 0, x, 0 * x),
    "softmax": softmax,
    "gemm": lambda a, b: a @ b,
    "exp": EXP,
    "tanh": TANH,
    "gelu": gelu,
    "silu": lambda x: x / (1 + EXP(-x)),
    "layer_norm": layer_norm,
    "rms_norm": rms_norm,
    "cross_entropy": cross_entropy,
    "attention": attention,
    "attention_backward": attention_backward,
    "varlen_attention": varlen_attention,
    "decode_attention": decode_attention,
    "paged_attention": paged_attention,
    "decode_attention_int8": lambda q, k, v, k_scale, v_scale, lengths, scale: decode_attention(
        q, k * k_scale[..., None], v * v_scale[..., None], lengths, scale=scale
    ),
    "paged_attention_int8": lambda q, k, v, k_scale, v_scale, page_table, lengths, scale: paged_attention(
        q, k * k_scale[..., None], v * v_scale[..., None], page_table, lengths, scale=scale
    ),
    "rope": rope,
    "dequant_gemm": dequant_gemm,
    "gemm_bias": lambda a, b, bias: product(a, b) + bias,
    "grouped_gemm": grouped_gemm,
    "fp8_gemm": lambda a, b, scale_a, scale_b: product(a, b) * scale_a[:, None] * scale_b,
    "conv2d": conv2d,
    "transpose": lambda x: np.swapaxes(x, -1, -2),
    "embedding": lambda table, index: table[index],
    "scatter_add": scatter_add,
    "index_copy": index_copy,
    "clamp": clamp,
    "softcap": lambda x, cap: number(cap) * TANH(x / number(cap)),
    "round": each(CONTEXT.nint),
    "masked_fill": lambda x, mask, value: np.where(mask != 0, number(value), x),
    "cast": cast,
    "quantize_int8": lambda x, scale: each(CONTEXT.nint)(scaled(x, scale, 127, -128)),
    "quantize_fp8": quantize_fp8,
    "swiglu": lambda gate, up: gate / (1 + EXP(-gate)) * up,
    "gelu_backward": lambda grad, x, approximate: grad * each(gelu_slope)(x, approximate=approximate),
    "silu_backward": lambda grad, x: grad * each(silu_slope)(x),
    "swiglu_backward": lambda grad, gate, up: (
        grad * up * each(silu_slope)(gate),
        grad * gate / (1 + EXP(-gate)),
    ),
    **reduction_formulas.FORMULAS,
}


WHOLE = {"floor_divide", "remainder", "shift_right", "unpack_int4"}
"""Operations on integers, which ``test_integer_operations`` holds against Python's."""


def test_every_operation_is_held_against_another_computation() -> None:
    assert set(FORMULAS) | WHOLE == set(OPERATIONS)


def independent(operation: Operation, case: Case) -> list[np.ndarray]:
    """Return the true results as numbers of 300 bits; none where an input is not finite."""
    forms = operation.forms(case)
    values = {name: decode(x, forms[name].dtype) for name, x in make_inputs(case, forms).items()}
    if not all(np.isfinite(x).all() for x in values.values()):
        return []
    exact = {name: each(number)(x) if x.dtype == np.float64 and x.size else x for name, x in values.items()}
    true = operation.call(FORMULAS[operation.name], exact, case)
    return [np.asarray(one, object) for one in (true if isinstance(true, tuple) else (true,))]


def check(golden: Golden, true: np.ndarray, dtype: str, line: str) -> None:
    largest = dtype_of("float64" if dtype == "float64" else "float32").largest
    shape = golden.value.shape
    radius, tail = np.broadcast_to(golden.radius, shape), np.broadcast_to(golden.tail, shape)
    for index in np.ndindex(*shape):
        value = golden.value[index]
        if np.isinf(golden.hard[index]):
            continue
        if np.isinf(value):
            assert abs(true[index]) > largest, line
            continue
        if np.isnan(value):
            assert CONTEXT.isnan(true[index]), line
            continue
        away = abs(number(float(value)) + number(float(tail[index])) - true[index])
        assert away <= number(float(radius[index])), (line, index, float(value), float(away), float(radius[index]))


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "float8_e4m3fn"])
@pytest.mark.parametrize("name", sorted(FORMULAS))
def test_golden_is_within_its_radius_of_the_true_result(name: str, dtype: str) -> None:
    operation = OPERATIONS[name]
    if dtype not in operation.dtypes:
        pytest.skip(f"{name} is not defined for {dtype}")
    checked = 0

    @settings(max_examples=24, deadline=None, suppress_health_check=list(HealthCheck))
    @given(strategies.cases(operation, BUDGET, dtype=dtype))
    def held(case: Case) -> None:
        nonlocal checked
        true = [one for one in independent(operation, case) if one.size]
        if true:
            for golden, one in zip(compute(operation, case, operation.precision(dtype)).values(), true, strict=True):
                check(golden, one, dtype, case.line)
            checked += 1

    held()
    assert checked >= 3


def special(operation: str, dtype: str, *tensors: list[float], **params: object) -> list[float]:
    """Return golden of ``operation`` on tensors with special values, under the contract's precision."""
    contract = OPERATIONS[operation]
    enclosed = [Enclosure(np.array(values, np.float64), contract.precision(dtype)) for values in tensors]
    with np.errstate(all="ignore"):
        return decode(seal(contract.reference(*enclosed, **params), dtype).nominal, dtype).tolist()


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_special_values_follow_the_policies(dtype: str) -> None:
    inf, nan = np.inf, np.nan
    assert_equal = np.testing.assert_array_equal
    assert_equal(
        special("add", dtype, [inf, inf, -inf, nan, 1.0], [1.0, -inf, -inf, 1.0, inf]), [inf, nan, -inf, nan, inf]
    )
    assert_equal(special("relu", dtype, [inf, -inf, nan, -0.0]), [inf, 0, nan, 0])
    assert_equal(special("exp", dtype, [inf, -inf, nan, -0.0]), [inf, 0, nan, 1])
    assert_equal(special("tanh", dtype, [inf, -inf, nan]), [1, -1, nan])
    assert_equal(special("softmax", dtype, [0.0, -inf, -inf], dim=-1), [1, 0, 0])
    assert_equal(special("softmax", dtype, [0.0, nan, 1.0], dim=-1), [nan] * 3)
    assert_equal(special("softmax", dtype, [0.0, inf], dim=-1), [nan] * 2)
    assert_equal(special("softmax", dtype, [-inf, -inf], dim=-1), [nan] * 2)
    assert_equal(special("gelu", dtype, [inf, nan], approximate="none"), [inf, nan])
    assert_equal(special("silu", dtype, [inf, nan, 0.0]), [inf, nan, 0])
    assert_equal(special("layer_norm", dtype, [1.0, inf, 2.0], [1.0] * 3, [0.0] * 3, eps=0.5), [nan] * 3)
    assert_equal(special("layer_norm", dtype, [7.0], [1.0], [3.0], eps=0.5), [3])
    assert_equal(special("rms_norm", dtype, [nan, 1.0], [1.0] * 2, eps=0.5), [nan] * 2)


@pytest.mark.parametrize("name", ["softmax", "layer_norm", "attention", "gelu", "cross_entropy", "gemm"])
def test_the_radius_is_small_beside_a_unit_of_the_last_place(name: str) -> None:
    """For float64 as well, where golden needs more than float64 has."""
    operation = OPERATIONS[name]

    @settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
    @given(strategies.cases(operation, BUDGET, dtype="float64"))
    def small(case: Case) -> None:
        if any(spec.regime not in ("normal", "shifted", "positive") for spec in case.tensors.values()):
            return
        golden = compute(operation, case, operation.precision("float64"))["out"]
        judged = np.isfinite(golden.hard) & np.isfinite(golden.value)
        assert (np.asarray(golden.radius) <= 2.0**-8 * (golden.drift + 2.0**-1060))[judged].all()

    small()
