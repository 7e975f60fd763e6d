"""How one test ends: passed, failed with the smallest case ready to paste, or not run with the reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import pytest

from golden.case import Case
from reports.failures import replay
from reports.record import Record, outcome
from suites.run import Run
from suites.subject import Subject


class Asking(Protocol):
    """How a suite asks its question: of drawn cases, or of given ones. Each returns the failing record, or None."""

    def explore(self, subject: Subject, *, suite: str) -> Record | None: ...

    def replay(self, subject: Subject, cases: Sequence[Case], *, suite: str) -> Record | None: ...


def conclude(
    run: Run,
    subject: Subject,
    *,
    suite: str,
    asked: Callable[[str], list[Case] | None],
    note: Callable[[str, object], None],
    cases: list[Case] | None = None,
    asking: Asking | None = None,
) -> None:
    """Run what was ``asked`` for of the subject's operation, else the suite's own ``cases``, else drawn ones.

    The test ends accordingly. ``asking`` is how, if not as the run itself does.

    ``note`` is pytest's ``record_property``: the word that the progress line shows travels with the report.
    """
    asking = asking or run
    run.latest.clear()
    note("subject", subject.id)
    named = asked(subject.operation.name)
    chosen = cases if named is None else named
    if chosen is None:
        failure = asking.explore(subject, suite=suite)
    elif chosen:
        failure = asking.replay(subject, chosen, suite=suite)
    else:
        pytest.skip(f"there are no such cases of {subject.operation.name}")
    note("word", _word(run.latest, failure))
    if failure:
        pytest.fail(describe(failure, run.replay_options), pytrace=False)
    if not run.latest:
        pytest.fail(f"{subject.id}: no case was run, so that nothing was asserted", pytrace=False)
    if not any(outcome(record) == "pass" for record in run.latest):
        pytest.skip(f"{subject.platform.name}: {_unjudged(run.latest)}")


def _unjudged(records: list[Record]) -> str:
    """Return why none of ``records`` says anything: what the platform cannot do, or cases that refuse nothing."""
    lacking = dict.fromkeys(record.message for record in records if record.verdict == "unsupported")
    vacuous = sum(record.verdict == "vacuous" for record in records)
    return "; ".join([*lacking, *([f"nothing was asserted by {vacuous} vacuous cases"] if vacuous else [])])


def describe(record: Record, options: str = "") -> str:
    """Return a failure in a few lines: what is wrong with which figures, and how to see it again."""
    figures = [
        f"{record.share:.3g} of the bound" if record.share is not None else "",
        f"{record.max_ulp:.3g} ULP" if record.max_ulp is not None else "",
        f"RMS {record.rms_ulp:.3g} ULP, bias {record.bias_ulp:+.3g} ULP"
        if record.rms_ulp is not None and record.bias_ulp is not None
        else "",
    ]
    said = ", ".join(figure for figure in figures if figure)
    head = f"{record.verdict.upper()}: {record.implementation} on {record.platform}" + (f", {said}" if said else "")
    why = [record.cause] if record.cause else []
    return "\n".join(["", head, *why, record.message.rstrip(), f"  {replay(record, options)}"])


def _word(records: list[Record], failure: Record | None) -> str:
    """Return what the progress line says of one test: its verdict, worst share of the bound, and number of cases."""
    if failure:
        return failure.verdict.upper()
    ran = [record for record in records if record.verdict != "unsupported"]
    if not ran:
        return "not run"
    accounted = sum(record.verdict == "drift" for record in ran)
    worst = max((record.share or 0.0 for record in ran), default=0.0)
    return f"within {worst:.2f} ({len(ran)})" + (f", {accounted} drifts accounted for" if accounted else "")
