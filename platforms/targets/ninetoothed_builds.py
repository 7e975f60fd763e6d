"""What an implementation in NineToothed launches: kernels in Triton, which it writes."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version

import ninetoothed

from platforms.targets import triton_builds
from platforms.targets.toolchain import Toolchain


def toolchain() -> Toolchain:
    """Return NineToothed with Triton's compilers; raises ModuleNotFoundError where it is not installed."""
    below = triton_builds.toolchain()
    title = f"NineToothed {version(ninetoothed.__name__)} on {below.compiler}"
    return replace(below, paradigm="ninetoothed", compiler=title)
