"""A tiny kernel that shows which dtypes TileLang can compute with on a device: capabilities are found out by trying."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence

import torch

from golden.dtypes import DTYPES


def lacking_in_tilelang(device: str, dtypes: Sequence[str] = tuple(DTYPES)) -> dict[str, str]:
    """Return what of ``dtypes`` TileLang cannot do on ``device``, each with the reason; nothing where it is absent.

    Keys are ``"tilelang/<dtype>"``, or the one key ``"tilelang"`` when it can do nothing at all.
    """
    if importlib.util.find_spec("tilelang") is None:
        return {}
    try:
        from platforms.tilelang_trial_kernel import doubled
    except ImportError as error:
        return {"tilelang": f"does not import: {error}"}
    reasons = {name: reason for name in dtypes if (reason := _trouble(doubled, name, device))}
    if len(reasons) == len(dtypes):
        return {"tilelang": reasons["float32"]}
    return {f"tilelang/{name}": reason for name, reason in reasons.items()}


def _trouble(doubled, name: str, device: str) -> str:  # type: ignore[no-untyped-def]
    try:
        x = torch.tensor([1.0, 2.0, 3.0]).to(getattr(torch, name)).to(device)
        result = doubled(x).cpu().to(torch.float64).tolist()
    except Exception as error:  # whatever it is, it is the reason
        return f"{type(error).__name__}: {error}".splitlines()[0][:200]
    return "" if result == [2.0, 4.0, 6.0] else f"1, 2, 3 added to themselves give {result}"
