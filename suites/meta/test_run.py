"""Does a run say what its platforms say of themselves, and leave out what they cannot do with the reason on record?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from golden.case import Case
from kernels.registry import load
from platforms.cpu import Cpu
from platforms.pool import Pool
from reports.bundle import Bundle, read
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
