"""Reductions, scans and gradients once more: formulas over arrays of numbers of 300 bits, for ``test_golden``.

Those of several results give a tuple.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np

CONTEXT = mpmath.mp.clone()
CONTEXT.prec = 300

EXP, LOG, SQRT = (np.vectorize(getattr(CONTEXT, name), otypes=[object]) for name in ("exp", "log", "sqrt"))


def softmax(x: np.ndarray, *, dim: int) -> np.ndarray:
    powers = EXP(x)
    return powers / powers.sum(axis=dim, keepdims=True)


def log_softmax(x: np.ndarray, *, dim: int) -> np.ndarray:
    return x - LOG(EXP(x).sum(axis=dim, keepdims=True))


def causal_softmax(x: np.ndarray) -> np.ndarray:
    powers = EXP(x) * np.tri(x.shape[-1], dtype=int)
    return powers / powers.sum(axis=-1, keepdims=True)


def cumsum(x: np.ndarray, *, dim: int, reverse: bool) -> np.ndarray:
    return np.flip(np.cumsum(np.flip(x, dim), dim), dim) if reverse else np.cumsum(x, dim)


def var_mean(x: np.ndarray, *, dim: int) -> tuple[np.ndarray, np.ndarray]:
    n = x.shape[dim]
    mean = x.sum(axis=dim) / n
    if n == 1:
        return np.full(mean.shape, CONTEXT.nan, object), mean
    return ((x**2).sum(axis=dim) - n * mean**2) / (n - 1), mean


def sort(x: np.ndarray, *, dim: int, descending: bool) -> tuple[np.ndarray, np.ndarray]:
    index = np.argsort(-x if descending else x, dim)
    return np.take_along_axis(x, index, dim), index


def topk(x: np.ndarray, *, k: int) -> tuple[np.ndarray, np.ndarray]:
    values, index = sort(x, dim=-1, descending=True)
    return values[..., :k], index[..., :k]


def linear_scan(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    states = np.array(b)
    for t in range(1, a.shape[-1]):
        states[..., t] = sum(np.prod(a[..., start + 1 : t + 1], axis=-1) * b[..., start] for start in range(t + 1))
    return states


def softmax_backward(grad: np.ndarray, x: np.ndarray, *, dim: int) -> np.ndarray:
    y = softmax(x, dim=dim)
    return y * grad - y * (y * grad).sum(axis=dim, keepdims=True)


def log_softmax_backward(grad: np.ndarray, x: np.ndarray, *, dim: int) -> np.ndarray:
    return grad - softmax(x, dim=dim) * grad.sum(axis=dim, keepdims=True)


def cross_entropy_backward(grad: np.ndarray, logits: np.ndarray, target: np.ndarray) -> np.ndarray:
    result = softmax(logits, dim=-1)
    result[np.arange(target.size), target] -= 1
    return result * (grad / target.size)


def rms_norm_backward(
    grad: np.ndarray, x: np.ndarray, weight: np.ndarray, *, eps: float
) -> tuple[np.ndarray, np.ndarray]:
    n = x.shape[-1]
    root = SQRT((x**2).sum(-1, keepdims=True) / n + CONTEXT.mpf(eps))
    dy = grad * weight
    of_x = dy / root - x * ((dy * x).sum(-1, keepdims=True) / n) / root**3
    return of_x, (grad * x / root).reshape(-1, n).sum(0)


def layer_norm_backward(
    grad: np.ndarray, x: np.ndarray, weight: np.ndarray, bias: np.ndarray, *, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n = x.shape[-1]
    away = x - x.sum(-1, keepdims=True) / n
    root = SQRT((away**2).sum(-1, keepdims=True) / n + CONTEXT.mpf(eps))
    dy = grad * weight
    of_x = (dy - dy.sum(-1, keepdims=True) / n) / root - away * ((dy * away).sum(-1, keepdims=True) / n) / root**3
    return of_x, (grad * away / root).reshape(-1, n).sum(0), grad.reshape(-1, n).sum(0)


FORMULAS: dict[str, Callable[..., Any]] = {
    "sum": lambda x, *, dim: x.sum(axis=dim),
    "log_softmax": log_softmax,
    "causal_softmax": causal_softmax,
    "argmax": lambda x, *, dim: x.argmax(axis=dim),
    "argmin": lambda x, *, dim: x.argmin(axis=dim),
    "max": lambda x, *, dim: (x.max(axis=dim), x.argmax(axis=dim)),
    "cumsum": cumsum,
    "var_mean": var_mean,
    "sort": sort,
    "topk": topk,
    "histogram": lambda index, *, bins: np.array([(index == one).sum() for one in range(bins)]),
    "linear_scan": linear_scan,
    "softmax_backward": softmax_backward,
    "log_softmax_backward": log_softmax_backward,
    "cross_entropy_backward": cross_entropy_backward,
    "rms_norm_backward": rms_norm_backward,
    "layer_norm_backward": layer_norm_backward,
}
"""Operation to formula."""
