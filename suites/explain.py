"""Why an output is not what it should be: ``python -m suites.explain --case LINE --implementation ID --platform NAME``.

The case is run once more, and golden recomputed under every cause of :mod:`golden.causes`; the table shows what each
makes of the error. In which order a product of matrices is added up is measured at the case's own shape, since
libraries choose their kernels by it. With ``--into DIR`` what was found is written there as JSON, under a name made of
what was asked; ``python -m suites.explain --again DIR`` makes all that lies there anew, of the platforms that are on
this machine. Exit status: 0 if a cause explains each output or there is nothing to explain, 1 if none does, 2 if it
cannot be run.
"""

from __future__ import annotations

import argparse
import json
import math
import re
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
from platforms.profile.measuring import product_at
from reports.strict import strict
from suites.causes import explained
from suites.measured import Answers, measured, measured_at
from suites.run import mismatch
from suites.subject import Selection, SelectionError, Subject, select

_SHOWN = 12
_WRONG_USE = (CaseError, DetectionError, KernelFileError, SelectionError, WorkerError)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for, print what was tried, and return the exit status."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    if not asked.again and None in (asked.case, asked.implementation, asked.platform):
        parser.error("give --case, --implementation and --platform; or --again DIR for what was written before")
    try:
        with Pool(kernels=asked.kernels) as pool:
            if asked.again:
                return _again(pool, asked)
            case = Case.parse(asked.case)
            subject = _subject(asked.platform, asked.implementation, asked.kernels)
            found = _found(pool, subject, case)
    except (*_WRONG_USE, _UnrunError, OSError) as error:
        print(f"explain: {error}", file=sys.stderr)
        return 2
    if asked.into:
        _write(asked.into / _name(subject, case), value(subject, case, found))
    else:
        told = json.dumps(strict(value(subject, case, found)), indent=1) if asked.json else None
        print(told or rendered(found, full=asked.full))
    return _status(found)


class _UnrunError(Exception):
    """A case did not come to an output that can be explained; the message says what it came to."""


def _again(pool: Pool, asked: argparse.Namespace) -> int:
    """Make anew what lies in a folder, of the platforms that are here; return the exit status."""
    here = {platform.name for platform in detect(probe(), chosen=asked.platform).found}
    before = {file: json.loads(file.read_text(encoding="utf-8")) for file in sorted(asked.again.glob("*.json"))}
    wanted = {file: one for file, one in before.items() if one["platform"] in here}
    if not wanted:
        raise SelectionError(f"nothing in {asked.again} is of a platform that is here: {', '.join(sorted(here))}")
    status = 0
    for file, one in wanted.items():
        case, subject = Case.parse(one["case"]), _subject(one["platform"], one["implementation"], asked.kernels)
        found = _found(pool, subject, case)
        _write(file, value(subject, case, found))
        status = max(status, _status(found))
    return status


def _found(pool: Pool, subject: Subject, case: Case) -> Explanation:
    subject.operation.check(case)
    ran = pool.run(subject.platform, subject.implementation.id, case)
    if ran.status != "returned" or mismatch(subject, case, ran):
        raise _UnrunError(f"{ran.status}: {mismatch(subject, case, ran) or ran.message}")
    name = subject.implementation.id
    known = measured(_profile(pool, subject.platform), subject.operation, name, case.dtype)
    if subject.operation.name == "gemm":
        sides = dict(zip(("rows", "columns", "terms"), (case.dims[one] for one in "mnk"), strict=True))
        known += measured_at(product_at(pool, subject.platform, name, case.dtype, **sides), name, case)
    return explained(subject.operation, case, [result.array for result in ran.results], measured=known)


def _status(found: Explanation) -> int:
    return 0 if found.found or found.before.status == EXACT else 1


def _write(file: Path, found: dict[str, object]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(strict(found), indent=1) + "\n", encoding="utf-8")
    print(f"wrote {file}: {found['cause'] or 'unexplained'}", flush=True)


def _name(subject: Subject, case: Case) -> str:
    """Return the name of the file for a case: platform, implementation, dtype, and its dims."""
    numbers = re.findall(r"\d+", json.dumps(dict(case.dims)))
    parts = [subject.platform.name, subject.implementation.id.replace("/", "-"), case.dtype, "x".join(numbers)]
    return "-".join(parts) + ".json"


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


def _subject(platform: str, implementation: str, kernels: Sequence[Path]) -> Subject:
    detection = detect(probe(), chosen=platform)
    selection = Selection.of([platform], [], [], [implementation])
    subjects, unrun = select(load(kernels), detection, selection)
    if not subjects:
        raise SelectionError("; ".join(f"{what}: {why}" for what, why in unrun))
    return subjects[0]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m suites.explain", description="Try the causes of a difference.")
    parser.add_argument("--case", metavar="LINE", help="the case, as a failure prints it")
    parser.add_argument("--implementation", metavar="ID", help="operation/paradigm/name")
    parser.add_argument("--platform", metavar="NAME", help="where it runs")
    parser.add_argument("--kernels", action="append", default=[], type=Path, metavar="PATH", help="kernels to add")
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")
    parser.add_argument("--full", action="store_true", help="show everything that was tried")
    parser.add_argument("--into", type=Path, metavar="DIR", help="write what was found there, as JSON")
    parser.add_argument(
        "--again", type=Path, metavar="DIR", help="make anew what --into wrote there, where it can be run"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
