"""Does a run say what its platforms say of themselves, and leave out what they cannot do with the reason on record?"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from golden.case import Case, TensorSpec
from kernels.registry import load
from platforms.cpu import Cpu
from platforms.pool import Pool
from reports.bundle import Bundle, read
from suites.causes import Effort
from suites.meta.cli import MUTANTS
from suites.run import Run
from suites.subject import Subject


@dataclass(frozen=True, kw_only=True)
class Doubtful(Cpu):
    """A platform that has a caveat, and no float16."""

    name: str = "doubtful"

    def facts(self) -> dict[str, Any]:
        return {**super().facts(), "caveats": ["toolchain of an unknown version"]}

    def capabilities(self) -> dict[str, str]:
        return {"float16": "tried, and 1 + 1 was 3"}


def test_caveats_are_warned_of_and_what_is_lacking_is_recorded_with_its_reason(tmp_path: Path) -> None:
    catalogue = load()
    subject = Subject(catalogue.operations["relu"], catalogue.implementations["relu/torch/eager"], Doubtful())
    with Pool() as pool, Bundle.create(tmp_path / "bundle", {}) as bundle:
        run = Run(pool=pool, bundle=bundle)
        with pytest.warns(RuntimeWarning, match="platform doubtful: toolchain of an unknown version"):
            assert run.explore(subject, suite="meta") is None
        assert run.one(subject, Case("relu", "float16", {"x": [3]}), suite="meta").verdict == "unsupported"
    environment, records, _ = read(tmp_path / "bundle")
    assert environment["platform doubtful"]["facts"]["caveats"] == ["toolchain of an unknown version"]
    refused = [record for record in records if record.verdict == "unsupported"]
    assert {(record.dtype, record.message) for record in refused} == {("float16", "tried, and 1 + 1 was 3")}
    assert {record.dtype for record in records} == set(catalogue.operations["relu"].dtypes)


def test_a_case_that_an_implementation_refuses_is_unsupported_and_others_are_judged(tmp_path: Path) -> None:
    catalogue = load()
    eager = catalogue.implementations["relu/torch/eager"]
    short = replace(eager, refuses=lambda case: "written for 3 at most" if case.dims["x"] > [3] else "")
    subject = Subject(catalogue.operations["relu"], short, Cpu())
    with Pool() as pool, Bundle.create(tmp_path / "bundle", {}) as bundle:
        run = Run(pool=pool, bundle=bundle)
        cases = [Case("relu", "float32", {"x": [length]}) for length in (3, 4)]
        ended = [run.one(subject, case, suite="meta") for case in cases]
    assert [(record.verdict, record.message) for record in ended] == [
        ("exact", ""),
        ("unsupported", "written for 3 at most"),
    ]


def test_kernels_in_cuda_refuse_heads_that_their_lanes_do_not_hold() -> None:
    dims = {"b": 1, "h": 1, "hk": 1, "sq": 1, "sk": 1}
    refuses = load().implementations["attention/cuda/tiled"].refuses
    assert [refuses(Case("attention", "float32", {**dims, "d": d})) for d in (128, 129)] == [
        "",
        "written for heads of 128 elements at most",
    ]


def test_causes_are_looked_for_once_a_kind_of_failure_and_no_longer_than_is_granted(tmp_path: Path) -> None:
    catalogue = load([MUTANTS])
    cut, overflowing = (
        Subject(catalogue.operations[name.partition("/")[0]], catalogue.implementations[name], Cpu())
        for name in ("gemm/torch/wrong_tf32_undeclared", "tanh/torch/wrong_quotient_of_exponentials")
    )
    products = [Case("gemm", "float32", {"m": 16, "n": 16, "k": k}) for k in (64, 48)]
    wide = Case("tanh", "float32", {"x": [256]}, tensors={"x": TensorSpec("wide")})
    effort = Effort(1)
    with Pool(kernels=[MUTANTS]) as pool, Bundle.create(tmp_path / "bundle", {}) as bundle:
        run = Run(pool=pool, bundle=bundle, effort=effort)

        def said(subject: Subject, *cases: Case) -> str:
            failure = run.replay(subject, cases, suite="meta")
            assert failure
            return failure.cause

        first = said(cut, products[0])
        spent = effort.spent
        assert first.startswith("explained by: operands of matrix products cut to tf32")
        assert spent > 1
        assert said(cut, products[1]) == first  # it fails alike
        assert said(overflowing, wide).startswith(f"cause not looked for: golden was recomputed {spent} times")
        assert effort.spent == spent
        effort.most = math.inf
        assert not said(overflowing, wide).startswith("cause not looked for")
        assert effort.spent > spent
