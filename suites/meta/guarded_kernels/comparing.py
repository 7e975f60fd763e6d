"""How the checks compare: floating-point results bit for bit, and failures by what they say."""

from __future__ import annotations

from collections.abc import Callable

import torch

from platforms import guarded_interpreter


def same_bits(got: torch.Tensor, expected: torch.Tensor) -> None:
    """Assert that two tensors of one dtype are equal bit for bit; all NaNs count as one."""
    assert got.dtype == expected.dtype, f"{got.dtype} instead of {expected.dtype}"
    unknown = torch.isnan(got.float())
    assert torch.equal(unknown, torch.isnan(expected.float())), "NaN in other places"
    bits = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[got.element_size()]
    differ = (got.contiguous().view(bits) != expected.contiguous().view(bits)) & ~unknown
    where = differ.flatten().nonzero().flatten()[:3].tolist()
    pairs = [(got.flatten()[i].item(), expected.flatten()[i].item()) for i in where]
    assert not where, f"{int(differ.sum())} of {differ.numel()} differ, first {pairs} (got, expected) at {where}"


def caught(kind: str, launch: Callable[[], object], *parts: str) -> None:
    """Assert that ``launch`` fails with an error of ``kind`` whose message has all ``parts``."""
    error = error_of(launch)
    assert guarded_interpreter.classify(error) == kind, f"not {kind}, but {type(error).__name__}: {error}"
    for part in parts:
        assert part in str(error), f"{part!r} is not in {str(error)!r}"


def error_of(launch: Callable[[], object]) -> Exception:
    """Return what ``launch`` raises; raises AssertionError if nothing."""
    try:
        launch()
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")
