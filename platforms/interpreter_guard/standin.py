"""What generators of Triton code ask before they generate any, answered where there is no device.

NineToothed asks the active driver how much shared memory and how many registers there are, to bound its tiles and its
stages; the interpreter has neither. And it annotates constants as ``triton.language.constexpr``, which the interpreter
knows as ``tl.constexpr`` alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from triton.runtime import driver, jit

from platforms.interpreter_guard.patches import Patches

_PROPERTIES = {"max_shared_mem": 2**16, "max_num_regs": 2**16}
"""Bytes and registers that devices have at least; nothing is allocated from them here."""


class _Utilities:
    def get_device_properties(self, device: int) -> dict[str, int]:
        return dict(_PROPERTIES)


class _StandIn:
    """A driver of no device. Whatever else is asked of it raises AttributeError."""

    utils = _Utilities()

    def get_current_device(self) -> int:
        return 0


def apply(patches: Patches) -> None:
    """Make the stand-in the active driver, so that no device of this machine is touched; read annotations in full."""
    driver.set_active(_StandIn())
    patches.wrap(jit, "_normalize_ty", _normalize_ty)


def _normalize_ty(original: Callable[..., str]) -> Callable[..., str]:
    def normalize_ty(annotation: Any) -> str:
        if isinstance(annotation, str):
            annotation = annotation.strip().removeprefix("triton.language.")
        return original(annotation)

    return normalize_ty
