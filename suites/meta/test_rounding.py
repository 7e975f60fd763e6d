"""Is every rounding the one that IEEE 754 asks for, and every element type what torch says it is?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from golden.dtypes import DTYPES, FLOAT8S, FLOATS, INTEGERS, decode, encode, ulp
from golden.rounding import round_significand

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def as_torch(storage: np.ndarray, dtype: str) -> torch.Tensor:
    return torch.from_numpy(storage.view(f"i{storage.itemsize}")).view(getattr(torch, dtype))


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


@pytest.mark.parametrize("dtype", FLOAT8S)
def test_every_code_of_one_byte_is_the_number_that_torch_says(dtype: str) -> None:
    codes = np.arange(256, dtype=np.uint8)
    numbers = decode(codes, dtype)
    expected = as_torch(codes, dtype).to(torch.float64).numpy()
    np.testing.assert_array_equal(numbers, expected)
    assert np.array_equal(np.signbit(numbers), np.signbit(expected))
    numbered = ~np.isnan(numbers)
    assert np.array_equal(encode(numbers, dtype)[numbered], codes[numbered])
    assert (encode(numbers, dtype)[~numbered] & 0x7F == 0x7F).all()


@pytest.mark.parametrize("dtype", FLOAT8S)
def test_between_two_codes_of_one_byte_the_nearer_is_taken_and_of_two_as_near_the_even_one(dtype: str) -> None:
    codes = np.flatnonzero(decode(np.arange(128, dtype=np.uint8), dtype) < DTYPES[dtype].largest)
    low, high = (decode((codes + step).astype(np.uint8), dtype) for step in (0, 1))
    middle = (low + high) / 2
    for sign in (1, -1):
        bit = 0x80 * (sign < 0)
        assert np.array_equal(encode(sign * middle, dtype), codes + codes % 2 | bit)
        assert np.array_equal(encode(sign * np.nextafter(middle, low), dtype), codes | bit)
        assert np.array_equal(encode(sign * np.nextafter(middle, high), dtype), codes + 1 | bit)


@pytest.mark.parametrize("dtype", FLOAT8S)
@given(st.lists(st.floats(-448, 448, width=32), min_size=1))
def test_encoding_into_one_byte_agrees_with_torch_bit_for_bit(dtype: str, numbers: list[float]) -> None:
    storage = encode(np.array(numbers), dtype)
    expected = torch.tensor(numbers, dtype=torch.float32).to(getattr(torch, dtype))
    assert torch.equal(as_torch(storage, "uint8"), expected.view(torch.uint8))


@pytest.mark.parametrize(
    ("dtype", "numbers", "codes"),
    [
        # Half a step beyond the largest number comes NaN, where there is no infinity, and else an infinity.
        (
            "float8_e4m3fn",
            [448, 464, np.nextafter(464, 500), np.inf, -np.inf, -1e300],
            [0x7E, 0x7E, 0x7F, 0x7F, 0xFF, 0xFF],
        ),
        (
            "float8_e5m2",
            [57344, np.nextafter(61440, 0), 61440, np.inf, -np.inf, -1e300],
            [0x7B, 0x7B, 0x7C, 0x7C, 0xFC, 0xFC],
        ),
    ],
)
def test_what_is_too_large_for_one_byte_is_not_saturated(dtype: str, numbers: list[float], codes: list[int]) -> None:
    assert encode(np.array(numbers), dtype).tolist() == codes


@pytest.mark.parametrize("dtype", [*FLOATS, *FLOAT8S])
def test_every_kind_of_number_survives_decoding_and_encoding(dtype: str) -> None:
    kind = DTYPES[dtype]
    numbers = np.array([0.0, 1.0, -1.5, kind.largest, -kind.largest, kind.smallest_normal, kind.quantum])
    if kind.infinity:
        numbers = np.append(numbers, [np.inf, -np.inf])
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


@pytest.mark.parametrize("dtype", [*FLOATS, "float8_e5m2"])
@given(st.integers(-(2**63), 2**63 - 1), st.integers(0, 62))
def test_an_integer_is_rounded_once(dtype: str, number: int, shift: int) -> None:
    number >>= shift
    kind = DTYPES[dtype]
    rounded = float(decode(encode(np.array([number]), dtype), dtype)[0])
    step = Fraction(2) ** max(abs(number).bit_length() - kind.precision, kind.emin - kind.precision + 1)
    whole, rest = divmod(abs(Fraction(number)) / step, 1)
    size = (whole + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1))) * step
    assert abs(rounded) == (float(size) if size <= kind.largest else np.inf)
    assert np.sign(rounded) == np.sign(number)


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
