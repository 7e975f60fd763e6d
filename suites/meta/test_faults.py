"""Does every wrong kernel say what it stands for, and is there one for every class of faults?"""

from __future__ import annotations

import re

import pytest

from kernels.registry import Catalogue, load
from suites.meta.cli import MUTANTS
from suites.meta.mutants import CLASSES, UNSHOWN, fault, faults
from suites.power.__main__ import PAGE
from suites.power.workloads import WORKLOADS


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    """The catalogue with all mutants whose toolchains are here."""
    return load([MUTANTS])


def test_every_wrong_kernel_names_its_class_and_report(catalogue: Catalogue) -> None:
    wrong = {
        name for name, one in catalogue.implementations.items() if re.match(r"wrong_|breaks_", name.rpartition("/")[2])
    }
    assert wrong == set(faults(catalogue.implementations))


def test_nothing_else_of_the_catalogue_is_a_fault() -> None:
    assert faults(load().implementations) == {}


@pytest.mark.parametrize(("kind", "report"), [("F0", "pytorch#1"), ("F1", "")])
def test_a_fault_needs_a_known_class_and_a_report(kind: str, report: str) -> None:
    with pytest.raises(ValueError, match="a fault is of one of F1, "):
        fault(kind, report)


def test_every_class_has_mutants_or_a_reason_why_not(catalogue: Catalogue) -> None:
    shown = {one.kind for one in faults(catalogue.implementations).values()}
    assert shown | set(UNSHOWN) == set(CLASSES)
    assert not shown & set(UNSHOWN)


def test_every_operation_has_mutants_and_a_way_to_be_asked_for_by_shape(catalogue: Catalogue) -> None:
    assert {name.partition("/")[0] for name in faults(catalogue.implementations)} == set(catalogue.operations)
    assert set(WORKLOADS) == set(catalogue.operations)


def test_the_page_names_every_wrong_kernel_and_no_other(catalogue: Catalogue) -> None:
    named = set(re.findall(r"`([a-z0-9_]+/[a-z0-9]+/(?:wrong|breaks)_[a-z0-9_]+)`", PAGE.read_text(encoding="utf-8")))
    here = {name for name in named if name.rpartition("/")[0] not in catalogue.absent}
    assert here == set(faults(catalogue.implementations))
