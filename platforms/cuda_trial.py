"""A tiny kernel that shows whether CUDA C++ can be compiled for a device, and run there: found out by trying."""

from __future__ import annotations

from kernels.toolchains.cuda import CudaSource
from platforms.cxx_trial import lacking


def lacking_in_cuda(device: str) -> dict[str, str]:
    """Return what kernels in CUDA C++ cannot do on ``device``, each with the reason.

    Keys are ``"cuda/<dtype>"``, or the one key ``"cuda"`` when nothing can be compiled or run.
    """
    return lacking(CudaSource(__file__), "cuda", device)
