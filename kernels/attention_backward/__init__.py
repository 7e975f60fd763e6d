"""attention_backward(grad, q, k, v, *, causal, scale, softcap, window): the gradients of attention's inputs."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, Form
from golden.dtypes import dtype_of
from golden.enclosure import Enclosure, constant
from kernels.operation import Operation
from kernels.scaled_dot_product import LOG2_E, capped, drawn, masked, products, tensors_of, visible

_DRAWN = ("normal", "shifted", "positive", "integers", "wide", "cancelling", "subnormal", "signed_zero")


class AttentionBackward(Operation):
    """The gradients dq, dk and dv of attention, given ``grad``, that of its result; all as attention says.

    P = softmax of the scores, O = P v; dv = P^T grad, dP = grad v^T, dS = P (dP - rowsum(grad O)), times the slope of
    the cap where there is one, dq = scale dS k and dk = scale dS^T q. A head of k and v that serves several of q gets
    the sum over them. float16 and bfloat16 are computed in float32; P and dS may be rounded to the narrow type before
    they are multiplied, and O as forward passes store it. P may be recomputed from the logarithm of its row's sum.

    Dao et al., "FlashAttention: fast and memory-efficient exact attention with IO-awareness", NeurIPS 2022, appendix B.
    """

    name = "attention_backward"
    multiplies_matrices = True
    toothless: ClassVar = {
        "permuted": "of a single key dv is the sum of the rows of grad, in any order, and dq and dk are 0",
        "lower inputs": "where scores reach hundreds, an error in their last bits moves P by more than tf32 inputs do",
    }
    policies: ClassVar = {
        "NaN": "open: what becomes of special values is not drawn",
        "fully masked": "a query that sees no key takes no part: its dq is 0, and it adds nothing to dk and dv",
        "overflow": "open where dS exceeds the range of the narrow type that it may be rounded to",
        "no keys": "not a valid input",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        forward = tensors_of(self, case)
        return {"grad": forward["q"], **forward}

    def results(self, case: Case) -> dict[str, Form]:
        return {f"d{name}": Form(shape, case.dtype) for name, shape in tensors_of(self, case).items()}

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return drawn(budget // 2)  # it takes five products, and three passes over the scores

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        return tuple(regime for regime in super().regimes(dtype, tensor) if regime in _DRAWN)

    def reduced_axes(self, case: Case) -> dict[str, int]:
        return {"grad": -2}

    def reference(
        self,
        grad: Any,
        q: Any,
        k: Any,
        v: Any,
        *,
        causal: bool,
        scale: float | None,
        softcap: float | None,
        window: int | None,
    ) -> tuple[Any, Any, Any]:
        (batch, heads, queries, size), (_, shared, keys, _) = (np.shape(enclosure.numbers(x)) for x in (q, k))
        seen = visible(queries, keys, causal=causal, window=window)
        every_k, every_v = (enclosure.repeated(x, heads // shared, 1) for x in (k, v))
        scores = capped(products(q, every_k, scale), softcap)
        p = enclosure.where(seen, _shares(masked(scores, seen)), 0.0)
        dp = enclosure.matmul(grad, enclosure.swapped(every_v, -1, -2))
        result = _stored(enclosure.matmul(p, every_v))
        delta = enclosure.either(enclosure.total(grad * result, -1), enclosure.total(p * dp, -1))
        ds = p * (dp - delta)
        if softcap is not None:
            share = scores / constant(softcap, q)
            ds = ds * (constant(1.0, q) - share * share)
        ds = _within_range(enclosure.where(seen, ds, 0.0))

        def together(x: Any) -> Any:
            """Return ``x`` with the heads that share one of k and v as one, their queries one behind the other."""
            return enclosure.reshaped(x, (batch, shared, heads // shared * queries, np.shape(enclosure.numbers(x))[-1]))

        factor = enclosure.rsqrt(constant(float(size), q)) if scale is None else constant(scale, q)
        dq = enclosure.matmul(ds, every_k) * factor
        dk = enclosure.matmul(enclosure.swapped(together(ds), -1, -2), together(q)) * factor
        return dq, dk, enclosure.matmul(enclosure.swapped(together(p), -1, -2), together(grad))


def _shares(scores: Any) -> Any:
    """Return softmax(scores): exponentials over their sum, or less the logarithm of their sum; of e, or of 2."""
    peak, log2_e = enclosure.amax(scores, -1), constant(LOG2_E, scores)
    powers = enclosure.either(enclosure.exp(scores - peak), enclosure.exp2(scores * log2_e - peak * log2_e))
    total = enclosure.total(powers, -1)
    natural = enclosure.exp(scores - (peak + enclosure.log(total)))
    binary = enclosure.exp2(scores * log2_e - (peak * log2_e + enclosure.log2(total)))
    return enclosure.either(powers / total, enclosure.either(natural, binary))


def _stored(x: Any) -> Any:
    """Return ``x`` with room for implementations that keep it in the tensors' own narrow type."""
    return enclosure.rounded(x, x.precision.fed) if isinstance(x, Enclosure) and x.precision.fed else x


def _within_range(x: Any) -> Any:
    """Return ``x`` with elements left open that the narrow type of matrix units may have as infinities."""
    if not isinstance(x, Enclosure) or not x.precision.fed:
        return x
    return enclosure.opened(x, np.abs(x.value) + x.hard >= dtype_of(x.precision.fed).largest)
