"""What the contracts of attention have in common: the formula over enclosures, which keys a query sees, and sizes.

Tensors are (..., heads, length, size) here, and a head of k and v may serve several of q's, each the same number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, CaseError
from golden.enclosure import constant
from kernels import strategies
from kernels.operation import Operation

LOG2_E = 1.4426950408889634

WORK = 16
"""Scores that a case may have, in elements of the largest tensor: they are the work, and no tensor holds them."""


def tensors_of(operation: Operation, case: Case) -> dict[str, tuple[int, ...]]:
    """Return the shapes of q, k and v of an ``operation`` on whole batches; raises CaseError."""
    b, h, hk, sq, sk, d = operation.size(case, "b", "h", "hk", "sq", "sk", "d")
    if not hk or h % hk or not sk or not d:
        raise CaseError(f"{operation.name} needs h a multiple of hk, and sk and d of 1 or more, not {dict(case.dims)}")
    return {"q": (b, h, sq, d), "k": (b, hk, sk, d), "v": (b, hk, sk, d)}


@st.composite
def drawn(draw: st.DrawFn, budget: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Draw dims and params of attention: head sizes that models have and others, grouped heads, lengths that differ."""
    d = draw(st.sampled_from([size for size in (64, 32, 16, 80, 96, 128, 8, 33, 1) if 4 * size <= budget] or [1]))
    hk, groups, b = (draw(st.sampled_from(numbers)) for numbers in ([1, 1, 2], [1, 1, 2, 3, 4], [1, 1, 1, 2, 0]))
    heads = hk * groups * max(b, 1)
    room = min(max(budget // (d * heads), 1), 1100)
    sq = draw(strategies.sizes(room, least=1))
    sk = draw(strategies.sizes(min(room, max(WORK * budget // (heads * sq), 1)), least=1))
    params = {
        "causal": draw(st.booleans()),
        "scale": draw(st.sampled_from([None, None, 0.125, 1.0])),
        "softcap": draw(st.sampled_from([None, None, None, 30.0])),
        "window": draw(st.sampled_from([None, None, None, 1, 5, 64])),
    }
    return {"b": b, "h": hk * groups, "hk": hk, "sq": sq, "sk": sk, "d": d}, params


def visible(queries: int, keys: int, *, causal: bool, window: int | None = None, offset: int = 0) -> np.ndarray:
    """Return which key each query sees, as booleans of shape (queries, keys).

    Query i stands at key i + ``offset``: ``causal``, it sees that one and those before it; with a ``window``, those
    less than that away.
    """
    ahead = np.arange(keys)[None, :] - np.arange(queries)[:, None] - offset
    seen = ahead <= 0 if causal else np.ones_like(ahead, bool)
    return seen if window is None else seen & (np.abs(ahead) < window)


def attended(q: Any, k: Any, v: Any, seen: np.ndarray, *, scale: float | None, softcap: float | None = None) -> Any:
    """Return softmax(scale q k^T) v over the keys that are ``seen``, booleans of shape (queries, keys).

    ``scale`` None is 1 / sqrt(size), and a ``softcap`` c makes c tanh(score / c) of a score. Open is a query that sees
    no key, and one that does not see where a NaN or an infinity stands: it may get that as 0 * NaN, or not.
    """
    groups = np.shape(enclosure.numbers(q))[-3] // np.shape(enclosure.numbers(k))[-3]
    k, v = (enclosure.repeated(x, groups, -3) for x in (k, v))
    scores = masked(capped(products(q, k, scale), softcap), seen)
    peak = enclosure.amax(scores, -1)
    log2_e = constant(LOG2_E, q)
    p = enclosure.either(enclosure.exp(scores - peak), enclosure.exp2(scores * log2_e - peak * log2_e))
    return enclosure.opened(enclosure.averaged(p, v), unseen(seen) | hides_special(seen, k, v))


def products(q: Any, k: Any, scale: float | None) -> Any:
    """Return the scores, scale q k^T."""
    size = float(np.shape(enclosure.numbers(q))[-1])
    factor = enclosure.rsqrt(constant(size, q)) if scale is None else constant(scale, q)
    return enclosure.kept(enclosure.matmul(q, enclosure.swapped(k, -1, -2)) * factor)


def capped(scores: Any, softcap: float | None) -> Any:
    """Return ``scores``, or c tanh(scores / c) for a ``softcap`` c."""
    if softcap is None:
        return scores
    cap = constant(softcap, scores)
    return enclosure.tanh(scores / cap) * cap


def masked(scores: Any, seen: np.ndarray) -> Any:
    """Return ``scores`` with -inf where nothing is seen."""
    return enclosure.where(seen, scores, -np.inf)


def unseen(seen: np.ndarray) -> np.ndarray:
    """Return which queries see no key, as a column."""
    return np.asarray(~seen.any(-1, keepdims=True))


def hides_special(seen: np.ndarray, k: Any, v: Any) -> np.ndarray:
    """Return, as a column for each head, which queries do not see a key that is not finite, or its value."""
    finite = np.isfinite(enclosure.numbers(k)) & np.isfinite(enclosure.numbers(v))
    special = np.swapaxes(~finite.all(-1, keepdims=True), -1, -2)
    return np.swapaxes(np.matmul(special.astype(np.float64), ~seen.T), -1, -2) > 0


def attended_by_one(q: Any, k: Any, v: Any, *, scale: float | None) -> Any:
    """Return what one query, (1, heads, size), gets of all keys and values of its sequence, in the same shape."""
    seen = np.ones((1, np.shape(enclosure.numbers(k))[-2]), bool)
    result = attended(enclosure.swapped(q, 0, 1), k, v, seen, scale=scale)
    return enclosure.swapped(result, 0, 1)
