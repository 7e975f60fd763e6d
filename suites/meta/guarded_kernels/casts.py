"""Casts to and from narrow formats give the same bits as torch's."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from suites.meta.guarded_kernels.arithmetic import NARROW
from suites.meta.guarded_kernels.comparing import same_bits


@triton.jit
def _cast(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i).to(out_ptr.dtype.element_ty))


@triton.jit
def _truncate(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i).to(out_ptr.dtype.element_ty, fp_downcast_rounding="rtz"))


def _casts_like_torch(x: torch.Tensor, dtype: torch.dtype) -> None:
    out = torch.empty(x.shape, dtype=dtype)
    _cast[(1,)](x, out, BLOCK=x.numel())
    same_bits(out, x.to(dtype))


def _float32() -> torch.Tensor:
    """Every upper half of a float32, with lower halves at, next to and far from the middle."""
    upper = torch.arange(2**16, dtype=torch.int64) << 16
    lower = torch.tensor([0x0000, 0x0001, 0x8000, 0xFFFF])
    bits = (upper[:, None] + lower).flatten()
    return bits.to(torch.int32).view(torch.float32)


def check_float32_to_narrow() -> None:
    for dtype in NARROW:
        _casts_like_torch(_float32(), dtype)


def check_float16_to_narrow() -> None:
    for dtype in NARROW:
        _casts_like_torch(torch.arange(2**16, dtype=torch.int32).to(torch.int16).view(torch.float16), dtype)


def check_float64_to_narrow_goes_by_way_of_float32() -> None:
    middle = torch.cat([torch.arange(512.0, dtype=torch.float64) + 0.5, torch.arange(512.0, dtype=torch.float64) / 32])
    for nudge in (0.0, 2.0**-40, -(2.0**-40), 2.0**-20):
        for dtype in NARROW:
            _casts_like_torch(middle * (1 + nudge), dtype)


def check_integers_to_bfloat16() -> None:
    wide = torch.tensor([2**53 + 1, 2**24 + 1, -(2**40) - 2**16, 257, 255, -449, 464, 465] * 4)
    _casts_like_torch(wide, torch.bfloat16)
    _casts_like_torch(torch.arange(-(2**15), 2**15, dtype=torch.int16), torch.bfloat16)


def check_narrow_to_wider() -> None:
    for dtype in NARROW:
        count, bits = (2**16, torch.int16) if dtype == torch.bfloat16 else (2**8, torch.uint8)
        x = torch.arange(count, dtype=torch.int32).to(bits).view(dtype)
        for wider in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
            if wider != dtype:
                _casts_like_torch(x, wider)


def check_rounding_toward_zero() -> None:
    x = torch.tensor([1.0, 1.99, -1.99, 1e9, -1e9, 2**-8 * 1.49, 0.0, 0.3])
    expected = {
        torch.float8_e4m3fn: [1.0, 1.875, -1.875, 448.0, -448.0, 2**-8, 0.0, 0.28125],
        torch.float8_e5m2: [1.0, 1.75, -1.75, 57344.0, -57344.0, 1.25 * 2**-8, 0.0, 0.25],
        torch.bfloat16: [1.0, 1.984375, -1.984375, 998244352.0, -998244352.0, 1.484375 * 2**-8, 0.0, 0.298828125],
    }
    for dtype, values in expected.items():
        out = torch.empty(8, dtype=dtype)
        _truncate[(1,)](x, out, BLOCK=8)
        same_bits(out, torch.tensor(values).to(dtype))
