"""A tiny kernel that shows whether BANG C can be compiled for a device, and run there: found out by trying."""

from __future__ import annotations

from kernels.toolchains.bang import BangSource
from platforms.cxx_trial import lacking


def lacking_in_bang(device: str) -> dict[str, str]:
    """Return what kernels in BANG C cannot do on ``device``, each with the reason.

    Keys are ``"bang/<dtype>"``, or the one key ``"bang"`` when nothing can be compiled or run.
    """
    return lacking(BangSource(__file__), "bang", device)
