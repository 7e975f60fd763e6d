"""What some versions of the interpreter forget of the language: types that have a name, numbers that are arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from triton.runtime import interpreter

from platforms.interpreter_guard.patches import Patches

_Method = Callable[..., Any]

_FNUZ = {"fp8e4b8": "get_fp8e4b8_ty", "fp8e5b16": "get_fp8e5b16_ty"}


def apply(patches: Patches) -> None:
    """Patch what the interpreter makes of the language while a kernel runs."""
    patches.wrap(interpreter, "_patch_lang_core", _patch_lang_core)
    patches.wrap(interpreter, "_patch_lang_tensor", _patch_lang_tensor)


def _patch_lang_core(original: _Method) -> _Method:
    """Name the float8 types without negative zero."""

    def patch_lang_core(lang: Any, scope: Any) -> None:
        original(lang, scope)
        to_ir = lang.dtype.to_ir

        def complete_to_ir(self: Any, builder: Any) -> Any:
            return getattr(builder, _FNUZ[self.name])() if self.name in _FNUZ else to_ir(self, builder)

        scope.set_attr(lang.dtype, "to_ir", complete_to_ir)

    return patch_lang_core


def _patch_lang_tensor(original: _Method) -> _Method:
    """Let ``range`` take a tensor, a number that NumPy holds as an array of one element and no longer converts."""

    def patch_lang_tensor(tensor: Any, scope: Any) -> None:
        original(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    return patch_lang_tensor
