"""Does a test that asserted nothing ever count as passed, and does a skip say where and why?"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest

from reports.record import Record
from suites.closing import unexecuted
from suites.conclusion import conclude
from suites.subject import Selection


def _record(verdict: str, message: str = "") -> Record:
    return Record(
        suite="equivalence",
        case='{"operation":"add"}',
        operation="add",
        dtype="float32",
        implementation="add/torch/eager",
        platform="cpu",
        verdict=verdict,
        elements=0 if verdict == "unsupported" else 4,
        message=message,
    )


@dataclass
class _Run:
    """A run whose search records what it is given, and finds no failure."""

    found: list[Record]
    replay_options: str = ""
    latest: list[Record] = field(default_factory=list)

    def explore(self, subject: Any, *, suite: str) -> None:
        self.latest += self.found


def _conclude(*found: Record) -> None:
    subject = SimpleNamespace(
        id="add/torch/eager@cpu", platform=SimpleNamespace(name="cpu"), operation=SimpleNamespace(name="add")
    )
    run = cast(Any, _Run(list(found)))
    conclude(run, cast(Any, subject), suite="equivalence", asked=lambda name: None, note=lambda key, value: None)


def test_one_judged_case_is_enough() -> None:
    _conclude(_record("vacuous"), _record("exact"))


def test_no_case_at_all_is_a_failure() -> None:
    with pytest.raises(pytest.fail.Exception, match="nothing was asserted"):
        _conclude()


def test_vacuous_cases_alone_are_no_pass() -> None:
    with pytest.raises(pytest.skip.Exception, match="cpu: nothing was asserted by 2 vacuous cases"):
        _conclude(_record("vacuous"), _record("vacuous"))


def test_a_skip_names_the_platform_and_each_reason_once() -> None:
    lacking = _record("unsupported", "bfloat16 is not there (pytorch#1)")
    with pytest.raises(pytest.skip.Exception, match=r"^cpu: bfloat16 is not there \(pytorch#1\)$"):
        _conclude(lacking, lacking)


@pytest.mark.parametrize("verdict", ["vacuous", "unsupported"])
def test_a_session_that_judged_nothing_is_an_error(verdict: str) -> None:
    assert unexecuted([_record(verdict)], Selection()) == ["nothing was executed"]
