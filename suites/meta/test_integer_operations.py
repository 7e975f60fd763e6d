"""Is golden of operations on integers what Python's own integers say?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.case import Case
from golden.inputs import make_inputs
from kernels.registry import load

OPERATIONS = load().operations

WHOLE = st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 9)

DIVISIONS: dict[str, Callable[[int, int], int]] = {
    "floor_divide": lambda x, y: x // y,
    "remainder": lambda x, y: x % y,
}


@pytest.mark.parametrize("name", DIVISIONS)
@given(WHOLE, WHOLE)
def test_divisions_round_down(name: str, x: int, y: int) -> None:
    result = OPERATIONS[name].reference(np.array([x]), np.array([y]))
    if y == 0 or (y == -1 and x in (-(2**7), -(2**31), -(2**63))):
        assert np.ma.getmaskarray(result).all()
    else:
        assert result.tolist() == [DIVISIONS[name](x, y)]


@given(WHOLE, st.integers(0, 63))
def test_shifts_round_down(x: int, bits: int) -> None:
    assert OPERATIONS["shift_right"].reference(np.array([x]), np.array([bits])).tolist() == [x // 2**bits]


@pytest.mark.parametrize("dtype", OPERATIONS["shift_right"].dtypes)
def test_no_number_is_shifted_by_its_width(dtype: str) -> None:
    case = Case("shift_right", dtype, {"x": [300], "y": [300]})
    bits = make_inputs(case, OPERATIONS["shift_right"].forms(case))["y"]
    assert bits.min() == 0
    assert bits.max() < 8 * bits.itemsize


def test_every_byte_is_unpacked_to_its_two_signed_halves() -> None:
    halves = OPERATIONS["unpack_int4"].reference(np.arange(256).reshape(2, 128))
    assert halves.shape == (2, 256)
    pairs = halves.reshape(-1, 2)
    assert ((pairs >= -8) & (pairs < 8)).all()
    assert np.array_equal((pairs[:, 0] & 15) + 16 * (pairs[:, 1] & 15), np.arange(256))
