"""How fast attention is, beside each backend of PyTorch's own: ``python -m suites.benchmarks.attention``.

Long causal attention in 16 bits, where matrix units decide. A rung is judged against golden before it is timed, and
with ``--sweep`` the largest ones are timed in many shapes, to find which one :data:`kernels.attention.triton.LARGE`
should have on a device.
"""

from __future__ import annotations

import argparse
import functools
import itertools
from collections.abc import Callable, Iterator

import numpy as np
import torch
import triton
from tabulate import tabulate
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from golden.case import Case
from golden.dtypes import decode, encode
from golden.inputs import make_inputs
from golden.judge import judge
from kernels.attention.triton import Shape, launch
from kernels.registry import Implementation, load
from kernels.toolchains.triton_products import describable
from suites.goldens import compute

TOKENS, WIDTH = 16384, 2048
"""Tokens in a batch and elements of a token, which heads share."""

LENGTHS, SIZES, DTYPES = (4096, 8192, 16384), (64, 128), ("float16", "bfloat16")

_PARAMS = {"causal": True, "scale": None, "softcap": None, "window": None}

Attention = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


def teraflops(attend: Attention, tensors: list[torch.Tensor]) -> float:
    """Return 10**12 operations a second, those of the half of the scores that a causal mask leaves; median of calls."""
    batch, heads, length, size = tensors[0].shape
    seconds = 1e-3 * triton.testing.do_bench(lambda: attend(*tensors), return_mode="median")
    return 2 * batch * heads * length * length * size / seconds / 1e12


def backends() -> Iterator[tuple[str, Attention]]:
    """Yield PyTorch's own attention by the name of its backend, each that is not the plain formula."""
    for name, backend in SDPBackend.__members__.items():
        if name in ("ERROR", "MATH", "OVERRIDEABLE"):
            continue

        def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, backend: SDPBackend = backend) -> torch.Tensor:
            with sdpa_kernel(backend):
                return scaled_dot_product_attention(q, k, v, is_causal=True)

        yield name.removesuffix("_ATTENTION").lower(), attend


def rungs() -> Iterator[tuple[Implementation, Attention]]:
    """Yield the implementations in Triton."""
    for one in load().implementations.values():
        if (one.operation, one.paradigm) == ("attention", "triton"):
            yield one, functools.partial(one.function, **_PARAMS)


def verdict(attend: Attention, dtype: str, size: int, device: torch.device) -> str:
    """Return what the judge says of a case with heads of ``size`` elements and a few tiles of queries and keys."""
    operation = load().operations["attention"]
    case = Case("attention", dtype, {"b": 1, "h": 2, "hk": 2, "sq": 515, "sk": 515, "d": size}, _PARAMS)
    tensors = []
    for stored in make_inputs(case, operation.forms(case)).values():
        tensors.append(torch.from_numpy(decode(stored, dtype)).to(device, getattr(torch, dtype)))
    (golden,) = compute(operation, case, operation.precision(dtype)).values()
    output = np.asarray(attend(*tensors).double().cpu())
    return judge(golden, encode(output, dtype)).status


def tried(attend: Attention, tensors: list[torch.Tensor]) -> float | str:
    """Return :func:`teraflops`, or why there are none: what a device has no room for is no news."""
    try:
        return teraflops(attend, tensors)
    except (RuntimeError, triton.runtime.errors.OutOfResources) as error:
        return str(error).split("\n")[0][:40]


def table(dtype: str, size: int, device: torch.device) -> Iterator[list[object]]:
    """Yield a row for each backend and rung: its name, the judge's word for a rung, and its figure at each length."""
    inputs = [_inputs(dtype, length, size, device) for length in LENGTHS]
    for name, attend in backends():
        yield [f"torch: {name}", "", *(tried(attend, tensors) for tensors in inputs)]
    for one, attend in rungs():
        if one.dtypes is None or dtype in one.dtypes:
            yield [one.id, verdict(attend, dtype, size, device), *(tried(attend, tensors) for tensors in inputs)]


def sweep(dtype: str, size: int, device: torch.device) -> Iterator[list[object]]:
    """Yield shapes, with descriptors or without, and their figure at the second of the lengths: the best first."""
    tensors = _inputs(dtype, LENGTHS[1], size, device)
    rows: list[tuple[float, Shape, bool]] = []
    for described, *shape in itertools.product((False, True), (64, 128), (32, 64, 128), (4, 8), (2, 3, 4)):
        queries, keys, warps, stages = shape

        def attend(
            q: torch.Tensor,
            k: torch.Tensor,
            v: torch.Tensor,
            shape: Shape = (queries, keys, warps, stages),
            described: bool = described,
        ) -> torch.Tensor:
            k, v = (describable(x) if described else x for x in (k, v))
            return launch(q, k, v, True, None, None, None, shape=shape, described=described)

        figure = tried(attend, tensors)
        if isinstance(figure, float):
            rows.append((figure, (queries, keys, warps, stages), described))
    for figure, best, described in sorted(rows, reverse=True)[:8]:
        yield [*best, "descriptors" if described else "addresses", figure]


def _inputs(dtype: str, length: int, size: int, device: torch.device) -> list[torch.Tensor]:
    shape = (TOKENS // length, WIDTH // size, length, size)
    return [torch.randn(shape, device=device, dtype=getattr(torch, dtype)) for _ in range(3)]


def main() -> None:
    """Measure and print; nothing is asserted, since a time says as much of the machine as of the program."""
    parser = argparse.ArgumentParser(prog="python -m suites.benchmarks.attention", description=__doc__)
    parser.add_argument("--sweep", action="store_true", help="time many shapes of the largest programs too")
    arguments = parser.parse_args()
    device = torch.accelerator.current_accelerator()
    if device is None:
        parser.exit(1, "this machine has no device that torch knows as an accelerator\n")
    for dtype, size in itertools.product(DTYPES, SIZES):
        print(f"\nCausal attention, {dtype}, heads of {size}: TFLOP/s")
        headers = ["implementation", "judged", *(f"{length} long" for length in LENGTHS)]
        print(tabulate(list(table(dtype, size, device)), headers, floatfmt=".0f"), flush=True)
        if arguments.sweep:
            shapes = ["queries", "keys", "warps", "stages", "fetched by", f"{LENGTHS[1]} long"]
            print(tabulate(list(sweep(dtype, size, device)), shapes, floatfmt=".0f"), flush=True)


if __name__ == "__main__":
    main()
