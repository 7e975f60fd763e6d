"""What the PyTorch files share: matrix products as precise as the contract says, whatever the process has set.

And attention by such products, for the files of its kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

_SHORTCUTS = (
    "allow_fp16_accumulation",
    "allow_fp16_reduced_precision_reduction",
    "allow_bf16_reduced_precision_reduction",
)
"""Settings of torch.backends.cuda.matmul that let narrow types be accumulated in narrow types."""


@contextmanager
def precision(float32: str) -> Iterator[None]:
    """Run matrix products at the precision that ``float32`` says, and accumulate narrow types in float32.

    ``float32`` is one of torch.set_float32_matmul_precision's. The settings are the process's own and some are
    loose by default, so what the contract promises is set for the call and put back after it.
    """
    settings = torch.backends.cuda.matmul
    shortcuts = {name: getattr(settings, name) for name in _SHORTCUTS}
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision(float32)
        for name in shortcuts:
            setattr(settings, name, False)
        yield
    finally:
        torch.set_float32_matmul_precision(before)
        for name, value in shortcuts.items():
            setattr(settings, name, value)


def wide(x: torch.Tensor) -> torch.Tensor:
    """Return ``x`` in the dtype that contracts compute it in: float32 for narrower ones."""
    return x if x.dtype == torch.float64 else x.float()


def attended(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    seen: torch.Tensor,
    *,
    scale: float | None,
    softcap: float | None = None,
) -> torch.Tensor:
    """Return softmax(scale q k^T) v over the keys that are ``seen``, by whole matrices, as precise as is set.

    Tensors are (..., heads, length, size); a head of ``k`` and ``v`` may serve several of ``q``. ``seen`` broadcasts
    to the scores; ``scale`` None is 1 / sqrt(size); a ``softcap`` c makes c tanh(score / c) of a score.
    """
    groups = q.shape[-3] // k.shape[-3]
    keys, values = (wide(x).repeat_interleave(groups, -3) for x in (k, v))
    scores = torch.matmul(wide(q), keys.transpose(-1, -2)) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    weights = torch.softmax(scores.masked_fill(~seen, float("-inf")), -1)
    return torch.matmul(weights, values).to(q.dtype)


def gradients(
    function: Callable[..., torch.Tensor], grad: torch.Tensor, *tensors: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    """Return the gradients of ``tensors`` by PyTorch's own backward of ``function``, given that of its result.

    Narrow types are computed in float32, and each gradient is rounded once, at the end.
    """
    inputs = [wide(x).detach().requires_grad_() for x in tensors]
    with torch.enable_grad():
        result = function(*inputs)
    found = torch.autograd.grad(result, inputs, wide(grad))
    return tuple(one.to(x.dtype).contiguous() for one, x in zip(found, tensors, strict=True))
