"""An implementation called on a typical case, on tensors without memory if that will do."""

from __future__ import annotations

from collections.abc import Callable

import torch

from golden.dtypes import decode
from golden.inputs import make_inputs
from kernels.operation import Operation
from kernels.registry import Implementation
from kernels.typical import typical
from platforms.targets.toolchain import NotTypical

LARGE, SMALL = 2**24, 2**14
"""Elements of a typical case without memory, and of one with."""


def called(
    operation: Operation, implementation: Implementation, dtype: str, *, again: Callable[[], None] = lambda: None
) -> None:
    """Call ``implementation`` on the typical case of ``dtype``, in a process in which nothing is launched.

    One that looks at values is called again, after ``again()``, on real tensors, which are then few. Raises NotTypical,
    and whatever the implementation raises.
    """
    try:
        _call(operation, implementation, dtype, LARGE, "meta")
    except (RuntimeError, NotImplementedError):  # what torch says where there are no data
        again()
        _call(operation, implementation, dtype, SMALL, "cpu")


def _call(operation: Operation, implementation: Implementation, dtype: str, elements: int, device: str) -> None:
    case = typical(operation, dtype, elements)
    if case is None:
        raise NotTypical(f"no typical case of {operation.name} is known")
    if reason := implementation.refuses(case):
        raise NotTypical(f"not written for the typical case: {reason}")
    forms = operation.forms(case)
    if device == "meta":
        tensors = {
            name: torch.empty(form.shape, dtype=getattr(torch, form.dtype), device=device)
            for name, form in forms.items()
        }
    else:
        stored = make_inputs(case, forms)
        tensors = {
            name: torch.from_numpy(decode(stored[name], form.dtype)).to(getattr(torch, form.dtype))
            for name, form in forms.items()
        }
    with torch.no_grad():
        operation.call(implementation.function, tensors, case)
