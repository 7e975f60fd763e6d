"""What the Inductor files share: compilation that never falls back to running the function uncompiled."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import torch

Result = TypeVar("Result")

RECOMPILATIONS = 4096
"""How many compiled forms a function may have: every dtype, rank, pattern of strides and axis of size 1 needs one."""


def strictly_compiled(function: Callable[..., Result]) -> Callable[..., Result]:
    """Return ``function`` compiled, with sizes and strides left open as far as Inductor can leave them open.

    It never runs ``function`` uncompiled: it raises RuntimeError where compilation is switched off, and the compiler's
    own errors where that fails or has been done :data:`RECOMPILATIONS` times.
    """

    def traced(*tensors: torch.Tensor, **params: Any) -> Result:
        # True while this is traced, so nothing of it is left in compiled code. Where an environment variable or a
        # stance has switched compilation off, Python runs this line instead, and nothing else would tell.
        if not torch.compiler.is_compiling():
            raise RuntimeError("torch.compile did not compile; is it switched off (TORCH_COMPILE_DISABLE, a stance)?")
        return function(*tensors, **params)

    @functools.cache
    def compiler() -> tuple[Any, Callable[..., Result]]:
        # Not before the first call: the compiler takes longer to import than everything else together.
        import torch._dynamo

        settings = torch._dynamo.config.patch(
            recompile_limit=RECOMPILATIONS, accumulated_recompile_limit=RECOMPILATIONS, suppress_errors=False
        )
        return settings, torch.compile(traced, fullgraph=True, dynamic=True)

    def run(*tensors: torch.Tensor, **params: Any) -> Result:
        settings, compiled = compiler()
        with settings:
            return compiled(*tensors, **params)

    return run
