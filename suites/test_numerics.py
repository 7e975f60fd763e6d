"""Does every platform compute as its files declare? Its numerical profile against what contracts ask of any machine."""

from __future__ import annotations

from collections.abc import Callable

from platforms.platform import Platform


def test_numerics(profiled: Platform, measure: Callable[[Platform], None]) -> None:
    """No answer breaks a rule: no NaN is dropped, no subnormal flushed, no operand rounded that nobody declared."""
    measure(profiled)
