"""A tiny kernel that shows which dtypes an OpenCL device can compute with: capabilities are found out by trying."""

from __future__ import annotations

import torch

from kernels.toolchains.opencl import TYPES, launch

_SOURCE = r"""
__kernel void doubled(__global const T *x, long x_at, __global T *out, long out_at, long count)
{
    const long i = get_global_id(0);
    if (i < count)
        STORE(out, out_at + i, PLUS(LOAD(x, x_at + i), LOAD(x, x_at + i)));
}
"""


def lacking_in_opencl() -> dict[str, str]:
    """Return what kernels cannot do on this process's OpenCL device, each with the reason.

    Keys are ``"opencl/<dtype>"``, or the one key ``"opencl"`` when it can do nothing at all.
    """
    names = [str(dtype).removeprefix("torch.") for dtype in TYPES]
    reasons = {name: reason for name in names if (reason := _trouble(name))}
    if len(reasons) == len(names):
        return {"opencl": reasons["float32"]}
    return {f"opencl/{name}": reason for name, reason in reasons.items()}


def _trouble(name: str) -> str:
    x = torch.tensor([1.0, 2.0, -3.0]).to(getattr(torch, name))
    out = torch.empty_like(x)
    try:
        launch(_SOURCE, "doubled", [3], [x, out, 3], dtype=x.dtype)
    except Exception as error:  # whatever it is, it is the reason
        return f"{type(error).__name__}: {error}".splitlines()[0][:200]
    doubled = out.to(torch.float64).tolist()
    return "" if doubled == [2.0, 4.0, -6.0] else f"1, 2, -3 added to themselves give {doubled}"
