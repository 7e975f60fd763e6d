"""What a platform's additions in memory do with subnormal numbers. Runs in the platform's worker."""

from __future__ import annotations

import torch

from platforms.runner import Runner


def scattered_sum(*, dtype: str) -> dict[str, str]:
    """Return how the platform adds numbers of ``dtype`` to what an index names in memory, going by PyTorch's way to.

    ``subnormals``, "kept", "flushed" or "unknown": what becomes of a subnormal number that is added to zero.
    """
    kind, device = getattr(torch, dtype), Runner.current.platform.device
    subnormal = torch.finfo(kind).tiny / 4
    zero, index = torch.zeros(1, dtype=kind, device=device), torch.zeros(1, dtype=torch.int64, device=device)
    result = torch.index_add(zero, 0, index, torch.full_like(zero, subnormal))
    return {"subnormals": {subnormal: "kept", 0.0: "flushed"}.get(float(result), "unknown")}
