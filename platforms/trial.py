"""Tiny computations that show what torch can do on a device: capabilities are found out by trying."""

from __future__ import annotations

import os
import shutil

import torch

from golden.dtypes import DTYPES, FLOAT8S


def lacking_dtypes(device: str) -> dict[str, str]:
    """Return the dtypes that torch cannot add up on ``device``, or keep there, each with the reason."""
    return {name: reason for name in DTYPES if (reason := _trouble(name, device))}


def doubles(name: str) -> list[float]:
    """Return what 1, 2 and -3 of dtype ``name`` are when they are added to themselves."""
    return [2.0, 4.0, 250.0 if name == "uint8" else -6.0]  # which wraps around


_WIDE = {"float64": 1 + 2.0**-23 + 2.0**-52, "int64": 2**62 + 3}
"""A number of each dtype that some devices keep with half of its bits, which is then another one."""

_NARROWED: dict[str, dict[float, str]] = {
    "float64": {1 + 2.0**-23: "it is kept as float32"},
    "int64": {3: "it is kept as int32, which wraps around", 2**31 - 1: "it is kept as int32, which saturates"},
}
"""What becomes of that number in narrower dtypes."""


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
        number = _WIDE.get(name, 1)
        widest = torch.float64 if isinstance(number, float) else torch.int64
        wide = torch.tensor([number], dtype=widest).to(getattr(torch, name)).to(device)
        kept = wide if name in FLOAT8S else wide * torch.ones_like(wide)
        if (back := kept.cpu().tolist()[0]) != number:
            return f"{_NARROWED[name].get(back, 'it is kept with fewer bits')}: {number} times 1 gives {back}"
    except Exception as error:  # whatever it is, it is the reason
        return f"{type(error).__name__}: {error}".splitlines()[0][:200]
    return "" if doubled == doubles(name) else f"1, 2, -3 added to themselves give {doubled}"
