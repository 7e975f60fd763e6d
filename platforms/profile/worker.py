"""What a platform's worker answers about the profile: which machines it has to ask, and what one of them answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import kernels
from golden.dtypes import FLOATS
from golden.numerics import relaxed
from golden.precision import Precision
from kernels.registry import Implementation
from platforms.paradigm import paradigm_of
from platforms.platform import Platform
from platforms.profile.answer import UNABLE
from platforms.profile.catalogue_machine import CatalogueMachine
from platforms.profile.machine import Machine
from platforms.profile.questions import profile
from platforms.profile.rules import broken
from platforms.profile.shaped import order_at
from platforms.runner import Runner

_REDUCTIONS = ("sum", "gemm")
_KERNELS = Path(kernels.__file__).parent
_SWIFT = ("torch", "triton", "cpp", "cuda", "opencl")


def machines(patterns: list[str], extent: str) -> list[str]:
    """Return the names of the machines that this platform has: a paradigm for its elementwise operations, and an
    implementation for its sums or products.

    Those of the implementations that match one of ``patterns``; without any, the paradigms, and of Portolan's own
    implementations the first of each paradigm and operation and all that declare other numerics than the contract's.
    A brief ``extent`` leaves out paradigms that build something for seconds at nearly every question.
    """
    implementations = list(_reductions(Runner.current))
    if patterns:
        return [one.id for one in implementations if any(fnmatchcase(one.id, pattern) for pattern in patterns)]
    paradigms = [one for one in Runner.current.platform.paradigms if extent != "brief" or one in _SWIFT]
    first: dict[tuple[str, str], str] = {}
    own = [one for one in implementations if one.paradigm in paradigms and _is_own(one)]
    for one in own:
        first.setdefault((one.operation, one.paradigm), one.id)
    return [*paradigms, *(one.id for one in own if one.id in first.values() or one.numerics != "ieee")]


def answers(machine: str, extent: str) -> list[dict[str, Any]]:
    """Return the answers that the machine called ``machine``, one of :func:`machines`, is able to give.

    Those to the questions of ``extent``, a key of :data:`EXTENTS`, each with the rule that it breaks, if any.
    """
    return [
        {"machine": machine, **answer.to_value(), "breaks": broken(answer, *_declared(machine, answer.subject))}
        for answer in profile(_machine(machine), extent)
        if answer.answer != UNABLE
    ]


def product_at(implementation: str, dtype: str, rows: int, columns: int, terms: int) -> dict[str, str]:
    """Return how an implementation of gemm adds up products of one shape: :func:`platforms.profile.shaped.order_at`."""
    return order_at(_machine(implementation), dtype, rows=rows, columns=columns, terms=terms)


def _declared(machine: str, dtype: str) -> tuple[dict[str, Sequence[str]], list[Precision]]:
    """Return what platform and paradigm declare of themselves, and the precisions that an implementation may have."""
    platform, catalogue = Runner.current.platform, Runner.current.catalogue
    one = catalogue.implementations.get(machine)
    paradigm = paradigm_of(one.paradigm if one else machine)
    if not one or dtype not in FLOATS:
        return {**paradigm.deviations, **platform.deviations}, []
    precision = catalogue.operations[one.operation].precision(dtype)
    return {**platform.deviations}, [precision, *relaxed(precision, one.numerics, dtype)]


def _reductions(runner: Runner) -> Iterator[Implementation]:
    lacking = runner.describe()["capabilities"]
    for one in runner.catalogue.implementations.values():
        if one.operation in _REDUCTIONS and not runner.platform.refusal(one.paradigm) and one.paradigm not in lacking:
            yield one


def _is_own(implementation: Implementation) -> bool:
    """Whether it is one of Portolan's. What a user brings may hang or crash, and is asked by name alone."""
    return Path(implementation.source).is_relative_to(_KERNELS)


def _machine(name: str) -> Machine:
    platform, known = Runner.current.platform, Runner.current.catalogue.implementations
    if name in known:
        return CatalogueMachine(name, [known[name]], platform.device)
    return _paradigm(name, platform, [one for one in known.values() if one.paradigm == name])


def _paradigm(name: str, platform: Platform, implementations: list[Implementation]) -> Machine:
    """Return the elementwise operations of a paradigm: by small kernels where there are some, else the catalogue's."""
    if name == "torch":
        from platforms.profile.torch_machine import TorchMachine

        return TorchMachine(platform.device)
    if name == "triton":
        from platforms.profile.triton_machine import TritonMachine

        return TritonMachine(platform.device)
    if name in ("cpp", "cuda"):
        from platforms.profile.compiled_machine import CompiledMachine

        return CompiledMachine(name, platform.device)
    elementwise = [one for one in implementations if one.operation not in _REDUCTIONS]
    return CatalogueMachine(name, elementwise, platform.device)
