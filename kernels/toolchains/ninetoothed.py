"""What the NineToothed files share: arrangements that several operations have, and what their applications call.

A kernel is made when it is first called, since making one asks which device there is. Tensors keep their strides.
"""

from __future__ import annotations

import torch
from ninetoothed import Tensor

BLOCK = 1024
"""Elements a program takes of tensors that are gone through element by element."""


def elementwise(*tensors: Tensor, block: int = BLOCK) -> tuple[Tensor, ...]:
    """Return tensors of one shape arranged in blocks of their elements, in row-major order."""
    return tuple(tensor.flatten().tile((block,)) for tensor in tensors)


def with_axes(x: torch.Tensor) -> torch.Tensor:
    """Return ``x``, or a view of one axis if it has none: there is nothing to tile in a number."""
    return x if x.dim() else x[None]
