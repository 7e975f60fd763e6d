"""A word of the judge on a kernel before it is timed: how fast a wrong one is says nothing."""

from __future__ import annotations

import functools

import numpy as np
import torch

from golden.case import Case
from golden.dtypes import decode, encode
from golden.inputs import make_inputs
from golden.judge import Golden, judge_all
from kernels.registry import Implementation, load
from suites.goldens import compute


def verdict(one: Implementation, case: Case, device: torch.device | str) -> str:
    """Return what the judge says of ``one`` on ``case``, whose inputs lie on ``device``, contiguous."""
    operation = load().operations[case.operation]
    forms = operation.forms(case)
    tensors = {
        name: torch.from_numpy(decode(stored, forms[name].dtype)).to(device, getattr(torch, forms[name].dtype))
        for name, stored in make_inputs(case, forms).items()
    }
    result = operation.call(one.function, tensors, case)
    goldens = _goldens(case)
    outputs = zip(result if isinstance(result, tuple) else (result,), goldens.values(), strict=True)
    return judge_all(goldens, [_stored(output, golden.dtype) for output, golden in outputs]).status


@functools.lru_cache(maxsize=4)
def _goldens(case: Case) -> dict[str, Golden]:
    operation = load().operations[case.operation]
    return compute(operation, case, operation.precision(case.dtype))


def _stored(output: torch.Tensor, dtype: str) -> np.ndarray:
    return encode(output.double().cpu().numpy(), dtype) if output.is_floating_point() else output.cpu().numpy()
