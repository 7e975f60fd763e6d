"""What an implementation may declare of its arithmetic, and what it is then judged by.

A declaration is one word, or several joined by ``+``: ``tf32``, ``accumulator14+chunk128``. Each word relaxes the
contract's precision in one way; the report lists it. ``ieee`` declares nothing: computed as the contract says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from golden.dtypes import dtype_of
from golden.precision import Accumulator, Operands, Precision
from golden.rounding import MODES

TF32_BITS, BFLOAT16_BITS = 11, 8
"""Significand bits, the leading one counted."""

Relaxations = tuple[Precision, ...]


def _operands(bits: int, parts: int = 1) -> Callable[[Precision, str, int], Relaxations]:
    modes = MODES if parts == 1 else ("nearest",)

    def relax(precision: Precision, dtype: str, _: int) -> Relaxations:
        if dtype != "float32":
            return ()
        return tuple(replace(precision, operands=Operands(bits, mode, parts)) for mode in modes)

    return relax


def _narrow(precision: Precision, dtype: str, _: int) -> Relaxations:
    if precision.dtype and dtype_of(dtype).unit > precision.unit:
        return (replace(precision, kept=dtype),)
    return ()


def _fast(precision: Precision, dtype: str, _: int) -> Relaxations:
    return (replace(precision, functions="fast"),) if precision.compute == "float32" else ()


def _half_accumulator(precision: Precision, dtype: str, _: int) -> Relaxations:
    return (_accumulating(precision, dtype="float16", bits=11),) if dtype == "float16" else ()


def _accumulator(precision: Precision, dtype: str, bits: int) -> Relaxations:
    if not 2 <= bits <= 24:
        raise ValueError(f"accumulator<bits> takes 2 to 24 bits, not {bits}")
    return tuple(_accumulating(precision, bits=bits, mode=mode) for mode in ("nearest", "truncated"))


def _chunk(precision: Precision, dtype: str, terms: int) -> Relaxations:
    if terms < 1:
        raise ValueError(f"chunk<terms> takes 1 term or more, not {terms}")
    return (_accumulating(precision, chunk=terms),)


def _per_hop(precision: Precision, dtype: str, _: int) -> Relaxations:
    if precision.dtype and dtype_of(dtype).is_float and dtype_of(dtype).unit > precision.unit:
        return (replace(precision, compute=dtype),)
    return ()


def _flushed(precision: Precision, dtype: str, _: int) -> Relaxations:
    return (replace(precision, flushed=dtype),) if dtype_of(dtype).is_float else ()


def _accumulating(precision: Precision, **changes: object) -> Precision:
    before = precision.accumulator or Accumulator(precision.compute, precision.significand)
    return replace(precision, accumulator=before._replace(**changes))  # type: ignore[arg-type]


WORDS: dict[str, tuple[str, Callable[[Precision, str, int], Relaxations] | None]] = {
    "ieee": ("computed as the contract says", None),
    "tf32": ("float32 operands of matrix products rounded to 11 significand bits", _operands(TF32_BITS)),
    "bf16": ("float32 operands of matrix products rounded to bfloat16", _operands(BFLOAT16_BITS)),
    "tf32x3": ("float32 operands split into two tf32 numbers, three products", _operands(TF32_BITS, 2)),
    "bf16x3": ("float32 operands split into two bfloat16 numbers, three products", _operands(BFLOAT16_BITS, 2)),
    "narrow": ("intermediate results kept in the tensors' own dtype between passes", _narrow),
    "fast-math": ("functions and divisions as accurate as fast-math builds have them", _fast),
    "fp16-accumulator": ("float16 products summed in float16", _half_accumulator),
    "accumulator<bits>": ("matrix products summed with that many significand bits, rounded or truncated", _accumulator),
    "chunk<terms>": ("that many terms summed in the declared accumulator, the sums in the contract's own", _chunk),
    "per-hop": ("sums over ranks rounded to the tensors' own dtype at every addition", _per_hop),
    "flushed": ("matrix products and sums take subnormal numbers for zero", _flushed),
}
"""Each word, what it means, and how it relaxes a precision; the place of a number is marked ``<...>``."""


def check(declaration: str) -> None:
    """Raise ValueError, which lists what there is, unless ``declaration`` is made of known words."""
    for word, number in _words(declaration):
        relax = WORDS[word][1]
        if relax:
            relax(Precision(), "float32", number)


def meaning(declaration: str) -> str:
    """Return what ``declaration`` says, in words."""
    return "; ".join(WORDS[word][0] for word, _ in _words(declaration))


def relaxed(precision: Precision, declaration: str, dtype: str) -> Relaxations:
    """Return ``precision`` as relaxed by ``declaration`` for tensors of ``dtype``.

    Several where hardware has several ways: an output must fit one of them as a whole. None where the declaration
    changes nothing for this dtype. Raises ValueError for words that are not known.
    """
    ways: Relaxations = (precision,)
    for word, number in _words(declaration):
        relax = WORDS[word][1]
        if relax:
            ways = tuple(looser for way in ways for looser in relax(way, dtype, number) or (way,))
    return tuple(way for way in ways if way != precision)


def _words(declaration: str) -> Iterator[tuple[str, int]]:
    for text in declaration.split("+"):
        for word in WORDS:
            stem, _, parameter = word.partition("<")
            match = re.fullmatch(rf"{re.escape(stem)}(\d+)" if parameter else re.escape(word), text)
            if match:
                yield word, int(match[1]) if parameter else 0
                break
        else:
            raise ValueError(f"unknown numerics {text!r}; there are {', '.join(WORDS)}, joined by '+'")
