"""Draw and freeze the corpus and the vectors, or check the vectors on this machine: ``python -m suites.freeze``.

``corpus`` draws cases anew with this Hypothesis, so that it is run when operations or strategies change, and its
outcome is committed; ``thin`` leaves out of it what covers nothing of its own. ``vectors`` computes those of the corpus
that cover most. ``check`` recomputes the vectors.
"""

from __future__ import annotations

import argparse
import math
import platform
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from golden.case import Case
from golden.frozen import Vector, corpus, nominal_digest, uncertain, vectors, version, write
from golden.inputs import digest, make_inputs
from golden.judge import Golden
from golden.layout import parse
from kernels.operation import Operation
from kernels.registry import load
from suites.drawn import drawn
from suites.goldens import compute

SMALL, LARGE = 2**11, 2**13
"""Elements a tensor of most cases, which Triton's interpreter can bear, and of a few."""

DRAWN, FEW, VECTORS = 240, 8, 4
"""How many cases are drawn for each operation and dtype, small and large ones, and how many vectors are frozen."""


def features(case: Case, operation: Operation) -> frozenset[str]:
    """Return what a case covers: regimes and parameters of its dtype; layouts, axes, ranks and sizes of any."""
    shapes = operation.shapes(case)
    found = {f"{case.dtype} {name}={value!r}" for name, value in case.params.items()}
    for name, shape in shapes.items():
        spec = case.spec(name)
        found.add(f"{case.dtype} {name} {spec.regime}")
        found.update(f"{name} {word}" for word in parse(spec.layout))
        found.update(f"{name} axis of {size}" for size in shape if size in (0, 1))
        found.add(f"{name} rank {len(shape)}")
        if math.prod(shape) > SMALL:
            found.add(f"{name} large")
    return frozenset(found)


def covering(cases: Iterable[Case], operation: Operation, least: int, most: int | None = None) -> list[Case]:
    """Return those of ``cases``, in their order, that cover all that they do, in few and short lines.

    One after the other is taken that covers most, for the length of its line, of what the ones before it do not
    (Chvatal, "A greedy heuristic for the set-covering problem", Mathematics of Operations Research 4, 1979). ``least``
    of each dtype are taken where there are as many, and ``most`` in all.
    """
    pool = list(dict.fromkeys(cases))
    left = {place: features(case, operation) for place, case in enumerate(pool)}
    lengths = [len(case.line) for case in pool]
    taken, covered, counts = list[int](), set[str](), Counter[str]()

    def worth(place: int) -> tuple[float, bool]:
        return len(left[place] - covered) / lengths[place], counts[pool[place].dtype] < least

    while left and (most is None or len(taken) < most):
        best = max(left, key=worth)
        if not any(worth(best)):
            break
        covered |= left.pop(best)
        counts[pool[best].dtype] += 1
        taken.append(best)
    return [pool[place] for place in sorted(taken)]


def freeze_corpus(operation: Operation) -> int:
    """Draw and write the corpus of one operation; return how many cases it has."""
    pool: list[Case] = []
    for dtype in operation.dtypes:
        mine = [*drawn(operation, DRAWN, budget=SMALL, dtype=dtype), *drawn(operation, FEW, budget=LARGE, dtype=dtype)]
        pool += [*mine, *_with_every_regime(mine, operation, dtype)]
    return _write_corpus(operation, pool)


def thin_corpus(operation: Operation) -> int:
    """Leave out of the corpus of one operation what covers nothing of its own; return how many cases are left."""
    return _write_corpus(operation, corpus(operation.name))


def _write_corpus(operation: Operation, pool: Iterable[Case]) -> int:
    lines = [case.line for case in covering(pool, operation, VECTORS)]
    write("corpus", operation.name, lines)
    return len(lines)


def _with_every_regime(cases: Sequence[Case], operation: Operation, dtype: str) -> Iterator[Case]:
    """Yield cases as those in ``cases``, with a tensor each of a regime that was not drawn for it."""
    sized = [case for case in cases if all(0 not in shape for shape in operation.shapes(case).values())]
    for name in operation.tensors:
        if any(operation.forms(case)[name].values is not None for case in sized[:1]):
            continue  # its values follow from the dims, and its regime says nothing
        drawn_ = {case.spec(name).regime for case in cases}
        for number, regime in enumerate(sorted(set(operation.regimes(dtype, name)) - drawn_)):
            case = sized[number % len(sized)]
            yield replace(case, tensors={**case.tensors, name: replace(case.spec(name), regime=regime)})


def freeze_vectors(operation: Operation) -> int:
    """Compute and write the vectors of one operation; return how many there are."""
    frozen = corpus(operation.name)
    lines = []
    for dtype in operation.dtypes:
        mine = [case for case in frozen if case.dtype == dtype]
        lines += [_vector(operation, case).line for case in covering(mine, operation, VECTORS, VECTORS)]
    write("vectors", operation.name, lines)
    return len(lines)


def _vector(operation: Operation, case: Case) -> Vector:
    inputs, goldens = _made(operation, case)
    left_out = uncertain(goldens)
    return Vector(case, inputs, nominal_digest(goldens, left_out), left_out)


def _made(operation: Operation, case: Case) -> tuple[str, Mapping[str, Golden]]:
    inputs = digest(make_inputs(case, operation.forms(case)))
    return inputs, compute(operation, case, operation.precision(case.dtype))


def differences(operation: Operation, frozen: Iterable[Vector]) -> Iterator[str]:
    """Yield, a sentence each, the vectors that come out differently on this machine."""
    for vector in frozen:
        inputs, goldens = _made(operation, vector.case)
        if inputs != vector.inputs:
            yield f"other inputs ({inputs}, not {vector.inputs}): {vector.case.line}"
        elif set(uncertain(goldens, margin=1.0)) - set(vector.left_out):
            yield f"an element that was certain is not: {vector.case.line}"
        elif nominal_digest(goldens, vector.left_out) != vector.nominal:
            yield f"another golden result: {vector.case.line}"


def check() -> int:
    """Recompute all vectors, say what came out, and return how many differ."""
    wrong = cases = elements = left_out = 0
    for operation in load().operations.values():
        frozen = vectors(operation.name)
        for sentence in differences(operation, frozen):
            wrong += 1
            print(f"{operation.name}: {sentence}")
        cases += len(frozen)
        left_out += sum(len(vector.left_out) for vector in frozen)
        elements += sum(one.size for vector in frozen for one in operation.results(vector.case).values())
    machine = f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}"
    print(f"{cases} vectors, {elements} elements ({left_out} left out), {wrong} differ; {machine}; corpus {version()}")
    return wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what was asked for; return 1 if a check found a difference."""
    parser = argparse.ArgumentParser(prog="python -m suites.freeze", description="the corpus and the vectors")
    parser.add_argument("what", choices=("corpus", "thin", "vectors", "check"))
    parser.add_argument("--operation", action="append", default=[], help="only this operation; repeatable")
    asked = parser.parse_args(arguments)
    if asked.what == "check":
        return int(check() > 0)
    work = {"corpus": freeze_corpus, "thin": thin_corpus, "vectors": freeze_vectors}[asked.what]
    for name, operation in load().operations.items():
        if not asked.operation or name in asked.operation:
            print(f"{name}: {work(operation)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
