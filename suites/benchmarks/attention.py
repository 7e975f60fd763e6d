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
from typing import Any

import torch
import triton
from tabulate import tabulate
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from golden.case import Case
from kernels.attention.triton import Shape, launch
from kernels.registry import load
from kernels.toolchains.triton_products import describable
from suites.benchmarks.timing import rate
from suites.benchmarks.verified import verdict
from suites.benchmarks.workloads import CAUSAL, Workload, attention

LENGTHS, SIZES, DTYPES = (4096, 8192, 16384), (64, 128), ("float16", "bfloat16")

Attention = Callable[..., torch.Tensor]


def backends() -> Iterator[tuple[str, Attention]]:
    """Yield PyTorch's own attention by the name of its backend, each that is not the plain formula."""
    for name, backend in SDPBackend.__members__.items():
        if name in ("ERROR", "MATH", "OVERRIDEABLE"):
            continue

        def attend(
            q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, causal: bool, backend: SDPBackend = backend, **_: None
        ) -> torch.Tensor:
            with sdpa_kernel(backend):
                return scaled_dot_product_attention(q, k, v, is_causal=causal)

        yield name.removesuffix("_ATTENTION").lower(), attend


def case_of(dtype: str, size: int) -> Case:
    """Return a case with heads of ``size`` elements and a few tiles of queries and keys, for the judge."""
    return Case("attention", dtype, {"b": 1, "h": 2, "hk": 2, "sq": 515, "sk": 515, "d": size}, CAUSAL)


def tried(attend: Attention, workload: Workload) -> float | str:
    """Return the rate of ``attend``, or why there is none: what a device has no room for is no news."""
    try:
        return rate(workload, attend)
    except (RuntimeError, triton.runtime.errors.OutOfResources) as error:
        return str(error).split("\n")[0][:40]


def table(dtype: str, size: int, device: str) -> Iterator[list[object]]:
    """Yield a row for each backend and rung: its name, the judge's word for a rung, and its figure at each length."""
    workloads = [attention(size)(length, getattr(torch, dtype), device) for length in LENGTHS]
    for name, attend in backends():
        yield [f"torch: {name}", "", *(tried(attend, workload) for workload in workloads)]
    for one in load().implementations.values():
        if (one.operation, one.paradigm) == ("attention", "triton") and dtype in (one.dtypes or (dtype,)):
            word = verdict(one, case_of(dtype, size), device)
            yield [one.id, word, *(tried(one.function, workload) for workload in workloads)]


def sweep(dtype: str, size: int, device: str) -> Iterator[list[object]]:
    """Yield shapes, with descriptors or without, and their figure at the second of the lengths: the best first."""
    workload = attention(size)(LENGTHS[1], getattr(torch, dtype), device)
    rows: list[tuple[float, Shape, bool]] = []
    for described, *shape in itertools.product((False, True), (64, 128), (32, 64, 128), (4, 8), (2, 3, 4)):
        queries, keys, warps, stages = shape
        chosen = (queries, keys, warps, stages)
        figure = tried(functools.partial(_shaped, shape=chosen, described=described), workload)
        if isinstance(figure, float):
            rows.append((figure, chosen, described))
    for figure, best, described in sorted(rows, reverse=True)[:8]:
        yield [*best, "descriptors" if described else "addresses", figure]


def _shaped(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, shape: Shape, described: bool, **params: Any
) -> torch.Tensor:
    k, v = (describable(x) if described else x for x in (k, v))
    return launch(q, k, v, *params.values(), shape=shape, described=described)


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
        print(tabulate(list(table(dtype, size, device.type)), headers, floatfmt=".0f"), flush=True)
        if arguments.sweep:
            shapes = ["queries", "keys", "warps", "stages", "fetched by", f"{LENGTHS[1]} long"]
            print(tabulate(list(sweep(dtype, size, device.type)), shapes, floatfmt=".0f"), flush=True)


if __name__ == "__main__":
    main()
