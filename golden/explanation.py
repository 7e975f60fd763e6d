"""An explanation: golden recomputed under one cause after another, until an output is what that cause makes.

A cause explains an output if it passes before the judge once golden is what that cause makes it, and if it then lies
so much closer that no chance can be the reason. How much closer is measured by the gain, a sum over elements of
ln(distance from the contract's golden / distance from the cause's), where no distance is taken as less than half a unit
of the last place. An error that has nothing to do with a cause is as likely to lie anywhere within its own size as near
to where the cause would have it, so that exp(-gain) bounds the probability of such a gain by chance: it must be below
DOUBT, for all causes that are tried together. By the same measure one cause is better than another; those that
it cannot tell apart are named alike. Of sets of causes the smallest counts, and each of a set must be needed. Errors
that all elements share are no independent evidence; where sums are followed, whose accumulators have coarse units, most
elements that are moved must therefore be met bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from golden.causes import Cause, together
from golden.dtypes import decode, ulp
from golden.emulation import Emulation, TooLongError
from golden.judge import Golden, Verdict, judge_all

DOUBT = 1e-6
"""The probability that chance makes a cause explain an output, or one seem better than another."""

PROMISING = 4
"""Sets of causes that are tried together with one more: those that gain most."""

MOST = 3
"""The most causes of one explanation."""

_FARTHEST = 2.0**64
_SHOWN = 2

Evaluate = Callable[[Emulation], Mapping[str, Golden]]


@dataclass(frozen=True)
class Trial:
    """A set of causes, and what becomes of an output under them.

    ``equal`` is the share of elements that are golden's bit for bit, and ``met`` that of those which the causes move;
    ``sure`` is the gain where what lies within the bound counts as no nearer than the bound. ``alike`` are other sets
    that make the same.
    """

    causes: tuple[Cause, ...]
    verdict: Verdict
    gain: float
    sure: float
    equal: float
    met: float
    alike: list[tuple[Cause, ...]] = field(default_factory=list, compare=False)

    def explains(self, least: float) -> bool:
        """Return whether the output passes, and is so much nearer that the evidence is ``least`` or more.

        A wide bound is easily come within: unless most elements that are moved are met bit for bit, only what comes
        nearer than the bound counts, and nothing does where sums are followed rounding by rounding.
        """
        if not self.verdict.passes or self.gain < least:
            return False
        return self.met > 0.5 or (self.sure >= least and not any(cause.emulation.follows for cause in self.causes))

    @property
    def names(self) -> list[tuple[str, ...]]:
        """The names of the causes, and of each that makes the same."""
        return [tuple(cause.name for cause in several) for several in (self.causes, *self.alike)]

    @property
    def measured(self) -> bool:
        """Whether there is evidence for each of the causes, beside what they make of this output."""
        return all(cause.evidence for cause in self.causes)

    @property
    def emulations(self) -> list[Emulation]:
        """What a machine does that has the causes, and each that makes the same."""
        return [emulation for several in (self.causes, *self.alike) if (emulation := together(several))]

    @property
    def name(self) -> str:
        """The causes in words, with a few of those that make the same and are something else."""
        others: list[Cause] = []
        for several in () if self.measured else self.alike:
            (*_, cause) = set(several) - {*self.causes, *others} or several
            others += [] if _same_rounding(cause, (*self.causes, *others)) else [cause]
        whats = {cause.what for cause in self.causes}
        shown = [cause.how if cause.what in whats else cause.name for cause in others[:_SHOWN]]
        more = [f"{len(others) - _SHOWN} more that make the same here"] if len(others) > _SHOWN else []
        return " or ".join([" and ".join(cause.name for cause in self.causes), *shown, *more])


@dataclass(frozen=True)
class Explanation:
    """What was tried for an output that is ``before`` the judge what the verdict says, and what explains it.

    ``trials`` are all sets of causes that change anything, in the order tried; ``untried`` says what could not be, and
    why. ``found`` are the trials that explain, several where they cannot be told apart.
    """

    before: Verdict
    equal: float
    trials: tuple[Trial, ...]
    found: tuple[Trial, ...]
    untried: tuple[tuple[Cause, str], ...] = ()

    @property
    def name(self) -> str:
        """What explains, in words; "" for nothing."""
        return ("either " if len(self.found) > 1 else "") + ", or ".join(trial.name for trial in self.found)

    @property
    def sentence(self) -> str:
        """The explanation, with the largest error as a share of the bound before and after, or that there is none."""
        return f"explained by: {self.brief}" if self.found else "unexplained"

    @property
    def brief(self) -> str:
        """What explains, with the largest error as a share of the bound before and after; "" for nothing."""
        if not self.found:
            return ""
        before, after = (_share(verdict) for verdict in (self.before, self.found[0].verdict))
        equal = ", bit for bit" if self.found[0].equal == 1 else ""
        evidence = "; ".join(dict.fromkeys(filter(None, (cause.evidence for cause in self.found[0].causes))))
        return f"{self.name} ({before} of the bound -> {after}{equal}{evidence and f'; measured of {evidence}'})"


def explain(
    outputs: Sequence[np.ndarray],
    contract: Mapping[str, Golden],
    causes: Iterable[Cause],
    evaluate: Evaluate,
    *,
    most: int = MOST,
) -> Explanation:
    """Return what explains ``outputs`` that are not the ``contract``'s golden results: sets of up to ``most`` causes.

    ``evaluate`` computes golden results under an emulation, and may raise TooLongError. Of causes that make the same,
    the first gives all its name.
    """
    search = _Search(outputs, contract, evaluate)
    singles = list(search.tried((cause,) for cause in causes))
    trials, latest = list(singles), singles
    for _ in range(most - 1):
        if found := search.explaining(latest):
            break
        latest = list(search.tried(_larger(latest, singles), within=trials))
        trials += latest
    else:
        found = search.explaining(latest)
    return Explanation(search.before, search.equal, tuple(trials), tuple(found), tuple(search.untried))


def _larger(latest: Sequence[Trial], singles: Sequence[Trial]) -> Iterator[tuple[Cause, ...]]:
    """Yield each of the most promising sets with one more cause."""
    promising = sorted((trial for trial in latest if trial.gain > 0), key=lambda trial: -trial.gain)[:PROMISING]
    seen = set[frozenset[str]]()
    for trial, single in ((trial, single) for trial in promising for single in singles):
        several = (*trial.causes, *single.causes)
        names = frozenset(cause.name for cause in several)
        if len(names) == len(several) and names not in seen:
            seen.add(names)
            yield several


class _Search:
    """One search: what is known of the outputs, and the golden results that were met."""

    def __init__(self, outputs: Sequence[np.ndarray], contract: Mapping[str, Golden], evaluate: Evaluate) -> None:
        self._outputs = outputs
        self._contract = contract
        self._evaluate = evaluate
        self._met: dict[bytes, Trial | None] = {_signature(contract): None}
        self._count = 0
        self.before = judge_all(contract, outputs)
        self.equal = _equal(contract, outputs)
        self.untried: list[tuple[Cause, str]] = []

    def tried(self, sets: Iterable[tuple[Cause, ...]], within: Sequence[Trial] = ()) -> Iterator[Trial]:
        """Yield a trial of each set that changes anything, and that gains more than those of its parts ``within``."""
        parts = {trial.causes: trial.gain for trial in within}
        for several in sets:
            emulation = together(several)
            if emulation is None:
                continue
            try:
                goldens = self._evaluate(emulation)
            except TooLongError as error:
                self.untried.append((several[-1], str(error)))
                continue
            self._count += 1
            signature = _signature(goldens)
            if signature in self._met:
                known = self._met[signature]
                if known and len(several) == len(known.causes):
                    known.alike.append(several)
                continue
            gain, sure, met = self._gain(goldens)
            trial = Trial(several, judge_all(goldens, self._outputs), gain, sure, _equal(goldens, self._outputs), met)
            self._met[signature] = trial
            if all(gain > parts.get(part, -math.inf) - math.log(DOUBT) for part in _parts(several)):
                yield trial

    def explaining(self, trials: Iterable[Trial]) -> list[Trial]:
        """Return those of ``trials`` that explain, and that the best of all is not better than.

        The best may not pass yet, where more is the cause than one set says: then none of its size explains.
        Where measurements speak for some of them, those alone.
        """
        least = math.log(max(self._count, 1)) - math.log(DOUBT)
        known = list(trials)
        good = [trial for trial in known if trial.explains(least)]
        best = max((trial.gain for trial in known), default=0.0)
        rivals = sorted((one for one in good if one.gain > best + math.log(DOUBT)), key=lambda one: -one.gain)
        return [one for one in rivals if one.measured] or rivals

    def _gain(self, goldens: Mapping[str, Golden]) -> tuple[float, float, float]:
        """Return the gain, the one that is sure, and the share of moved elements that are met."""
        triples = zip(self._contract.values(), goldens.values(), self._outputs, strict=True)
        gains, sure, moved, met = zip(*(_gain(*triple) for triple in triples), strict=True)
        return sum(gains), sum(sure), sum(met) / max(sum(moved), 1)


def _parts(several: tuple[Cause, ...]) -> list[tuple[Cause, ...]]:
    return [several[:place] + several[place + 1 :] for place in range(len(several))] if len(several) > 1 else []


def _gain(contract: Golden, golden: Golden, output: np.ndarray) -> tuple[float, float, int, int]:
    """Return the gains of one result, both kinds, how many elements are moved, and how many of those are met.

    Elements that are equal in all respects count once, and open ones not at all.
    """
    with np.errstate(all="ignore"):
        judged = np.isfinite(contract.hard) & np.isfinite(golden.hard)
        before, after, actual = (
            decode(x, contract.dtype)[judged].astype(np.float64) for x in (contract.nominal, golden.nominal, output)
        )
        bound = np.broadcast_to(golden.drift, judged.shape)[judged].astype(np.float64)
        columns = np.stack([before, after, actual, bound])
        before, after, actual, bound = np.unique(columns, axis=1) if actual.size else columns
        unit = ulp(before, contract.dtype) / 2
        far, near = _distance(before, actual, unit), _distance(after, actual, unit)
        moved = (before != after) & ~(np.isnan(before) & np.isnan(after))
        sure = np.log(np.maximum(far, bound / unit) / np.maximum(near, bound / unit))[moved]
        met = moved & (after == actual)
        return float(np.log(far / near).sum()), float(sure.sum()), int(moved.sum()), int(met.sum())


def _distance(golden: np.ndarray, actual: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Return how far ``actual`` is from ``golden`` in ``unit``, 1 or more; very far where just one is a number."""
    same = (golden == actual) | (np.isnan(golden) & np.isnan(actual))
    distance = np.where(same, 0.0, np.abs(actual - golden) / unit)
    return np.clip(np.where(np.isfinite(distance), distance, _FARTHEST), 1.0, _FARTHEST)


def _equal(goldens: Mapping[str, Golden], outputs: Sequence[np.ndarray]) -> float:
    """Return the share of elements that are bit-equal to golden's, either zero or any NaN being as good as another."""
    equal = total = 0
    for golden, output in zip(goldens.values(), outputs, strict=True):
        nominal, actual = decode(golden.nominal, golden.dtype), decode(output, golden.dtype)
        equal += int(((nominal == actual) | (np.isnan(nominal) & np.isnan(actual))).sum())
        total += output.size
    return equal / max(total, 1)


def _signature(goldens: Mapping[str, Golden]) -> bytes:
    return b"".join(chain.from_iterable((golden.nominal.tobytes(),) for golden in goldens.values()))


def _same_rounding(cause: Cause, others: Iterable[Cause]) -> bool:
    """Whether the same is done at another step, which is nothing else where it makes no difference."""
    return any(set(cause.changes.values()) & set(other.changes.values()) for other in others)


def _share(verdict: Verdict) -> str:
    return "?" if verdict.share is None else f"{verdict.share:.3g}"
