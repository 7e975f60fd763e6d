"""Numbers as tensors on a device and back."""

from __future__ import annotations

import numpy as np
import torch

from golden.dtypes import decode, dtype_of, encode
from platforms.profile.machine import Unable


def to_tensor(x: np.ndarray, dtype: str, device: str) -> torch.Tensor:
    """Return ``x``, numbers of ``dtype`` in float64 or int64, as a tensor of that dtype on ``device``.

    Raises Unable where the device takes none of that dtype: many accelerators have no float64.
    """
    storage = np.ascontiguousarray(encode(x, dtype) if dtype_of(dtype).is_float else x.astype(dtype_of(dtype).storage))
    try:
        return torch.from_numpy(storage).view(getattr(torch, dtype)).to(device)
    except (RuntimeError, TypeError) as error:
        raise Unable(f"{device} takes no {dtype}: {(str(error).splitlines() or [''])[0][:160]}") from None


def to_numbers(x: torch.Tensor) -> np.ndarray:
    """Return the numbers in ``x``: float64, or int64 for integers."""
    name = str(x.dtype).removeprefix("torch.")
    storage = x.cpu().contiguous()
    if dtype_of(name).storage.kind == "u" and dtype_of(name).is_float:
        storage = storage.view(torch.uint8 if dtype_of(name).itemsize == 1 else torch.uint16)
    return decode(storage.numpy(), name)
