"""Is every rounding the one that IEEE 754 asks for, and every element type what torch says it is?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from golden.dtypes import DTYPES, FLOATS, INTEGERS, decode, encode, ulp
from golden.rounding import round_significand

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def as_torch(storage: np.ndarray, dtype: str) -> torch.Tensor:
    if dtype == "bfloat16":
        return torch.from_numpy(storage.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(storage)


@given(NUMBERS, st.integers(1, 53), st.sampled_from(["nearest", "away", "truncated"]))
def test_significands_are_rounded_as_fractions_say(x: float, bits: int, mode: str) -> None:
    rounded = float(round_significand(np.array([x]), bits, mode)[0])
    if x == 0 or np.isinf(rounded) or abs(x) < 2.0**-1021:
        return
    exponent = np.frexp(x)[1] - bits
    scaled = abs(Fraction(x)) / Fraction(2) ** int(exponent)
    whole, rest = divmod(scaled, 1)
    up = {
        "nearest": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1),
        "away": rest >= Fraction(1, 2),
        "truncated": False,
    }[mode]
    assert abs(Fraction(rounded)) == (whole + up) * Fraction(2) ** int(exponent)
    assert np.sign(rounded) == np.sign(x)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@given(st.lists(NUMBERS.map(lambda x: float(np.float32(min(max(x, -3e38), 3e38)))), min_size=1))
def test_encoding_a_float32_agrees_with_torch_bit_for_bit(dtype: str, numbers: list[float]) -> None:
    storage = encode(np.array(numbers), dtype)
    expected = torch.tensor(numbers, dtype=torch.float32).to(getattr(torch, dtype))
    assert torch.equal(as_torch(storage, dtype), expected)


@pytest.mark.parametrize("dtype", FLOATS)
def test_every_kind_of_number_survives_decoding_and_encoding(dtype: str) -> None:
    kind = DTYPES[dtype]
    numbers = np.array(
        [0.0, 1.0, -1.5, kind.largest, -kind.largest, kind.smallest_normal, kind.quantum, np.inf, -np.inf]
    )
    assert np.array_equal(decode(encode(numbers, dtype), dtype), numbers)
    assert np.isnan(decode(encode(np.array([np.nan]), dtype), dtype)).all()
    info = torch.finfo(getattr(torch, dtype))
    assert (kind.largest, kind.smallest_normal, 2 * kind.unit) == (info.max, info.tiny, info.eps)


def test_encoding_rounds_once() -> None:
    """A value just above the middle of two bfloat16 numbers, which a rounding through float32 would put on it."""
    above = 1 + 2.0**-8 + 2.0**-40
    assert decode(encode(np.array([above]), "bfloat16"), "bfloat16")[0] == 1 + 2.0**-7
    assert decode(encode(np.array([1 + 2.0**-8]), "bfloat16"), "bfloat16")[0] == 1.0


@pytest.mark.parametrize(("dtype", "over"), [("float16", 65520.0), ("bfloat16", 3.3961775292304601e38)])
def test_the_threshold_of_overflow_is_half_a_step_above_the_largest(dtype: str, over: float) -> None:
    below = np.nextafter(over, 0)
    assert np.isinf(decode(encode(np.array([over]), dtype), dtype)[0])
    assert decode(encode(np.array([below]), dtype), dtype)[0] == DTYPES[dtype].largest


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_wrap_around(dtype: str) -> None:
    bits, ends = 8 * DTYPES[dtype].itemsize, np.iinfo(DTYPES[dtype].storage)
    assert encode(np.array([ends.min]), dtype)[0] == ends.min
    if bits < 64:
        assert encode(np.array([ends.max + 1]), dtype)[0] == ends.min
        assert encode(np.array([ends.min - 1]), dtype)[0] == ends.max


def test_a_unit_in_the_last_place_is_the_spacing_of_its_binade() -> None:
    assert list(ulp(np.array([1.0, 1.9, 2.0, 0.0, 1e-40, np.inf]), "float32")) == [
        2.0**-23,
        2.0**-23,
        2.0**-22,
        2.0**-149,
        2.0**-149,
        2.0**104,
    ]
