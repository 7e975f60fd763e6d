"""A tiny kernel that shows whether a vendor's compiler is there, and what it makes runs: found out by trying."""

from __future__ import annotations

from pathlib import Path

from kernels.toolchains.native import NativeSource
from platforms.cxx_trial import lacking

_SOURCES = {"bang": "bang_trial.mlu"}
"""Of the paradigms that do not read CUDA C++."""


def lacking_in_native(paradigm: str, device: str) -> dict[str, str]:
    """Return what kernels of ``paradigm`` cannot do on ``device``, each with the reason.

    Keys are ``"<paradigm>/<dtype>"``, or the paradigm alone when nothing can be compiled or run.
    """
    source = Path(__file__).with_name(_SOURCES.get(paradigm, "cuda_trial.cu"))
    return lacking(NativeSource(source, paradigm, source.suffix), paradigm, device)
