"""The order of programs, what assertions do, and what a launch leaves as it was."""

from __future__ import annotations

from functools import partial

import torch
import triton
import triton.language as tl

from platforms import guarded_interpreter
from suites.meta.guarded_kernels.comparing import caught, error_of


@triton.jit
def _enter(ticket_ptr, turn_ptr, times_ptr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    place = (x * tl.num_programs(1) + y) * tl.num_programs(2) + z
    tl.store(turn_ptr + place, tl.atomic_add(ticket_ptr, 1))
    tl.atomic_add(times_ptr + place, 1)


def _turns(*grid: int) -> list[int]:
    """Return which program was the first to run, the second, and so on; each must have run once."""
    count = grid[0] * (grid[1] if len(grid) > 1 else 1) * (grid[2] if len(grid) > 2 else 1)
    ticket, turn, times = (torch.zeros(n, dtype=torch.int32) for n in (1, count, count))
    _enter[grid](ticket, turn, times)
    assert times.tolist() == [1] * count
    return turn.argsort().tolist()


def check_every_program_runs_once_in_the_order_that_was_asked_for() -> None:
    assert _turns(3, 2, 2) == list(range(12))
    guarded_interpreter.set_order("reversed")
    assert _turns(3, 2, 2) == list(range(11, -1, -1))
    assert _turns(7) == [6, 5, 4, 3, 2, 1, 0]
    guarded_interpreter.set_order("shuffled", seed=1)
    first = _turns(4, 5, 3)
    assert sorted(first) == list(range(60))
    assert first not in (list(range(60)), list(range(59, -1, -1)))
    assert _turns(4, 5, 3) == first
    guarded_interpreter.set_order("shuffled", seed=2)
    assert _turns(4, 5, 3) != first


def check_an_order_ends_with_its_block() -> None:
    guarded_interpreter.install(order="reversed")
    assert _turns(4) == [3, 2, 1, 0]
    with guarded_interpreter.set_order("forward"):
        assert _turns(4) == [0, 1, 2, 3]
    assert _turns(4) == [3, 2, 1, 0]
    guarded_interpreter.install()
    assert _turns(4) == [0, 1, 2, 3]


def _install(order: str) -> object:
    return guarded_interpreter.install(order=order)


def check_an_unknown_order_is_refused() -> None:
    for choose in (guarded_interpreter.set_order, _install):
        error = error_of(partial(choose, "sideways"))
        assert isinstance(error, ValueError)
        assert str(error) == "unknown order 'sideways'; there are forward, reversed, shuffled"


@triton.jit
def _last_wins(out_ptr, n):
    value = 0
    for i in tl.range(0, n):
        value = i
    for i in range(n):
        value = value * 10 + i
    tl.store(out_ptr, value)


def check_loops_in_a_kernel_keep_their_order() -> None:
    out = torch.zeros(1, dtype=torch.int32)
    guarded_interpreter.set_order("reversed")
    _last_wins[(1,)](out, 4)
    assert out.item() == 30123


@triton.jit
def _insist(x_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.device_assert(x < 5, "x must be small")


def check_assertions_fire() -> None:
    _insist[(1,)](torch.arange(4), BLOCK=4)
    error = error_of(lambda: _insist[(1,)](torch.arange(8), BLOCK=8))
    assert "x must be small" in str(error)
    assert guarded_interpreter.classify(error) is None


@triton.jit
def _wrap_around(x_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i) * 1000003 + 12345)


def check_integers_may_wrap_around() -> None:
    x = torch.tensor([2**31 - 1, -(2**31), 5, 7], dtype=torch.int32)
    expected = (x.long() * 1000003 + 12345 + 2**31) % 2**32 - 2**31
    _wrap_around[(1,)](x, BLOCK=4)
    assert x.tolist() == expected.tolist()


def check_installing_again_changes_nothing_but_the_settings() -> None:
    first = guarded_interpreter.install()
    assert guarded_interpreter.install(order="reversed") is first
    guarded_interpreter.install()
    assert first.known == guarded_interpreter.known_version(triton.__version__)
    assert first.version == triton.__version__
    assert first.missing == ()
    assert len(set(first.applied)) >= 25
    assert _turns(2) == [0, 1]


@triton.jit
def _helper(x_ptr, n, BLOCK: tl.constexpr):
    return tl.load(x_ptr + tl.arange(0, BLOCK) + n)


@triton.jit
def _call_helper(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, BLOCK), _helper(x_ptr, n, BLOCK))


def check_an_error_in_a_called_function_is_recognised() -> None:
    x, out = torch.arange(8.0), torch.zeros(8)
    _call_helper[(1,)](x, out, 0, BLOCK=8)
    assert torch.equal(out, x)
    caught("out of bounds", lambda: _call_helper[(1,)](x, out, 1, BLOCK=8), "1 of 8 lanes")
