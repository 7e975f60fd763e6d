"""A brief run judges everything, and says of what it is that it does not ask for contracts and agreement."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kernels.registry import load
from platforms.platform import Platform
from suites.brief import BUILT, ELSEWHERE, answering, held, left_out
from suites.meta.cli import run_pytest
from suites.subject import Subject

ONE = Platform(name="one", device="cpu", paradigms=("torch", "inductor"))
OTHER = replace(ONE, name="other")
CARD = replace(ONE, name="card", device="cuda:0")
FAR = replace(ONE, name="one@far", gateway="ssh=far")


@pytest.fixture(scope="module")
def subjects() -> list[Subject]:
    catalogue = load()
    return [
        Subject(catalogue.operations["relu"], catalogue.implementations[name], platform)
        for platform in (ONE, OTHER, CARD, FAR)
        for name in ("relu/torch/eager", "relu/inductor/compiled")
    ]


def test_contracts_are_checked_once_on_each_device_of_each_place(subjects: list[Subject]) -> None:
    assert [subject.id for subject in held(subjects)] == [
        "relu/torch/eager@one",
        "relu/torch/eager@card",
        "relu/torch/eager@one@far",
    ]


def test_what_is_built_for_every_case_is_not_built_for_agreement(subjects: list[Subject]) -> None:
    assert {subject.implementation.paradigm for subject in answering(subjects)} == {"torch"}
    assert len(answering(subjects)) == 4


def test_what_is_left_out_is_told_with_the_reason(subjects: list[Subject]) -> None:
    assert dict(left_out(subjects)) == {
        "relu/torch/eager@other": ELSEWHERE,
        **{f"relu/inductor/compiled@{name}": BUILT for name in ("one", "other", "card", "one@far")},
    }


def test_the_option_leaves_contracts_out_and_nothing_of_equivalence(tmp_path: Path) -> None:
    asked = ["--brief", "--collect-only", "-q", "--implementation", "relu/torch/*,relu/inductor/*", "--platform", "cpu"]
    kept = run_pytest(*asked, "suites/test_contracts.py", bundle=tmp_path / "bundle").text
    assert "test_equivalence[relu/inductor/compiled@cpu]" in kept
    assert "test_contracts[relu/torch/eager@cpu]" in kept
    assert "test_contracts[relu/inductor/compiled@cpu]" not in kept
