"""An audit as Markdown, short enough for a comment on a pull request or the summary of a CI job."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reports.audit import Audit
from reports.fleet.cells import FleetCell
from reports.gate import breaches
from reports.ink import clip, counted, figure
from reports.ladder.page import Page
from reports.places import machines
from reports.profile_differences import summed_up

_SHOWN = 20
_LONGEST = 160


def document(audit: Audit, gate: tuple[str, ...] = ()) -> str:
    """Return the verdict, the table, failures with their replay commands, regressions, drifts and what was not run."""
    parts = [
        _verdict(audit, gate),
        _table(audit),
        _failures(audit),
        _folded("Regressions", _regressions(audit)),
        _folded("Drift between places", _drifts(audit)),
        _folded("Carry-over of optimizations", _carryover(audit)),
        _folded("How places compute", _profiles(audit)),
        _folded("Not run", _unrun(audit)),
        _folded("Machines", _machines(audit)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _verdict(audit: Audit, gate: tuple[str, ...]) -> str:
    failing = counted(len(audit.failures), "implementation") if audit.failures else "no implementation"
    ran = f"{counted(len(audit.implementations), 'implementation')} on {counted(len(audit.places), 'place')}"
    said = f"{ran}, {counted(sum(cell.ran for cell in audit.cells), 'record')}: {failing} failed."
    broken = breaches(audit, gate)
    gated = (
        f"\n\n**The gate is not met** ({'; '.join(broken)})." if broken else ("\n\nThe gate is met." if gate else "")
    )
    ended = "failed" if broken or audit.failures else "passed" if audit.judged else "nothing was judged"
    return f"## Portolan: {ended}\n\n{said}{gated}"


def _table(audit: Audit) -> str:
    """Return how many implementations of each operation pass on each place; a failing count is bold."""
    here: dict[tuple[str, str], list[FleetCell]] = {}
    for cell in audit.cells:
        here.setdefault((cell.operation, cell.place), []).append(cell)
    operations = sorted({cell.operation for cell in audit.cells})
    rows = [
        [operation, *(_summed(here.get((operation, place), ())) for place in audit.places)] for operation in operations
    ]
    # What fails is what a reader of a pull request looks for, so it is never cut.
    rows.sort(key=lambda row: (not any("**" in text for text in row), row[0]))
    failing = sum(any("**" in text for text in row) for row in rows)
    shown = rows[: max(_SHOWN, failing)]
    more = f"\n\nand {counted(len(rows) - len(shown), 'more operation')}" if len(shown) < len(rows) else ""
    return _rendered(["operation", *audit.places], shown) + more if rows else ""


def _summed(cells: Sequence[FleetCell]) -> str:
    failed = [cell for cell in cells if cell.outcome == "fail"]
    passed = [cell for cell in cells if cell.outcome == "pass"]
    if failed:
        return f"**{len(failed)} of {len(cells)} failed**: {', '.join(sorted({cell.verdict for cell in failed}))}"
    if not passed:
        return "-" if not cells else "not judged"
    worst = max((cell.share or 0.0 for cell in passed), default=0.0)
    return f"{len(passed)} passed, worst {figure(worst)}" + (" (drift)" if any(cell.reasons for cell in passed) else "")


def _failures(audit: Audit) -> str:
    shown = audit.failures[:_SHOWN]
    blocks = [
        f"**{cell.verdict.upper()}** `{cell.implementation}` on {cell.place} ({cell.failed} of {cell.ran}):"
        f" {_text(cell.cause or cell.message)}\n\n```\n{cell.replay}\n```"
        for cell in shown
    ]
    more = [f"and {len(audit.failures) - len(shown)} more"] if len(shown) < len(audit.failures) else []
    return "\n\n".join(["### Failures", *blocks, *more]) if blocks else ""


def _regressions(audit: Audit) -> str:
    rows = [
        [f"`{row.implementation}`", row.place, row.before, str(row.broken), str(row.mended), str(row.changed)]
        for row in audit.regressions
        if row.broken or row.changed
    ]
    return _limited(["implementation", "place", "since", "broken", "mended", "other bits"], rows)


def _drifts(audit: Audit) -> str:
    rows = [
        [
            f"`{row.implementation}`",
            f"{row.origin} to {row.target}",
            str(row.cases),
            f"{int(100 * row.equal)} %",
            figure(row.rms),
            f"{figure(row.shares[0])} to {figure(row.shares[1])}",
            f"**{_text(row.why)}**" if row.flagged else _text(row.why),
        ]
        for row in audit.carried
        if row.flagged or row.equal < 1
    ]
    return _limited(["implementation", "places", "cases", "equal", "RMS ratio", "error / bound", "reason"], rows)


def _unrun(audit: Audit) -> str:
    reasons: dict[str, list[str]] = {}
    for reason, thing, _ in audit.unrun:
        reasons.setdefault(reason, []).append(thing)
    rows = [[_text(reason), _text(", ".join(dict.fromkeys(things)))] for reason, things in reasons.items()]
    return _limited(["reason", "what"], rows)


def _carryover(audit: Audit) -> str:
    """Return, for each pair of devices that raced, one line a technique: where it pays on both, and where not."""
    if len({heat.device for heat in audit.heats}) < 2:
        return ""
    return "\n".join(map(_escaped, Page(audit.heats).brief().splitlines()))


def _profiles(audit: Audit) -> str:
    places = audit.profiles.places
    rows = [
        [
            *map(_text, one.question),
            *(_text(one.answers.get(place, "")) for place in places),
            "**same platform**" * one.flagged,
        ]
        for one in audit.profiles.apart
    ]
    table = _limited(["asked", "question", "of", *places, ""], rows)
    return f"{summed_up(audit.profiles)}\n\n{table}" if rows else summed_up(audit.profiles)


def _machines(audit: Audit) -> str:
    """Return a row for each run, and for each machine that it reached through a gateway."""
    rows = []
    for run in audit.runs:
        for name, facts in machines(run.environment):
            packages = facts.get("packages")
            versions = packages if isinstance(packages, dict) else {}
            said = [facts.get("python", ""), versions.get("torch", ""), versions.get("triton", "")]
            revision = run.environment.get("portolan", "")
            rows.append([_text(str(one)) for one in (name, run.started, *said, revision)])
    return _limited(["machine", "started", "Python", "torch", "triton", "revision"], rows)


def _folded(title: str, table: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{table}\n\n</details>" if table else ""


def _limited(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    more = f"\n\nand {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
    return _rendered(headings, rows[:_SHOWN]) + more


def _rendered(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _text(said: str) -> str:
    """Return ``said`` as text of a table's cell."""
    return _escaped(clip(said, _LONGEST))


def _escaped(said: str) -> str:
    """Return ``said`` so that it is no markup, whoever wrote it."""
    return "".join(f"\\{one}" if one in "\\`*_[]<>|#" else one for one in said)
