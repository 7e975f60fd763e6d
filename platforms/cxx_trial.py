"""A tiny kernel that shows whether C++ can be compiled for the process's target, and run: found out by trying."""

from __future__ import annotations

import subprocess
from typing import Protocol

import torch

from golden.dtypes import DTYPES
from kernels.toolchains.cxx.abi import DTYPES as COMPILED
from kernels.toolchains.cxx.build import BuildError
from kernels.toolchains.cxx.source import Source


class Kernels(Protocol):
    """Kernels that can be called by name on tensors."""

    def call(self, name: str, *tensors: torch.Tensor) -> None: ...


def lacking_in_cpp() -> dict[str, str]:
    """Return what kernels in C++ cannot do on this process's target, each with the reason.

    Keys are ``"cpp/<dtype>"``, or the one key ``"cpp"`` when nothing can be compiled or run.
    """
    return lacking(Source(__file__), "cpp", "cpu")


def lacking(kernels: Kernels, paradigm: str, device: str) -> dict[str, str]:
    """Return the same of ``kernels``, one of which is ``doubled``, for tensors on ``device``."""
    reasons = {name: reason for name in DTYPES if (reason := _trouble(kernels, name, device))}
    if len(reasons) == len(DTYPES):
        return {paradigm: reasons["float32"]}
    return {f"{paradigm}/{name}": reason for name, reason in reasons.items()}


def version(command: str) -> str:
    """Return the first line of what ``command`` calls itself."""
    ended = subprocess.run([command, "--version"], capture_output=True, text=True, check=False)
    return (ended.stdout.splitlines() or [""])[0]


def _trouble(kernels: Kernels, name: str, device: str) -> str:
    dtype = getattr(torch, name)
    if dtype not in COMPILED:
        return "these kernels have no such element type"
    try:
        x = torch.tensor([1.0, 2.0, -3.0]).to(dtype).to(device)
        out = torch.empty_like(x)
        kernels.call("doubled", x, out)
    except BuildError as error:
        return str(error)[:1000]
    except Exception as error:  # whatever it is, it is the reason
        return f"{type(error).__name__}: {error}".splitlines()[0][:200]
    return "" if torch.equal(out, x + x) else f"{x.tolist()} added to themselves give {out.tolist()}"
