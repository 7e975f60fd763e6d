"""rope in Triton: both elements of a pair are read, turned and written together."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels import implementation
from kernels.toolchains.triton import wide

TILE = 1024
"""Elements of a head's half, at several positions, that a program holds at a time."""

_HEADS = 8
"""Heads that a program goes along with the same angles."""


@triton.jit
def _turned(
    x, cos, sin, out, heads, length, size, half, x0, x1, x2, x3, cos0, cos1, sin0, sin1,
    HEADS: tl.constexpr, ROWS: tl.constexpr, HALF: tl.constexpr, REST: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    tiles, parts = tl.cdiv(length, ROWS), tl.cdiv(heads, HEADS)
    batch = (tl.program_id(0) // tiles // parts).to(tl.int64)
    begin = tl.program_id(0) // tiles % parts * HEADS
    row = (tl.program_id(0) % tiles * ROWS + tl.arange(0, ROWS)).to(tl.int64)[:, None]
    column, behind = tl.arange(0, HALF).to(tl.int64)[None, :], 2 * half + tl.arange(0, REST).to(tl.int64)[None, :]
    inside, copied = (row < length) & (column < half), (row < length) & (behind < size)
    cosine = tl.load(cos + row * cos0 + column * cos1, mask=inside, other=0.0).to(WIDE)
    sine = tl.load(sin + row * sin0 + column * sin1, mask=inside, other=0.0).to(WIDE)
    for number in range(begin, tl.minimum(begin + HEADS, heads)):
        head = tl.cast(number, tl.int64)
        source = x + batch * x0 + head * x1 + row * x2
        target = out + ((batch * heads + head) * length + row) * size
        first = tl.load(source + column * x3, mask=inside, other=0.0).to(WIDE)
        second = tl.load(source + (column + half) * x3, mask=inside, other=0.0).to(WIDE)
        tl.store(target + column, first * cosine - second * sine, mask=inside)
        tl.store(target + column + half, second * cosine + first * sine, mask=inside)
        tl.store(target + behind, tl.load(source + behind * x3, mask=copied, other=0.0), mask=copied)


def _launch(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, *, heads: int) -> torch.Tensor:
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if not out.numel():
        return out
    batch, all_heads, length, size = x.shape
    half = cos.shape[-1]
    width, rest = (triton.next_power_of_2(max(count, 1)) for count in (half, size - 2 * half))
    rows = max(1, min(TILE // max(width, rest), triton.next_power_of_2(length)))
    _turned[(batch * triton.cdiv(all_heads, heads) * triton.cdiv(length, rows),)](
        x, cos, sin, out, all_heads, length, size, half, *x.stride(), *cos.stride(), *sin.stride(),
        HEADS=heads, ROWS=rows, HALF=width, REST=rest, WIDE=wide(x.dtype),
    )  # fmt: skip
    return out


@implementation("rope", paradigm="triton")
def one_head(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Return ``x`` with the pairs of its first elements turned: a program for some positions of one head."""
    return _launch(x, cos, sin, heads=1)


@implementation("rope", paradigm="triton", optimizes="one_head", technique="angles kept for several heads")
def several_heads(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Return the same by programs that read the cosines and sines of their positions once for several heads."""
    return _launch(x, cos, sin, heads=_HEADS)
