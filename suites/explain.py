"""Why an output is not what it should be: ``python -m suites.explain --case LINE --implementation ID --platform NAME``.

The case is run once more, and golden recomputed under every cause of :mod:`golden.causes`; the table shows what each
makes of the error. Exit status: 0 if a cause explains the output or there is nothing to explain, 1 if none does, 2 if
it cannot be run.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path

from tabulate import tabulate

from golden.case import Case, CaseError
from golden.explanation import Explanation, Trial
from golden.judge import EXACT
from kernels.registry import KernelFileError, load
from platforms.detect import DetectionError, detect
from platforms.gather import probe
from platforms.platform import Platform
from platforms.pool import Pool, WorkerError
from platforms.profile.kept import kept
from reports.machine import strict
from suites.causes import explained
from suites.measured import Answers, measured
from suites.run import mismatch
from suites.subject import Selection, SelectionError, Subject, select

_SHOWN = 12
_WRONG_USE = (CaseError, DetectionError, KernelFileError, SelectionError, WorkerError)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the case, print what was tried, and return the exit status."""
    asked = _parser().parse_args(arguments)
    try:
        case = Case.parse(asked.case)
        subject = _subject(asked)
        subject.operation.check(case)
        with Pool(kernels=asked.kernels) as pool:
            ran = pool.run(subject.platform, subject.implementation.id, case)
            profile = _profile(pool, subject.platform)
    except _WRONG_USE as error:
        print(f"explain: {error}", file=sys.stderr)
        return 2
    if ran.status != "returned" or mismatch(subject, case, ran):
        print(f"explain: {ran.status}: {mismatch(subject, case, ran) or ran.message}", file=sys.stderr)
        return 2
    known = measured(profile, subject.operation, subject.implementation.id, case.dtype)
    found = explained(subject.operation, case, [result.array for result in ran.results], measured=known)
    print(json.dumps(strict(value(subject, case, found)), indent=1) if asked.json else rendered(found, full=asked.full))
    return 0 if found.found or found.before.status == EXACT else 1


def _profile(pool: Pool, platform: Platform) -> Answers:
    """Return the answers of the platform's profile; where none has been kept, a brief one is measured."""
    profile = kept(pool, platform, "full", measure=False) or kept(pool, platform, "brief")
    return profile["answers"] if profile else ()


def rendered(found: Explanation, *, full: bool = False) -> str:
    """Return the table of what was tried, those first that explain most, and the conclusion below it."""
    ranked = sorted(found.trials, key=lambda trial: (trial not in found.found, -trial.gain))
    shown = ranked if full else ranked[:_SHOWN]
    rows = [
        ["the contract", found.before.status, *_figures(found.before.share, found.before.max_ulp, found.equal, 0.0)]
    ]
    rows += [[trial.name, trial.verdict.status, *_of_trial(trial)] for trial in shown]
    lines = [tabulate(rows, ["golden as of", "verdict", "error/bound", "ULP", "equal", "gain"], disable_numparse=True)]
    if len(shown) < len(ranked):
        lines.append(f"and {len(ranked) - len(shown)} more that gain less; --full shows them")
    lines += [f"not tried: {cause.name}: {reason}" for cause, reason in found.untried[: None if full else 3]]
    return "\n".join([*lines, "", found.sentence])


def value(subject: Subject, case: Case, found: Explanation) -> dict[str, object]:
    """Return what was found, for JSON: ``cause`` is what explains, "" for nothing; ``nearest`` what gains most.

    ``share`` and ``after`` are errors over bounds, before and under the nearest causes; None where there is none.
    """
    nearest = found.found[0] if found.found else max(found.trials, key=lambda trial: trial.gain, default=None)
    evidence = [cause.evidence for cause in nearest.causes if cause.evidence] if nearest else []
    return {
        "implementation": subject.implementation.id,
        "platform": subject.platform.name,
        "case": case.line,
        "share": found.before.share,
        "cause": found.name,
        "nearest": nearest.name if nearest else "",
        "verdict": nearest.verdict.status if nearest else "",
        "evidence": list(dict.fromkeys(evidence)),
        "after": nearest.verdict.share if nearest else None,
        "equal": nearest.equal if nearest else found.equal,
    }


def _of_trial(trial: Trial) -> list[str]:
    return _figures(trial.verdict.share, trial.verdict.max_ulp, trial.equal, trial.gain)


def _figures(share: float | None, ulp: float | None, equal: float, gain: float) -> list[str]:
    known = ("-" if figure is None else f"{figure:.3g}" for figure in (share, ulp))
    return [*known, f"{math.floor(100 * equal)} %", f"{gain:.0f}"]


def _subject(asked: argparse.Namespace) -> Subject:
    detection = detect(probe(), chosen=asked.platform)
    selection = Selection.of([asked.platform], [], [], [asked.implementation])
    subjects, unrun = select(load(asked.kernels), detection, selection)
    if not subjects:
        raise SelectionError("; ".join(f"{what}: {why}" for what, why in unrun))
    return subjects[0]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m suites.explain", description="Try the causes of a difference.")
    parser.add_argument("--case", required=True, metavar="LINE", help="the case, as a failure prints it")
    parser.add_argument("--implementation", required=True, metavar="ID", help="operation/paradigm/name")
    parser.add_argument("--platform", required=True, metavar="NAME", help="where it runs")
    parser.add_argument("--kernels", action="append", default=[], type=Path, metavar="PATH", help="kernels to add")
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")
    parser.add_argument("--full", action="store_true", help="show everything that was tried")
    return parser


if __name__ == "__main__":
    sys.exit(main())
