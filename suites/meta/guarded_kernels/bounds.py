"""Accesses outside of the arguments are found, and masked lanes that nobody gave a value are no zeros."""

from __future__ import annotations

from functools import partial

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from suites.meta.guarded_kernels.comparing import caught, error_of

OUTSIDE = "out of bounds"

_HAS_BLOCK_POINTERS = tuple(map(int, triton.__version__.split(".")[:2])) < (3, 9)


@triton.jit
def _copy(x_ptr, out_ptr, n, shift, MASKED: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if MASKED:
        tl.store(out_ptr + i, tl.load(x_ptr + i + shift, mask=i < n), mask=i < n)
    else:
        tl.store(out_ptr + i, tl.load(x_ptr + i + shift))


def check_a_load_past_the_end() -> None:
    x, out = torch.arange(100.0), torch.zeros(128)
    parts = ("load", "28 of 64 lanes", "4 bytes past the end of tensor 'x_ptr' of 400 bytes", "program (1, 0, 0)")
    caught(OUTSIDE, lambda: _copy[(2,)](x, out, 100, 0, False, BLOCK=64), *parts)
    _copy[(2,)](x, out, 100, 0, True, BLOCK=64)
    assert torch.equal(out[:100], x)


def check_a_load_before_the_beginning() -> None:
    x, out = torch.arange(64.0), torch.zeros(64)
    parts = ("load", "2 of 64 lanes", "8 bytes before tensor 'x_ptr' of 256 bytes", "program (0, 0, 0)")
    caught(OUTSIDE, lambda: _copy[(1,)](x, out, 64, -2, True, BLOCK=64), *parts)


def check_a_store_past_the_end_does_not_happen() -> None:
    storage = torch.zeros(128)
    parts = ("store", "28 of 64 lanes", "tensor 'out_ptr' of 400 bytes", "program (1, 0, 0)")
    caught(OUTSIDE, lambda: _copy[(2,)](torch.ones(128), storage[:100], 128, 0, False, BLOCK=64), *parts)
    assert storage.nonzero().flatten().tolist() == list(range(64))


def check_a_far_access_is_an_error_and_no_crash() -> None:
    x, out = torch.arange(64.0), torch.zeros(64)
    caught(OUTSIDE, lambda: _copy[(1,)](x, out, 64, 1 << 40, True, BLOCK=64), "64 of 64 lanes", "bytes past the end")
    caught(OUTSIDE, lambda: _copy[(1,)](x, out, 64, -(1 << 40), True, BLOCK=64), "64 of 64 lanes", "bytes before")


def check_a_view_ends_where_it_ends_and_not_with_its_storage() -> None:
    storage = torch.arange(1000.0)
    x, out = storage[100:163], torch.zeros(64)
    caught(OUTSIDE, lambda: _copy[(1,)](x, out, 64, 0, True, BLOCK=64), "1 of 64 lanes", "tensor 'x_ptr' of 252 bytes")
    _copy[(1,)](x, out, 63, 0, True, BLOCK=64)
    assert out.tolist() == [*range(100, 163), 0.0]


def check_a_tensor_without_elements_has_no_memory() -> None:
    out = torch.zeros(64)
    caught(OUTSIDE, lambda: _copy[(1,)](out[:0], torch.empty(0), 1, 0, True, BLOCK=64), "1 of 1 lanes")
    _copy[(1,)](out[:0], out, 0, 0, True, BLOCK=64)
    assert not out.any()


@triton.jit
def _strided(x_ptr, out_ptr, rows, columns, x_row, out_row, out_column, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_row + i, mask=i < columns)
    tl.store(out_ptr + row * out_row + i * out_column, x, mask=i < columns)


def check_strided_views_with_offsets_are_read_and_written_in_place() -> None:
    storage = torch.arange(1000.0)
    x = storage[7 : 7 + 5 * 20].view(5, 20)[:, 3:13]
    target = torch.full((16, 40), -1.0)
    out = target[2:12:2, 1:31:3]
    _strided[(5,)](x, out, 5, 10, x.stride(0), out.stride(0), out.stride(1), BLOCK=16)
    assert torch.equal(out, x)
    assert int((target == -1).sum()) == 16 * 40 - 50


def check_a_store_into_a_gap_between_rows() -> None:
    x, target = torch.ones(5, 10), torch.zeros(5, 16)
    out = target[:, :10]
    parts = ("store", "5 of 10 lanes", "gap", "byte 40 of tensor 'out_ptr' of 296 bytes", "program (1, 0, 0)")
    caught(OUTSIDE, lambda: _strided[(5,)](x, out, 5, 10, 10, 5 + 16 - 16, 1, BLOCK=16), *parts)


@triton.jit
def _count(place_ptr, total_ptr, swap_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    place = tl.load(place_ptr + i)
    tl.atomic_add(total_ptr + place, 1)
    tl.atomic_cas(swap_ptr + tl.max(place, 0), 0, 5)


def check_atomics() -> None:
    total, swap = torch.zeros(4, dtype=torch.int32), torch.zeros(4, dtype=torch.int32)
    _count[(3,)](torch.tensor([0, 1, 1, 3]), total, swap, BLOCK=4)
    assert total.tolist() == [3, 6, 0, 3]
    assert swap.tolist() == [0, 0, 0, 5]
    place = torch.tensor([0, 4, 1, 5])
    parts = ("atomic", "2 of 4 lanes", "4 bytes past the end of tensor 'total_ptr' of 16 bytes")
    caught(OUTSIDE, lambda: _count[(1,)](place, total[:], swap, BLOCK=4), *parts)
    wide = torch.zeros(6, dtype=torch.int32)
    parts = ("atomic", "1 of 1 lanes", "8 bytes past the end of tensor 'swap_ptr' of 16 bytes")
    caught(OUTSIDE, lambda: _count[(1,)](place, wide, swap, BLOCK=4), *parts)


@triton.jit
def _copy_by_descriptor(x_desc, out_ptr, rows, columns, BLOCK: tl.constexpr):
    out_desc = tl.make_tensor_descriptor(out_ptr, [rows, columns], [columns, 1], [BLOCK, BLOCK])
    out_desc.store([0, 0], x_desc.load([0, 0]))


def check_descriptors() -> None:
    storage = torch.arange(64.0)
    x = storage[:48].view(6, 8)
    out = torch.zeros(6, 8)
    _copy_by_descriptor[(1,)](TensorDescriptor.from_tensor(x, [8, 8]), out, 6, 8, BLOCK=8)
    assert torch.equal(out, x)
    lying = TensorDescriptor(x, [8, 8], [8, 1], [8, 8])
    parts = ("load", "16 of 64 lanes", "tensor 'x_desc' of 192 bytes")
    caught(OUTSIDE, lambda: _copy_by_descriptor[(1,)](lying, out, 6, 8, BLOCK=8), *parts)
    honest = TensorDescriptor.from_tensor(x, [8, 8])
    caught(OUTSIDE, lambda: _copy_by_descriptor[(1,)](honest, out, 7, 8, BLOCK=8), "store", "8 of 56 lanes")


@triton.jit
def _copy_by_block_pointer(x_ptr, out_ptr, rows, CHECKED: tl.constexpr):
    x = tl.make_block_ptr(x_ptr, (rows, 8), (8, 1), (0, 0), (8, 8), (1, 0))
    out = tl.make_block_ptr(out_ptr, (8, 8), (8, 1), (0, 0), (8, 8), (1, 0))
    if CHECKED:
        tl.store(out, tl.load(x, boundary_check=(0, 1), padding_option="nan"))
    else:
        tl.store(out, tl.load(x))


def check_block_pointers() -> None:
    if not _HAS_BLOCK_POINTERS:
        refused = error_of(lambda: _copy_by_block_pointer[(1,)](torch.zeros(6, 8), torch.zeros(8, 8), 6, True))
        assert "Block pointers have been removed" in str(refused)
        return
    for dtype in (torch.float32, torch.bfloat16):
        x, out = torch.arange(48).view(6, 8).to(dtype), torch.zeros(8, 8).to(dtype)
        _copy_by_block_pointer[(1,)](x, out, 6, True)
        assert torch.equal(out[:6], x)
        assert out[6:].isnan().all()
        caught(OUTSIDE, partial(_copy_by_block_pointer[(1,)], x, out, 6, False), "load", "16 of 64 lanes")


@triton.jit
def _pad_by_descriptor(x_ptr, out_ptr):
    x = tl.make_tensor_descriptor(x_ptr, [6, 8], [8, 1], [8, 8], padding_option="nan")
    i = tl.arange(0, 8)
    tl.store(out_ptr + i[:, None] * 8 + i[None, :], x.load([0, 0]))


def check_descriptors_pad_with_nan_in_every_format() -> None:
    for dtype in (torch.float32, torch.bfloat16):
        x, out = torch.arange(48).view(6, 8).to(dtype), torch.zeros(8, 8).to(dtype)
        _pad_by_descriptor[(1,)](x, out)
        assert torch.equal(out[:6], x)
        assert out[6:].isnan().all()


@triton.jit
def _load_masked(x_ptr, out_ptr, n, OTHER: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    if OTHER:
        tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n, other=0.0))
    else:
        tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n))


def check_masked_lanes_hold_poison() -> None:
    floats = (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2fnuz)
    for dtype in (*floats, torch.int64, torch.int32, torch.int16, torch.uint8):
        x, out = torch.ones(5).to(dtype), torch.zeros(8).to(dtype)
        _load_masked[(1,)](x, out, 5, False, BLOCK=8)
        assert torch.equal(out[:5].double(), torch.ones(5).double())
        if dtype in floats:
            assert out[5:].double().isnan().all()
        else:
            assert (out[5:].contiguous().view(torch.uint8) == 0xDB).all()
        _load_masked[(1,)](x, out, 5, True, BLOCK=8)
        assert out.double().tolist() == [1.0] * 5 + [0.0] * 3


@triton.jit
def _sum_padded(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr, tl.sum(tl.load(x_ptr + i, mask=i < n), 0))


def check_a_sum_over_lanes_without_other_is_seen() -> None:
    out = torch.zeros(1)
    _sum_padded[(1,)](torch.ones(5), out, 5, BLOCK=8)
    assert out.isnan().item()
    _sum_padded[(1,)](torch.ones(8), out, 8, BLOCK=8)
    assert out.item() == 8.0


@triton.jit
def _store_scalar(out_ptr, wanted):
    pid = tl.program_id(0)
    tl.store(out_ptr + pid, 1.0, mask=pid < wanted)


def check_a_scalar_store_with_a_false_mask() -> None:
    out = torch.zeros(4)
    _store_scalar[(64,)](out, 3)
    assert out.tolist() == [1.0, 1.0, 1.0, 0.0]


@triton.jit
def _first_of_pair(pair, out_ptr):
    tl.store(out_ptr, tl.load(pair[0]) + tl.load(pair[1] + 1))


def check_tensors_in_tuples_are_arguments() -> None:
    out = torch.zeros(1)
    _first_of_pair[(1,)]((torch.tensor([2.0]), torch.tensor([3.0, 4.0])), out)
    assert out.item() == 6.0
    launch = _first_of_pair[(1,)]
    short = torch.tensor([3.0])
    caught(OUTSIDE, lambda: launch((torch.tensor([2.0]), short), out), "tensor 'pair[1]' of 4 bytes")
