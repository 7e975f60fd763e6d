"""A gate: what of a fleet's results lets a command fail, such as ``--fail-on wrong,crashed``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.ink import counted
from reports.record import VERDICTS

if TYPE_CHECKING:
    from reports.audit import Audit

_PASSING = ("exact", "within", "vacuous", "unsupported")

WORDS = {
    **{verdict: f"a record whose verdict is {verdict}" for verdict in VERDICTS if verdict not in _PASSING},
    "drift": "a drift that nothing accounts for, or that nothing explains between two places",
    "failure": "any verdict that fails",
    "regression": "a case that fails and passed in the run before, on the same machine",
}
"""What a gate may be made of, and what each means."""


class GateError(ValueError):
    """A gate was asked for that there is not; the message lists those that there are."""


def parse(text: str) -> tuple[str, ...]:
    """Return the words of a gate, separated by commas; raises GateError for one that there is not."""
    words = tuple(word.strip() for word in text.split(",") if word.strip())
    for word in words:
        if word not in WORDS:
            raise GateError(f"--fail-on {word} is no gate; there are {', '.join(WORDS)}")
    return words


def breaches(audit: Audit, gate: tuple[str, ...]) -> list[str]:
    """Return, a sentence each, which words of ``gate`` the results do not meet; none if they may pass.

    Where nothing was judged no gate is met: what ran nowhere has not passed.
    """
    found = ["nothing was judged"] if gate and not audit.judged else []
    for word in gate:
        number, noun = _counted(audit, word)
        if number:
            found.append(f"{word}: {counted(number, noun)}")
    return found


def _counted(audit: Audit, word: str) -> tuple[int, str]:
    if word == "regression":
        return sum(row.broken for row in audit.regressions), "case"
    if word == "failure":
        return audit.failing.total(), "record"
    if word == "drift":
        flagged = sum(row.flagged for row in audit.carried)
        return audit.failing["drift"] + flagged, "unexplained drift"
    return audit.failing[word], "record"
