"""A tiny kernel that shows whether a vendor's compiler is there, and what it makes runs: found out by trying."""

from __future__ import annotations

from pathlib import Path

from kernels.toolchains.compiler import Compiler
from kernels.toolchains.native import NativeSource
from platforms.cxx_trial import lacking


def lacking_in_native(compiler: Compiler, device: str) -> dict[str, str]:
    """Return what kernels of the compiler's paradigm cannot do on ``device``, each with the reason.

    Keys are ``"<paradigm>/<dtype>"``, or the paradigm alone when nothing can be compiled or run.
    """
    source = compiler.trial or Path(__file__).with_name("cuda_trial.cu")
    return lacking(NativeSource(source, compiler.paradigm, source.suffix), compiler.paradigm, device)
