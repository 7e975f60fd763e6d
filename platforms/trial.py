"""Tiny computations that show what torch can do on a device: capabilities are found out by trying."""

from __future__ import annotations

import os
import shutil

import torch

from golden.dtypes import DTYPES, FLOAT8S
from platforms.narrowed import WIDE, narrowing


def lacking_dtypes(device: str) -> dict[str, str]:
    """Return the dtypes that torch cannot add up on ``device``, or keep there, each with the reason."""
    return {name: reason for name in DTYPES if (reason := _trouble(name, device))}


def doubles(name: str) -> list[float]:
    """Return what 1, 2 and -3 of dtype ``name`` are when they are added to themselves."""
    return [2.0, 4.0, 250.0 if name == "uint8" else -6.0]  # which wraps around


def missing_cpp_compiler() -> str:
    """Return why torch's compiler cannot make programs for the CPU, or ""."""
    names = [name for name in (os.environ.get("CXX"), "g++", "clang++", "c++") if name]
    if any(shutil.which(name) for name in names):
        return ""
    return f"it needs a C++ compiler, and there is none of {', '.join(names)} on PATH"


def _trouble(name: str, device: str) -> str:
    try:
        x = torch.tensor([1.0, 2.0, -3.0]).to(getattr(torch, name)).to(device)
        # Nobody adds numbers of one byte as they are.
        doubled = (2 * x.float() if name in FLOAT8S else x + x).cpu().to(torch.float64).tolist()
        number = WIDE.get(name, 1)
        widest = torch.float64 if isinstance(number, float) else torch.int64
        wide = torch.tensor([number], dtype=widest).to(getattr(torch, name)).to(device)
        kept = wide if name in FLOAT8S else wide * torch.ones_like(wide)
        if (back := kept.cpu().tolist()[0]) != number:
            return narrowing(name, back) if name in WIDE else f"1 times 1 gives {back}"
    except Exception as error:  # whatever it is, it is the reason
        return f"{type(error).__name__}: {error}".splitlines()[0][:200]
    return "" if doubled == doubles(name) else f"1, 2, -3 added to themselves give {doubled}"
