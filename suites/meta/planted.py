"""Drifts that are planted on real kernels: each computes as one of PyTorch's does, but for one thing that is known.

What is planted is made with PyTorch's own conversions and with integer arithmetic, not with golden's emulations, so
that the two can disagree.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from golden.case import Case, TensorSpec
from golden.dtypes import DTYPES
from golden.explanation import Explanation
from golden.inputs import make_inputs
from kernels.operation import Operation

Compute = Callable[..., torch.Tensor]

UNEXPLAINED = ()
"""What is expected of a plant that no cause explains."""


@dataclass(frozen=True)
class Plant:
    """One drift: what was planted, the ``expected`` causes, the case, and what computes it.

    ``compute`` takes the tensors and parameters of the operation.
    """

    kind: str
    expected: tuple[str, ...]
    case: Case
    compute: Compute

    def outputs(self, operation: Operation) -> list[np.ndarray]:
        """Return the storage of the result."""
        made = make_inputs(self.case, operation.forms(self.case))
        tensors = {name: _tensor(array, operation.forms(self.case)[name].dtype) for name, array in made.items()}
        with torch.no_grad():
            results = operation.call(self.compute, tensors, self.case)
        several = results if isinstance(results, tuple) else (results,)
        forms = operation.results(self.case).values()
        return [_storage(result, form.dtype) for result, form in zip(several, forms, strict=True)]

    def right(self, found: Explanation) -> bool:
        """Whether an explanation names what was planted, perhaps among others that make the same here."""
        if not self.expected:
            return not found.found
        named = [names for trial in found.found for names in trial.names]
        return any(sorted(names) == sorted(self.expected) for names in named)


def plants(seeds: int = 1) -> Iterator[Plant]:
    """Yield every plant, with ``seeds`` other inputs each."""
    for plant in (*_explained(), *_unexplained()):
        for seed in range(seeds):
            yield replace(plant, case=replace(plant.case, seed=seed))


def _tensor(array: np.ndarray, dtype: str) -> torch.Tensor:
    integers = torch.from_numpy(np.array(array).view(f"i{array.itemsize}"))
    return integers.view(getattr(torch, dtype))


def _storage(result: torch.Tensor, dtype: str) -> np.ndarray:
    kind = DTYPES[dtype]
    integer = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[kind.itemsize]
    assert result.dtype == getattr(torch, dtype), f"{result.dtype} instead of {dtype}"
    return result.contiguous().view(integer).numpy().view(kind.storage)


def _gemm(dtype: str, k: int, regime: str = "normal", side: int = 24) -> Case:
    specs = {"a": TensorSpec(regime), "b": TensorSpec(regime)}
    return Case("gemm", dtype, {"m": side, "n": side, "k": k}, tensors=specs)


def _rows(operation: str, dtype: str, regime: str = "normal", /, **params: Any) -> Case:
    return Case(operation, dtype, {"x": [32, 64]}, params, {"x": TensorSpec(regime)})


def _attention(dtype: str) -> Case:
    dims = {"b": 1, "h": 1, "hk": 1, "sq": 24, "sk": 32, "d": 16}
    return Case("attention", dtype, dims, {"causal": False, "scale": None, "softcap": None, "window": None})


# What is planted, in PyTorch's terms.


def _in_lanes(x: torch.Tensor, *, dim: int, count: int, join: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    """Return the sum along the last axis as a vector of ``count`` lanes makes it, whose sums are joined at the end."""
    assert dim == -1
    lanes = torch.zeros(*x.shape[:-1], count, dtype=x.dtype)
    for terms in x.split(count, -1):
        lanes = lanes + terms
    return join(lanes)


def _paired(lanes: torch.Tensor) -> torch.Tensor:
    while lanes.shape[-1] > 1:
        lanes = lanes[..., ::2] + lanes[..., 1::2]
    return lanes[..., 0]


def _in_turn(lanes: torch.Tensor) -> torch.Tensor:
    first, *others = lanes.unbind(-1)
    return functools.reduce(torch.add, others, first)


def _cut(x: torch.Tensor, bits: int) -> torch.Tensor:
    """Return float32 ``x`` without its last ``bits`` bits."""
    return (x.view(torch.int32) & -(1 << bits)).view(torch.float32)


def _nearest(x: torch.Tensor, bits: int) -> torch.Tensor:
    """Return float32 ``x`` rounded to nearest even, so that its last ``bits`` bits are zero."""
    codes = x.view(torch.int32)
    return ((codes + ((1 << (bits - 1)) - 1) + ((codes >> bits) & 1)) & -(1 << bits)).view(torch.float32)


def _through(dtype: torch.dtype) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda x: x.to(dtype).to(x.dtype)


def _flush(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x.abs() < torch.finfo(x.dtype).tiny, 0.0 * x, x)


def _each(change: Callable[[torch.Tensor], torch.Tensor], compute: Compute) -> Compute:
    """Return ``compute`` with every tensor changed first."""
    return lambda *tensors, **params: compute(*(change(x.contiguous()) for x in tensors), **params)


def _after(compute: Compute, change: Callable[[torch.Tensor], torch.Tensor]) -> Compute:
    return lambda *tensors, **params: change(compute(*tensors, **params))


def _cut_to_bfloat16(x: torch.Tensor) -> torch.Tensor:
    return _cut(x.contiguous(), 16).to(torch.bfloat16)


def _added(a: torch.Tensor, b: torch.Tensor, rounding: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    total = torch.zeros(a.shape[0], b.shape[1], dtype=torch.float64)
    for k in range(a.shape[1]):
        total = rounding(total + a[:, k, None].double() * b[k].double())
    return total


def _cut_64(x: torch.Tensor, bits: int) -> torch.Tensor:
    return (x.view(torch.int64) & -(1 << bits)).view(torch.float64)


def _accumulated(rounding: Callable[[torch.Tensor], torch.Tensor]) -> Compute:
    return lambda a, b: _added(a, b, rounding).to(a.dtype)


def _aligned(width: int, kept: int) -> Compute:
    """A matrix unit in integers: ``width`` products and the sum so far, in quanta of the largest of them."""

    def compute(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        total = torch.zeros(a.shape[0], 1, b.shape[1], dtype=torch.float64)
        for start in range(0, a.shape[1], width):
            left, right = a[:, start : start + width, None].double(), b[None, start : start + width].double()
            terms = torch.cat([left * right, total], 1)
            factors = torch.frexp(left).exponent + torch.frexp(right).exponent - 1
            exponents = torch.cat([factors, torch.frexp(total).exponent], 1)
            largest = torch.where(terms == 0, -1000, exponents).amax(1, keepdim=True)
            quantum = 2.0 ** (largest - kept).double()
            total = _cut_64((terms / quantum).long().sum(1, keepdim=True) * quantum, 29)
        return total[:, 0].to(a.dtype)

    return compute


def _to_half(x: torch.Tensor) -> torch.Tensor:
    """Return float64 ``x`` rounded to float16 at once; PyTorch's own conversion goes through float32."""
    return torch.from_numpy(x.numpy().astype(np.float16).astype(np.float64))


def _in_chunks(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Sums of 32 terms in float16, added up in float32."""
    total = torch.zeros(a.shape[0], b.shape[1])
    for start in range(0, a.shape[1], 32):
        total += _added(a[:, start : start + 32], b[start : start + 32], _to_half).float()
    return total.to(a.dtype)


def _separately(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """A product and then a sum, each rounded."""
    total = torch.zeros(a.shape[0], b.shape[1])
    for k in range(a.shape[1]):
        total = total + a[:, k, None] * b[k]
    return total


def _attended(p_rounding: Callable[[torch.Tensor], torch.Tensor]) -> Compute:
    def compute(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, **_: Any) -> torch.Tensor:
        scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
        p = torch.exp(scores - scores.amax(-1, keepdim=True))
        return p_rounding(p) @ v / p.sum(-1, keepdim=True)

    return compute


def _softmax(exp: Callable[[torch.Tensor], torch.Tensor]) -> Compute:
    def compute(x: torch.Tensor, *, dim: int) -> torch.Tensor:
        e = exp(x.float() - x.float().amax(dim, keepdim=True))
        return (e / e.sum(dim, keepdim=True)).to(x.dtype)

    return compute


def _exp_of_bits(x: torch.Tensor) -> torch.Tensor:
    """Schraudolph's: the argument, scaled and shifted, is the result's bits."""
    scaled = x.double() * 1.4426950408889634
    return ((scaled + 127) * 2.0**23).clamp(0).to(torch.int32).view(torch.float32)


def _silu(x: torch.Tensor) -> torch.Tensor:
    power = torch.exp(-x.abs()).bfloat16().float()
    return x * torch.where(x < 0, power, 1.0) / (1 + power)


def _running(rounding: Callable[[torch.Tensor], torch.Tensor]) -> Compute:
    def compute(x: torch.Tensor, *, dim: int, reverse: bool) -> torch.Tensor:
        result, state = torch.empty_like(x), torch.zeros(x.shape[0], dtype=x.dtype)
        for column in range(x.shape[1]):
            state = result[:, column] = rounding(state + x[:, column])
        return result

    return compute


def _tanh(x: torch.Tensor) -> torch.Tensor:
    return (x * (27 + x * x) / (27 + 9 * x * x)).clamp(-1, 1)


def _away(x: torch.Tensor) -> torch.Tensor:
    return torch.trunc(x + torch.copysign(torch.tensor(0.5), x))


def _away_to_bfloat16(x: torch.Tensor) -> torch.Tensor:
    return _cut((x.view(torch.int32) + 0x8000).view(torch.float32), 16).to(torch.bfloat16)


def _explained() -> Iterator[Plant]:
    yield from _of_products()
    yield from _of_loading_and_storing()
    yield from _of_functions()
    yield from _of_whole_numbers()


def _of_products() -> Iterator[Plant]:
    product, operands = torch.matmul, "operands of matrix products"
    single, half, float8 = _gemm("float32", 256), _gemm("float16", 128), _gemm("float32", 512)
    attention, attended = _attention("float32"), _attended(lambda p: p)
    for how, change in (("rounded", _nearest), ("cut", _cut)):
        for name, bits in (("tf32", 13), ("bfloat16", 16)):
            rounding = functools.partial(change, bits=bits)
            yield Plant(f"{name} operands, {how}", (f"{operands} {how} to {name}",), single, _each(rounding, product))
    brought = _each(_through(torch.bfloat16), attended)
    yield Plant("attention on bfloat16", ("inputs rounded to bfloat16",), attention, brought)
    narrow = _attended(_through(torch.bfloat16))
    yield Plant(
        "attention's P in bfloat16", ("computed operands of matrix products rounded to bfloat16",), attention, narrow
    )
    narrow = _attended(lambda p: _cut(p, 16))
    yield Plant(
        "attention's P cut to bfloat16", ("computed operands of matrix products cut to bfloat16",), attention, narrow
    )
    to_half, to_single = _to_half, _through(torch.float32)
    yield Plant("float16 accumulator", ("sums in float16, term by term",), half, _accumulated(to_half))
    yield Plant(
        "float16 accumulator, chunks of 32", ("sums in float16, term by term, in chunks of 32",), half, _in_chunks
    )
    truncating = _accumulated(functools.partial(_cut_64, bits=29))
    positive = _gemm("float32", 1024, "positive", side=12)
    yield Plant("truncating accumulator", ("sums in float32, truncating, term by term",), positive, truncating)
    fewer = _accumulated(functools.partial(_cut_64, bits=39))
    yield Plant("accumulator of 14 bits", ("sums in 14 bits, truncating, term by term",), float8, fewer)
    yield Plant(
        "no fused multiply-add", ("sums in float32, term by term, products rounded first",), single, _separately
    )
    yield Plant("fused multiply-add", ("sums in float32, term by term",), single, _accumulated(to_single))
    both = (f"{operands} cut to tf32", "sums in float32, truncating, term by term")
    yield Plant("tf32 operands and a truncating accumulator", both, single, _each(lambda x: _cut(x, 13), truncating))
    for name, change, width, kept in (("rounded", _nearest, 4, 25), ("cut", _cut, 8, 26)):
        unit = _each(functools.partial(change, bits=13), _aligned(width, kept))
        kind = f"tf32 operands, {name}, on a unit that aligns {width} products to {kept} bits"
        added = f"matrix products added {width} products at a time, cut off {kept} bits below the largest"
        yield Plant(kind, (f"{operands} {name} to tf32", added), single, unit)
    both = (f"{operands} rounded to bfloat16", "results cut to float16")
    stored = _after(_each(_through(torch.bfloat16), product), lambda x: _cut(x, 13))
    yield Plant("bfloat16 operands, results cut to tf32", (both[0], "results cut to tf32"), single, stored)


def _of_loading_and_storing() -> Iterator[Plant]:
    tiny = _rows("relu", "float32", "subnormal")
    yield Plant("subnormal inputs flushed", ("inputs taken for zero where subnormal",), tiny, _each(_flush, torch.relu))
    small = Case("exp", "float16", {"x": [32, 64]}, tensors={"x": TensorSpec("wide")})
    yield Plant(
        "subnormal results flushed",
        ("results taken for zero where subnormal",),
        small,
        lambda x: _flush(torch.exp(x.float()).half()),
    )
    softmax = _rows("softmax", "float32", dim=-1)
    for dtype in (torch.bfloat16, torch.float16):
        name = str(dtype).removeprefix("torch.")
        loaded = _each(_through(dtype), torch.softmax)
        yield Plant(f"softmax on {name}", (f"inputs rounded to {name}",), softmax, loaded)
    narrow = _rows("silu", "bfloat16")
    wide = _each(torch.Tensor.float, torch.nn.functional.silu)
    yield Plant("results cut to bfloat16", ("results cut to bfloat16",), narrow, _after(wide, _cut_to_bfloat16))
    twice = _after(wide, lambda x: x.half().bfloat16())
    yield Plant("results through float16", ("results rounded twice, to float16 first",), narrow, twice)
    halves = _rows("cast", "float32", "halves", dtype="bfloat16")
    yield Plant(
        "a cast's ties away", ("results rounded, ties away, to bfloat16",), halves, lambda x, **_: _away_to_bfloat16(x)
    )
    normal = _rows("cast", "float32", dtype="bfloat16")
    yield Plant("a cast that cuts", ("results cut to bfloat16",), normal, lambda x, **_: _cut_to_bfloat16(x))
    running = {"dim": -1, "reverse": False}
    half, brain = _rows("cumsum", "float16", **running), _rows("cumsum", "bfloat16", **running)
    yield Plant("a scan in float16", ("sums in float16, term by term",), half, _running(lambda x: x))
    yield Plant("a scan in bfloat16", ("sums in bfloat16, term by term",), brain, _running(lambda x: x))
    many = Case("sum", "float32", {"x": [128, 64]}, {"dim": -1}, {"x": TensorSpec()})
    for count, across, join in ((8, "pairwise", _paired), (4, "sequential", _in_turn)):
        order = f"{count} lanes, each sequential, then {across}"
        lanes = functools.partial(_in_lanes, count=count, join=join)
        yield Plant(f"a sum in {count} lanes, {across}", (f"sums in float32, in the order {order}",), many, lanes)


def _of_functions() -> Iterator[Plant]:
    softmax, gelu = _rows("softmax", "float32", dim=-1), _rows("gelu", "float32", approximate="none")
    yield Plant(
        "exp by its argument's bits",
        ("computed with an exp made of its argument's bits",),
        softmax,
        _softmax(_exp_of_bits),
    )
    narrow = _softmax(lambda x: torch.exp(x).half().float())
    yield Plant("exponentials in float16", ("results of functions rounded to float16",), softmax, narrow)
    yield Plant(
        "sigmoid's exp in bfloat16", ("results of functions rounded to bfloat16",), _rows("silu", "float32"), _silu
    )
    form = torch.nn.functional.gelu
    yield Plant(
        "gelu's other form",
        ("computed with the tanh form of gelu in the place of erf",),
        gelu,
        lambda x, **_: form(x, approximate="tanh"),
    )
    yield Plant(
        "tanh by a fraction", ("computed with a rational approximation of tanh",), _rows("tanh", "float32"), _tanh
    )


def _of_whole_numbers() -> Iterator[Plant]:
    halves = _rows("round", "float32", "halves")
    yield Plant("ties of round away", ("rounded to whole numbers to nearest, ties away",), halves, _away)
    yield Plant(
        "ties of round up", ("rounded to whole numbers to nearest, ties up",), halves, lambda x: torch.floor(x + 0.5)
    )
    to_integer = _rows("cast", "float32", "wide", dtype="int32")
    yield Plant(
        "a cast that rounds",
        ("rounded to whole numbers to nearest even",),
        to_integer,
        lambda x, **_: torch.round(x).int(),
    )


def _unexplained() -> Iterator[Plant]:
    gemm, softmax = _gemm("float32", 128), _rows("softmax", "float32", dim=-1)
    half, exp = _gemm("float16", 128), _rows("exp", "float32")
    yield Plant("an output off by one row", UNEXPLAINED, gemm, _after(torch.matmul, lambda x: x.roll(1, 0)))
    yield Plant("two elements exchanged", UNEXPLAINED, half, _after(torch.matmul, _exchanged))
    yield Plant("a tile unwritten", UNEXPLAINED, gemm, _after(torch.matmul, _unwritten))
    yield Plant("the last term dropped", UNEXPLAINED, gemm, lambda a, b: a[:, :-1] @ b[:-1])
    yield Plant(
        "a term counted twice",
        UNEXPLAINED,
        half,
        lambda a, b: (a.float() @ b.float() + a[:, :1].float() * b[:1]).half(),
    )
    for size in (1e-2, 1e-4):
        yield Plant(f"noise of {size:g}", UNEXPLAINED, gemm, _after(torch.matmul, functools.partial(_noisy, size=size)))
    yield Plant("everything a thousandth too small", UNEXPLAINED, gemm, _after(torch.matmul, lambda x: x * 0.999))
    positive = _gemm("float16", 256, "positive")
    yield Plant("a bias of all results", UNEXPLAINED, positive, _after(torch.matmul, lambda x: x * 0.995))
    divide = Case("floor_divide", "int32", {"x": [32, 64], "y": [32, 64]})
    yield Plant("integers divided toward zero", UNEXPLAINED, divide, _divided_toward_zero)
    yield Plant("a wrong table entry", UNEXPLAINED, exp, _wrong_entry)
    yield Plant("a wrong temperature", UNEXPLAINED, softmax, lambda x, dim: torch.softmax(x * 1.001, dim))
    yield Plant("a wrong axis", UNEXPLAINED, softmax, lambda x, dim: torch.softmax(x, 0))
    attention = _attention("float32")
    yield Plant(
        "a wrong scale", UNEXPLAINED, attention, lambda q, k, v, **how: _attended(lambda p: p)(q * 1.01, k, v, **how)
    )
    yield Plant(
        "an eps forgotten",
        UNEXPLAINED,
        _normalized(),
        lambda x, weight, eps: x * torch.rsqrt((x * x).mean(-1, keepdim=True)) * weight,
    )


def _normalized() -> Case:
    return Case("rms_norm", "float32", {"x": [32, 64]}, {"eps": 2.0**-10})


def _exchanged(x: torch.Tensor) -> torch.Tensor:
    order = list(range(x.shape[1]))
    return x[:, [1, 0, *order[2:]]]


def _unwritten(x: torch.Tensor) -> torch.Tensor:
    x[-16:, -16:] = 0
    return x


def _noisy(x: torch.Tensor, size: float) -> torch.Tensor:
    return x * (1 + size * torch.randn(x.shape, generator=torch.Generator().manual_seed(0)))


def _divided_toward_zero(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.div(x, y.where(y != 0, 1), rounding_mode="trunc")


def _wrong_entry(x: torch.Tensor) -> torch.Tensor:
    """An exp with a table of 32 entries, one of which has a wrong digit."""
    entry = torch.floor(x * 1.4426950408889634 * 32).remainder(32)
    return torch.exp(x) * torch.where(entry == 11, 1.001, 1.0)
