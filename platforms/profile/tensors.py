"""Numbers as tensors on a device and back."""

from __future__ import annotations

import numpy as np
import torch

from golden.dtypes import decode, dtype_of, encode


def to_tensor(x: np.ndarray, dtype: str, device: str) -> torch.Tensor:
    """Return ``x``, numbers of ``dtype`` in float64 or int64, as a tensor of that dtype on ``device``."""
    storage = np.ascontiguousarray(encode(x, dtype) if dtype_of(dtype).is_float else x.astype(dtype_of(dtype).storage))
    return torch.from_numpy(storage).view(getattr(torch, dtype)).to(device)


def to_numbers(x: torch.Tensor) -> np.ndarray:
    """Return the numbers in ``x``: float64, or int64 for integers."""
    name = str(x.dtype).removeprefix("torch.")
    storage = x.cpu().contiguous()
    if dtype_of(name).storage.kind == "u" and dtype_of(name).is_float:
        storage = storage.view(torch.uint8 if dtype_of(name).itemsize == 1 else torch.uint16)
    return decode(storage.numpy(), name)
