"""Is what an implementation declares what it is judged by: no less, and no more?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from golden.case import Case, TensorSpec
from golden.dtypes import encode
from golden.judge import judge
from golden.numerics import WORDS, check, meaning, relaxed
from golden.precision import Accumulator, Operands, Precision
from golden.rounding import round_significand
from suites.meta.test_judge import OPERATIONS, gemm_case, sealed, single

Product = Callable[[np.ndarray, np.ndarray], np.ndarray]


def summed(a: np.ndarray, b: np.ndarray, *, bits: int, mode: str = "nearest", chunk: int = 10**9) -> np.ndarray:
    """Sum products in an accumulator of ``bits``, whose sums are added up in float32 after each ``chunk``."""
    outer, inner = np.zeros((2, a.shape[0], b.shape[1]))
    for k in range(a.shape[1]):
        inner = round_significand(inner + a[:, k : k + 1] * b[k], bits, mode)
        if (k + 1) % chunk == 0:
            outer, inner = round_significand(outer + inner, 24), np.zeros_like(inner)
    return round_significand(outer + inner, 24)


def split(x: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
    high = round_significand(x, bits)
    return high, round_significand(x - high, bits)


def three_products(bits: int) -> Product:
    def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        (a_high, a_low), (b_high, b_low) = split(a, bits), split(b, bits)
        small = single(a_high) @ single(b_low) + single(a_low) @ single(b_high)
        return (single(a_high) @ single(b_high) + small).astype(np.float64)

    return multiply


def rounded_to(bits: int, mode: str) -> Product:
    def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        left, right = (single(round_significand(x, bits, mode)) for x in (a, b))
        return (left @ right).astype(np.float64)

    return multiply


def accumulating(**how: object) -> Product:
    return lambda a, b: summed(a, b, **how)  # type: ignore[arg-type]


CASES: list[tuple[str, str, Product, str]] = [
    # what is declared, dtype, what is computed, and the regime that tells
    ("tf32", "float32", rounded_to(11, "truncated"), "normal"),
    ("bf16", "float32", rounded_to(8, "nearest"), "normal"),
    ("tf32x3", "float32", three_products(11), "normal"),
    ("bf16x3", "float32", three_products(8), "normal"),
    ("fp16-accumulator", "float16", accumulating(bits=11), "normal"),
    ("accumulator14", "float32", accumulating(bits=14), "normal"),
    ("accumulator14", "float32", accumulating(bits=14, mode="truncated"), "positive"),
    ("accumulator14+chunk32", "float32", accumulating(bits=14, mode="truncated", chunk=32), "positive"),
]


@pytest.mark.parametrize(("declared", "dtype", "product", "regime"), CASES)
def test_what_is_declared_passes_and_what_is_not_does_not(
    declared: str, dtype: str, product: Product, regime: str
) -> None:
    # Many terms hide what is lost of each.
    case = gemm_case(dtype, (24, 24, 2 if declared.endswith("x3") else 256), (regime, regime))
    golden, values = sealed("gemm", case)
    output = encode(product(values["a"], values["b"]), dtype)
    assert not judge(golden, output).passes
    ways = relaxed(OPERATIONS["gemm"].precision(dtype), declared, dtype)
    assert any(judge(sealed("gemm", case, way)[0], output).passes for way in ways)


@pytest.mark.parametrize(
    ("declared", "product", "regime"),
    [
        ("tf32", rounded_to(8, "nearest"), "normal"),
        ("tf32x3", three_products(8), "normal"),
        ("bf16x3", rounded_to(11, "nearest"), "normal"),
        ("accumulator14", accumulating(bits=8, mode="truncated"), "positive"),
        ("accumulator14+chunk32", accumulating(bits=14, mode="truncated"), "positive"),
    ],
)
def test_a_declaration_covers_nothing_looser(declared: str, product: Product, regime: str) -> None:
    case = gemm_case("float32", (24, 24, 2 if declared.endswith("x3") else 1024), (regime, regime))
    _, values = sealed("gemm", case)
    output = encode(product(values["a"], values["b"]), "float32")
    ways = relaxed(OPERATIONS["gemm"].precision("float32"), declared, "float32")
    assert ways
    assert not any(judge(sealed("gemm", case, way)[0], output).passes for way in ways)


def added_up(x: np.ndarray, flushed_below: float) -> np.ndarray:
    """Sum rows one term after another in float32, with operands and results below ``flushed_below`` taken for zero."""
    total = np.zeros(len(x), np.float32)
    for term in single(x).T:
        for operand in (total, term):
            operand[np.abs(operand) < flushed_below] = 0
        total = total + term
    total[np.abs(total) < flushed_below] = 0
    return total


def test_a_sum_that_flushes_says_so_and_flushes_subnormal_numbers_alone() -> None:
    case = Case("sum", "float32", {"x": [32, 4]}, {"dim": 1}, {"x": TensorSpec("subnormal")})
    (way,) = relaxed(OPERATIONS["sum"].precision("float32"), "flushed", "float32")
    (golden, values), (declared, _) = sealed("sum", case), sealed("sum", case, way)
    tiny = float(np.finfo(np.float32).tiny)
    flushing, kept = (added_up(values["x"], below) for below in (tiny, 0.0))
    assert judge(golden, kept).passes
    assert judge(golden, flushing).status == "wrong"
    assert judge(declared, flushing).passes
    normal = replace(case, tensors={"x": TensorSpec("normal")})
    (golden, values), (declared, _) = sealed("sum", normal), sealed("sum", normal, way)
    too_much = added_up(values["x"], 0.25)
    assert [judge(one, too_much).status for one in (golden, declared)] == ["wrong", "wrong"]


def test_words_combine() -> None:
    ways = relaxed(Precision("float32"), "tf32+accumulator13+chunk128", "float32")
    assert len(ways) == 6
    assert {way.operands for way in ways} == {Operands(11, mode) for mode in ("nearest", "away", "truncated")}
    assert {way.accumulator for way in ways} == {
        Accumulator(bits=13, mode=mode, chunk=128) for mode in ("nearest", "truncated")
    }


def test_a_word_that_changes_nothing_for_a_dtype_relaxes_nothing() -> None:
    assert relaxed(Precision("float32", fed="bfloat16"), "tf32", "bfloat16") == ()
    assert relaxed(Precision("float32"), "ieee", "float32") == ()
    assert relaxed(Precision("float32"), "narrow", "float32") == ()
    assert [way.kept for way in relaxed(Precision("float32"), "narrow", "float16")] == ["float16"]


@pytest.mark.parametrize("declared", ["tf33", "accumulator", "accumulator99", "chunk0", "tf32 + ieee", ""])
def test_a_declaration_that_makes_no_sense_is_refused(declared: str) -> None:
    with pytest.raises(ValueError, match=r"unknown numerics|takes"):
        check(declared)


def test_every_word_has_a_meaning() -> None:
    assert all(sentence for sentence, _ in WORDS.values())
    assert meaning("tf32+chunk64").startswith(
        "float32 operands of matrix products rounded to 11 significand bits; that"
    )


def test_fast_math_loosens_functions_of_float32_and_nothing_else() -> None:
    (fast,) = relaxed(Precision("float32"), "fast-math", "float32")
    assert fast.accuracy("tanh").ulp == 4096 > Precision("float32").accuracy("tanh").ulp
    assert relaxed(Precision("float64"), "fast-math", "float64") == ()
