"""The page docs/power.md: what trials say, as tables."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean, median

from suites.meta.mutants import CLASSES, UNSHOWN, Fault
from suites.power.alarms import Alarms
from suites.power.peers import PEERS
from suites.power.trial import AGAIN, EXAMPLES, RIGHT, SMALLEST, STAGES, SUITE, Trial
from suites.tables.markdown import document, table

QUICK = STAGES[:2]
"""The stages of profile ``quick``: its cases, and its contracts."""

_HEAD = """Kernels that are wrong on purpose (`suites/meta/mutants`) and correct twins beside them, on the cases that
profile `quick` draws: made by `python -m suites.power --write` (`tox -e power`)."""


def page(trials: Sequence[Trial], wrong: Mapping[str, Fault], counted: Alarms, note: str = "") -> str:
    """Return the page. ``wrong`` says what the kernels stand for, ``counted`` are false alarms of other runs.

    A ``note`` says what else is to be known of these trials.
    """
    mutants = [trial for trial in trials if trial.kernel in wrong]
    suite = [trial for trial in mutants if trial.by == SUITE]
    right = [trial for trial in trials if trial.kernel not in wrong]
    return document(
        "What the suite notices",
        _HEAD,
        *filter(None, [_summary(suite, wrong), note]),
        "## False alarms",
        _alarms(right, counted),
        "## Beside what others do",
        _PEERS_TEXT,
        _peers(mutants, right),
        "## Classes of faults",
        _classes(suite, wrong),
        "## Every wrong kernel",
        _kernels(suite, wrong),
        "## Smallest cases",
        f"What Hypothesis makes of the first failing case, for up to {EXAMPLES} kernels of each class.",
        _smallest([trial for trial in mutants if trial.by == SMALLEST], wrong),
    )


def _summary(suite: Sequence[Trial], wrong: Mapping[str, Fault]) -> str:
    stages = Counter(trial.noticed for trial in suite)
    tried = {trial.kernel for trial in suite}
    times = sorted(Counter((trial.kernel, trial.platform) for trial in suite).values())
    often = " to ".join(str(one) for one in dict.fromkeys([*times[:1], *times[-1:]])) or "0"
    lines = [
        f"{len(wrong)} wrong kernels; {len(tried)} were tried here, {often} times each with other cases. Of"
        f" {len(suite)} trials {_share(stages['quick'] + stages['contracts'], len(suite))} ended in profile `quick`"
        f" ({_share(stages['quick'], len(suite))} by values, {_share(stages['contracts'], len(suite))} by contracts),"
        f" {_share(stages['standard'], len(suite))} in profile `standard`, {_share(stages[''], len(suite))} nowhere."
        f" Each kernel counted alike, {100 * _mean_in_quick(suite):.1f} % ended in `quick`."
    ]
    if untried := sorted(set(wrong) - tried):
        names = ", ".join(f"`{name}`" for name in untried)
        lines.append(
            "Not tried here, for want of their platforms, or since they need tensors of gigabytes, the streams of a"
            f" device or a sanitizer, with which other tests try them: {names}."
        )
    if missed := sorted({f"`{trial.kernel}`" for trial in suite if not trial.noticed}):
        lines.append(f"Not noticed with some seed: {', '.join(missed)}.")
    return "\n\n".join(lines)


def _mean_in_quick(suite: Sequence[Trial]) -> float:
    """Return the mean, over kernels on platforms, of the share of trials that ended in profile quick."""
    grouped = _grouped(suite, lambda trial: f"{trial.kernel}@{trial.platform}").values()
    return fmean(fmean(trial.noticed in QUICK for trial in tried) for tried in grouped) if grouped else 0.0


def _alarms(right: Sequence[Trial], counted: Alarms) -> str:
    drawn = [trial for trial in right if trial.by in (SUITE, RIGHT)]
    refused = sorted({f"{trial.kernel} on {trial.platform}" for trial in drawn if trial.noticed})
    lines = [
        f"{len(refused)} kernels were refused in {sum(trial.after for trial in drawn)} cases of correct kernels, twins"
        f" of wrong ones and the catalogue's{_listed(refused)}."
    ]
    if counted.judged:
        again = [trial for trial in right if trial.by == AGAIN]
        still = [trial for trial in again if trial.noticed]
        lines.append(
            f"Earlier runs of the catalogue judged {counted.judged} cases and refused {len(counted.refused)}. Of these"
            f" {len(again)} were tried again as the suite is now, and {len(still)} are still"
            f" refused{_counted(trial.kernel for trial in still)}. What a toolchain or a processor did wrong (found.md)"
            " shows where that is alone, so that these numbers do not tell a mended alarm from a fault left behind."
        )
    return "\n\n".join(lines)


_PEERS_TEXT = """As many calls (20), with the inputs and the tolerances of each project as `suites/power/peers.py` has
them, which names the files they are read from. What is expected is PyTorch's result on the same inputs. Other tests
that a project may have beside its comparison of values (of memory, say) do not count, but llama.cpp's sentinels.
Indices must be the same, ties or not. Of each operation one kernel in Triton, in the interpreter, stands for the
correct ones."""


def _peers(mutants: Sequence[Trial], right: Sequence[Trial]) -> str:
    names = [peer.name for peer in PEERS]
    rows = []
    quick = [trial for trial in mutants if trial.by == SUITE and trial.seed == 0]
    held = {trial.kernel for trial in mutants if trial.by == names[0]}
    for name, tried in [("Portolan, quick", quick), *((n, [t for t in mutants if t.by == n]) for n in names)]:
        tried = [trial for trial in tried if not held or trial.kernel in held]
        noticed = [trial for trial in tried if trial.noticed in QUICK]
        by = SUITE if name.startswith("Portolan") else name
        correct = [trial for trial in right if trial.by == by]
        alarmed = {trial.kernel for trial in correct if trial.noticed}
        calls = f"{median(trial.after for trial in noticed):g}" if noticed else ""
        kernels = len({trial.kernel for trial in correct})
        rows.append([name, len(noticed), len(tried) - len(noticed), f"{len(alarmed)} of {kernels}", calls])
    return table(["judge", "noticed", "missed", "correct kernels refused", "calls needed (median)"], rows)


def _classes(suite: Sequence[Trial], wrong: Mapping[str, Fault]) -> str:
    grouped = _grouped(suite, lambda trial: wrong[trial.kernel].kind)
    kernels = Counter(fault.kind for fault in wrong.values())
    rows = []
    for kind, meaning in CLASSES.items():
        tried = grouped.get(kind, [])
        quick = sum(trial.noticed in QUICK for trial in tried)
        share = _share(quick, len(tried)) if tried else UNSHOWN.get(kind, "")
        rows.append([kind, meaning, kernels[kind], share])
    return table(["class", "what it is", "kernels", "trials noticed in quick"], rows)


def _kernels(suite: Sequence[Trial], wrong: Mapping[str, Fault]) -> str:
    rows = []
    for kernel, fault in sorted(wrong.items()):
        for platform, tried in sorted(_grouped([t for t in suite if t.kernel == kernel], lambda t: t.platform).items()):
            noticed = [trial for trial in tried if trial.noticed]
            quick = sum(trial.noticed in QUICK for trial in tried)
            after = f"{median(trial.after for trial in noticed):g}" if noticed else "never"
            checks = Counter(_check(trial) for trial in noticed).most_common(2)
            how = ", ".join(check for check, _ in checks)
            rows.append([f"`{kernel}`", platform, fault.kind, fault.report, f"{quick}/{len(tried)}", after, how])
    return table(["kernel", "platform", "class", "report", "in quick", "cases (median)", "noticed by"], rows)


def _check(trial: Trial) -> str:
    contract = trial.message.partition(";")[0] if trial.message.startswith("contract ") else ""
    return f"{trial.verdict} ({contract})" if contract else trial.verdict


def _smallest(found: Sequence[Trial], wrong: Mapping[str, Fault]) -> str:
    lines = []
    for kind in CLASSES:
        those = [trial for trial in found if wrong[trial.kernel].kind == kind]
        apart = list({trial.kernel: trial for trial in those}.values())
        for trial in apart[:EXAMPLES]:
            report = wrong[trial.kernel].report
            lines.append(f"- {kind} ({report}) `{trial.kernel}` on {trial.platform}: {trial.verdict}\n  `{trial.case}`")
    return "\n".join(lines)


def _grouped(trials: Iterable[Trial], key: Callable[[Trial], str]) -> dict[str, list[Trial]]:
    groups = defaultdict(list)
    for trial in trials:
        groups[key(trial)].append(trial)
    return groups


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "0 %"


def _listed(names: Sequence[str]) -> str:
    return f": {', '.join(names)}" if names else ""


def _counted(names: Iterable[str]) -> str:
    return _listed([f"{name} ({number})" for name, number in sorted(Counter(names).items())])
