"""Which element types a backend does not move between ranks, found out by trying; the rank's side of it."""

from __future__ import annotations

import torch

from kernels.spread import MOVED
from platforms.ranks.group import Group


def tried(group: Group, device: str) -> dict[str, str]:
    """Return for each dtype why a message of it cannot be sent, or ""; runs on the rank."""
    return {dtype: _why_not(group, device, dtype) for dtype in MOVED}


def _why_not(group: Group, device: str, dtype: str) -> str:
    try:
        x = torch.zeros(4, device=device).to(getattr(torch, dtype))
        group.broadcast(x, 0)
        group.all_gather(torch.empty_like(x), x)
        x.view(torch.uint8).cpu()
    except (RuntimeError, TypeError, ValueError, AttributeError) as error:
        return f"{type(error).__name__}: {error}".splitlines()[0][:300]
    return ""
