"""Programs in conflict are found, and programs that atomics keep in order are left in peace."""

from __future__ import annotations

from functools import partial

import torch
import triton
import triton.language as tl

from platforms import guarded_interpreter
from suites.meta.guarded_kernels.comparing import caught, error_of

CONFLICT = "conflict"


@triton.jit
def _count(counter_ptr, ATOMIC: tl.constexpr):
    if ATOMIC:
        tl.atomic_add(counter_ptr, 1)
    else:
        tl.store(counter_ptr, tl.load(counter_ptr) + 1)


def check_a_counter_without_atomics() -> None:
    counter = torch.zeros(1, dtype=torch.int32)
    parts = ("load by program (1, 0, 0)", "store by program (0, 0, 0)", "byte 0 of tensor 'counter_ptr' of 4 bytes")
    caught(CONFLICT, lambda: _count[(4,)](counter, False), *parts)
    counter.zero_()
    _count[(4,)](counter, True)
    assert counter.item() == 4
    _count[(1,)](counter, False)
    assert counter.item() == 5


@triton.jit
def _tile(out_ptr, step, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(out_ptr + pid * step + tl.arange(0, BLOCK), pid)


def check_overlapping_tiles() -> None:
    out = torch.zeros(64, dtype=torch.int32)
    parts = ("store by program (1, 0, 0) and store by program (0, 0, 0)", "byte 60 of", "3 lanes in conflict")
    caught(CONFLICT, lambda: _tile[(4,)](out, 15, BLOCK=16), *parts)
    _tile[(4,)](out, 16, BLOCK=16)
    assert out.tolist() == [i // 16 for i in range(64)]


@triton.jit
def _shift(x_ptr, out_ptr, n, distance, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i + distance, mask=i + distance < n, other=0)
    tl.store(out_ptr + i, x, mask=i < n)


def check_reading_in_place_what_another_program_writes() -> None:
    x = torch.arange(64.0)
    in_order = ("store by program (1, 0, 0) and load by program (0, 0, 0)", "byte 64 of", "3 lanes in conflict")
    caught(CONFLICT, lambda: _shift[(4,)](x, x, 64, 1, BLOCK=16), *in_order)
    with guarded_interpreter.set_order("reversed"):
        other_way = "load by program (2, 0, 0) and store by program (3, 0, 0)"
        caught(CONFLICT, lambda: _shift[(4,)](x, x, 64, 1, BLOCK=16), other_way)
    x, out = torch.arange(64.0), torch.zeros(64)
    _shift[(4,)](x, out, 64, 1, BLOCK=16)
    assert out.tolist() == [*range(1, 64), 0]
    _shift[(4,)](x, x, 64, 0, BLOCK=16)
    assert x.tolist() == list(range(64))


@triton.jit
def _reverse_views(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i))


def check_overlapping_arguments() -> None:
    storage = torch.arange(40.0)
    parts = ("program (1, 0, 0)", "program (0, 0, 0)", "8 lanes in conflict")
    caught(CONFLICT, lambda: _reverse_views[(2,)](storage[:32], storage[8:], BLOCK=16), *parts)
    _reverse_views[(2,)](storage[:8], storage[8:16], BLOCK=4)
    assert torch.equal(storage[:8], storage[8:16])


@triton.jit
def _store_at(place_ptr, value_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + tl.load(place_ptr + i), tl.load(value_ptr + i))


def check_lanes_that_disagree() -> None:
    place = torch.tensor([0, 1, 1, 2])
    for dtype in (torch.float32, torch.bfloat16, torch.int8):
        out = torch.zeros(4, dtype=dtype)
        values = torch.tensor([1, 2, 3, 4]).to(dtype)
        where = f"byte {out.element_size()} of tensor 'out_ptr'"
        parts = ("lanes of one store of program (0, 0, 0)", where, "1 lanes in conflict")
        caught(CONFLICT, partial(_store_at[(1,)], place, values, out, BLOCK=4), *parts)
        _store_at[(1,)](place, torch.tensor([1, 2, 2, 4]).to(dtype), out, BLOCK=4)
        assert out.tolist() == [1, 2, 4, 0]
    nan = torch.full((4,), torch.nan)
    out = torch.zeros(4)
    _store_at[(1,)](place, nan, out, BLOCK=4)
    assert out.isnan().tolist() == [True, True, True, False]


@triton.jit
def _bytes(x_ptr, SHIFT: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(x_ptr.to(tl.pointer_type(tl.int8)) + pid * SHIFT, pid)
    tl.store(x_ptr.to(tl.pointer_type(tl.int64)) + 1 + pid, 7)


def check_elements_accessed_as_other_types() -> None:
    x = torch.zeros(8, dtype=torch.int32)
    _bytes[(3,)](x, 1)
    assert x.tolist() == [0x020100, 0, 7, 0, 7, 0, 7, 0]
    caught(CONFLICT, lambda: _bytes[(3,)](x, 0), "byte 0 of", "2 lanes in conflict")
    caught(CONFLICT, lambda: _bytes[(3,)](x, 12), "program (1, 0, 0) and store by program (0, 0, 0)", "byte 12 of")
    caught(CONFLICT, lambda: _bytes[(3,)](x, 8), "store by program (1, 0, 0) and store by program (0, 0, 0)", "byte 8")


@triton.jit
def _sum_under_lock(x_ptr, lock_ptr, total_ptr, LOCKED: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + i)
    if LOCKED:
        while tl.atomic_cas(lock_ptr, 0, 1) == 1:
            pass
    tl.store(total_ptr + i, tl.load(total_ptr + i) + x)
    if LOCKED:
        tl.atomic_xchg(lock_ptr, 0)


def check_a_lock_keeps_programs_in_order() -> None:
    x, lock, total = torch.arange(64.0), torch.zeros(1, dtype=torch.int32), torch.zeros(16)
    _sum_under_lock[(4,)](x, lock, total, True, BLOCK=16)
    assert torch.equal(total, x.view(4, 16).sum(0))
    caught(CONFLICT, lambda: _sum_under_lock[(4,)](x, lock, total, False, BLOCK=16), "load by program (1, 0, 0)")


@triton.jit
def _last_one_sums(x_ptr, part_ptr, arrived_ptr, out_ptr, programs, SEM: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(part_ptr + pid, tl.sum(tl.load(x_ptr + pid * BLOCK + tl.arange(0, BLOCK)), 0))
    if tl.atomic_add(arrived_ptr, 1, sem=SEM) == programs - 1:
        tl.store(out_ptr, tl.sum(tl.load(part_ptr + tl.arange(0, 4)), 0))


def check_the_last_to_arrive_may_read_what_others_wrote() -> None:
    x, out = torch.arange(64.0), torch.zeros(1)

    def run(sem: str) -> None:
        _last_one_sums[(4,)](x, torch.empty(4), torch.zeros(1, dtype=torch.int32), out, 4, sem, BLOCK=16)

    run("acq_rel")
    assert out.item() == x.sum().item()
    caught(CONFLICT, lambda: run("relaxed"), "load by program (3, 0, 0) and store by program (0, 0, 0)")
    caught(CONFLICT, lambda: run("acquire"), "load by program (3, 0, 0)")


@triton.jit
def _take_tickets(ticket_ptr, out_ptr, BLOCK: tl.constexpr, STEP: tl.constexpr):
    ticket = tl.atomic_add(ticket_ptr, 1)
    tl.store(out_ptr + ticket * STEP + tl.arange(0, BLOCK), ticket)


def check_what_follows_a_release_is_not_published_by_it() -> None:
    ticket, out = torch.zeros(1, dtype=torch.int32), torch.zeros(64, dtype=torch.int32)
    _take_tickets[(4,)](ticket, out, 16, 16)
    assert out.tolist() == [i // 16 for i in range(64)]
    ticket.zero_()
    caught(CONFLICT, lambda: _take_tickets[(4,)](ticket, out, 16, 15), "store by program (1, 0, 0)")


@triton.jit
def _hand_over(flag_ptr, data_ptr, out_ptr, SEM: tl.constexpr):
    if tl.program_id(0) == 0:
        tl.store(data_ptr, 7.0)
        tl.atomic_store(flag_ptr, 1, sem="release")
    elif tl.atomic_load(flag_ptr, sem=SEM) == 1:
        tl.store(out_ptr, tl.load(data_ptr))


def check_atomic_loads_and_stores_where_the_language_has_them() -> None:
    out = torch.zeros(1)

    def run(sem: str) -> None:
        _hand_over[(2,)](torch.zeros(1, dtype=torch.int32), torch.zeros(1), out, sem)

    if not hasattr(tl, "atomic_load"):
        assert "has no attribute 'atomic_" in str(error_of(lambda: run("acquire")))
        return
    run("acquire")
    assert out.item() == 7.0
    caught(CONFLICT, lambda: run("relaxed"), "load by program (1, 0, 0)", "tensor 'data_ptr' of 4 bytes")


def check_races_can_be_let_pass() -> None:
    counter = torch.zeros(1, dtype=torch.int32)
    guarded_interpreter.install(races=False)
    _count[(4,)](counter, False)
    assert counter.item() == 4
    guarded_interpreter.install()
    caught(CONFLICT, lambda: _count[(4,)](counter, False))
