"""A tiny kernel that shows which dtypes Triton can compute with on a device: capabilities are found out by trying."""

from __future__ import annotations

import torch

from golden.dtypes import DTYPES
from platforms.trial import doubles


def lacking_in_triton(device: str) -> dict[str, str]:
    """Return what Triton cannot do on ``device``, each with the reason.

    Keys are ``"triton/<dtype>"``, or the one key ``"triton"`` when it can do nothing at all.
    """
    try:
        from platforms.triton_trial_kernel import doubled
    except ImportError as error:
        return {"triton": f"does not import: {error}"}
    reasons = {name: reason for name in DTYPES if (reason := _trouble(doubled, name, device))}
    if len(reasons) == len(DTYPES):
        return {"triton": reasons["float32"]}
    return {f"triton/{name}": reason for name, reason in reasons.items()}


def _trouble(doubled, name: str, device: str) -> str:  # type: ignore[no-untyped-def]
    try:
        x = torch.tensor([1.0, 2.0, -3.0]).to(getattr(torch, name)).to(device)
        result = doubled(x).cpu().to(torch.float64).tolist()
    except Exception as error:  # whatever it is, it is the reason
        return f"{type(error).__name__}: {error}".splitlines()[0][:200]
    return "" if result == doubles(name) else f"1, 2, -3 added to themselves give {result}"
