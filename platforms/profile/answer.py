"""What comes out of a probe: the answer to one question, with its evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from platforms.profile.machine import Unable

UNKNOWN = "unknown"
"""The answer when the results fit none of the answers that a probe knows, or several."""

UNABLE = "-"
"""The answer when the machine cannot do what the question is about; the evidence says why."""

Finding = tuple[str, dict[str, Any]]
"""An answer and its evidence."""


@dataclass(frozen=True)
class Answer:
    """The answer to one question.

    Attributes:
        topic: which question, such as ``"rounding of conversions"``.
        subject: what it is asked of, such as ``"float32 to float16"``.
        answer: a few words; :data:`UNKNOWN` or :data:`UNABLE` where there is none.
        evidence: the figures behind it, JSON values.
    """

    topic: str
    subject: str
    answer: str
    evidence: Mapping[str, Any] = field(default_factory=dict)

    def to_value(self) -> dict[str, Any]:
        """Return the answer as JSON values."""
        return asdict(self)


def asked(topic: str, subject: str, probe: Callable[[], Finding]) -> Answer:
    """Return the answer that ``probe`` finds, or that the machine is unable."""
    try:
        answer, evidence = probe()
    except Unable as error:
        answer, evidence = UNABLE, {"why": str(error)}
    return Answer(topic, subject, answer, evidence)


def identified(found: np.ndarray, predicted: Mapping[str, np.ndarray], *, signed_zeros: bool = False) -> Finding:
    """Return the one name under which exactly the numbers that were ``found`` are predicted.

    :data:`UNKNOWN` where there is none, or several. The evidence says how many points there were and, where no single
    name fits them all, how many fit each. NaN equals NaN, and zeros of both signs are equal unless told otherwise.
    """
    fits = {name: int(_same(found, numbers, signed_zeros).sum()) for name, numbers in predicted.items()}
    fitting = [name for name, count in fits.items() if count == found.size]
    evidence: dict[str, Any] = {"points": int(found.size)}
    if len(fitting) == 1:
        return fitting[0], evidence
    return UNKNOWN, {**evidence, "fits": fits}


def together(probes: Mapping[str, Callable[[], Finding]]) -> Finding:
    """Return one finding of several: the answer that they share, or each answer with the names of those it is of.

    What the machine is unable to do is left out, and noted; raises Unable if nothing is left.
    """
    found: dict[str, Finding] = {}
    unable: dict[str, str] = {}
    for name, probe in probes.items():
        try:
            found[name] = probe()
        except Unable as error:
            unable[name] = str(error)
    if not found:
        raise Unable("; ".join(dict.fromkeys(unable.values())))
    names: dict[str, list[str]] = {}
    for name, (answer, _) in found.items():
        names.setdefault(answer, []).append(name)
    evidence = {name: {"answer": answer, **why} for name, (answer, why) in found.items()} | (
        {"unable": unable} if unable else {}
    )
    if len(names) == 1:
        return next(iter(names)), evidence
    return "; ".join(f"{answer} ({', '.join(of)})" for answer, of in names.items()), evidence


def _same(found: np.ndarray, predicted: np.ndarray, signed_zeros: bool) -> np.ndarray:
    same = (found == predicted) | ((found != found) & (predicted != predicted))
    return same & (np.signbit(found) == np.signbit(predicted)) | (found != found) & same if signed_zeros else same
