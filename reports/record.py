"""A record: one line of results, saying what one implementation on one platform made of one case.

It is checked when it is made, so that whatever reads it later, perhaps on another machine, need not doubt it. As JSON
it is strict and one line: an infinite figure is the string "inf", and what is default is left out.
"""

from __future__ import annotations

import json
import math
import re
import reprlib
from dataclasses import MISSING, dataclass, fields
from typing import Any, Literal, NoReturn

VERDICTS = (
    "exact",
    "within",
    "drift",
    "vacuous",
    "unsupported",
    "recompiled",
    "inconsistent",
    "wrong",
    "dishonest",
    "undefined",
    "unwritten",
    "out of bounds",
    "input changed",
    "conflict",
    "crashed",
    "hung",
)
"""Every verdict, from best to worst."""

Outcome = Literal["pass", "fail", "none"]

_WITHOUT_OUTPUT = ("unsupported", "crashed", "hung")
_NEITHER = ("vacuous", "unsupported")
_EXPLICABLE = ("drift", "wrong")
_WORD = re.compile(r"[!-~]+")
_LINE = re.compile(r"[ -~]*[!-~][ -~]*")
_IMPLEMENTATION = re.compile(r"[!-.0-~]+/[!-.0-~]+/[!-.0-~]+")


class RecordError(ValueError):
    """A record contradicts itself or is malformed; the message names the field, its value and what is right."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """What one implementation on one platform made of one case. Raises RecordError if its fields are inconsistent.

    Figures are None where there was no output to measure. Errors are in ULP of the output's dtype, or shares of a
    bound of the contract; these may be infinite, never NaN.
    """

    suite: str
    """The question that was asked, such as "equivalence"."""
    case: str
    """The case, as its one line."""
    operation: str
    """What is computed; the first part of the implementation's id."""
    dtype: str
    """The case's dtype."""
    implementation: str
    """The implementation's id: operation/paradigm/name."""
    platform: str
    """Where it ran."""
    verdict: str
    """One of VERDICTS."""
    elements: int = 0
    """How many elements the output has."""
    open: int = 0
    """How many of them the contract leaves open; they were not judged."""
    max_ulp: float | None = None
    """The largest error, in ULP."""
    share: float | None = None
    """The largest error as a share of the drift bound; at most 1 for an output within it."""
    hard_share: float | None = None
    """The largest error as a share of the hard bound; above 1 no correct implementation could be."""
    rms_ulp: float | None = None
    """The root mean square of the errors, in ULP."""
    bias_ulp: float | None = None
    """The mean of the signed errors, in ULP."""
    rms_share: float | None = None
    """The root mean square error over the largest that chance allows a good implementation."""
    deviations: float | None = None
    """How far the sum of the errors is beyond what a good implementation's bias allows, in deviations of chance."""
    seconds: float | None = None
    """How long the call took, device synchronisation included; finite."""
    message: str = ""
    """What there is to say: the first difference, an exception, a reason. May have several lines."""
    accounted: str = ""
    """What accounts for a drift, such as "declared numerics: tf32"; empty for every other verdict."""
    cause: str = ""
    """What explains an output that fails, with its error before and after; empty where nobody asked."""
    refused: tuple[str, ...] = ()
    """Corruptions of the golden output that the bound refused: its teeth."""
    accepted: tuple[str, ...] = ()
    """Corruptions that the bound would have accepted."""
    digest: str = ""
    """The digest of the output."""
    input_digest: str = ""
    """The digest of the inputs."""

    def __post_init__(self) -> None:
        for name in ("suite", "operation", "dtype", "platform"):
            _check_match(name, getattr(self, name), _WORD, "one word of printable ASCII")
        _check_match("case", self.case, _LINE, "one line of printable ASCII")
        _check_implementation(self.implementation, self.operation)
        if self.verdict not in VERDICTS:
            _refuse("verdict", self.verdict, f"one of {', '.join(VERDICTS)}")
        for name in ("message", "accounted", "cause", "digest", "input_digest"):
            if not isinstance(getattr(self, name), str):
                _refuse(name, getattr(self, name), "a text")
        _check_count("elements", self.elements, "an integer of 0 or more")
        _check_count("open", self.open, f"an integer from 0 to elements = {self.elements}", most=self.elements)
        for name in ("max_ulp", "share", "hard_share", "rms_ulp", "rms_share"):
            self._set_figure(name, least=0.0)
        for name in ("bias_ulp", "deviations"):
            self._set_figure(name, least=-math.inf)
        self._set_figure("seconds", least=0.0)
        if self.seconds == math.inf:
            _refuse("seconds", self.seconds, "finite")
        for name in ("refused", "accepted"):
            object.__setattr__(self, name, _corruptions(name, getattr(self, name)))
        _check_consistent(self)

    def _set_figure(self, name: str, *, least: float) -> None:
        object.__setattr__(self, name, _figure(name, getattr(self, name), least))

    def to_json(self) -> str:
        """Return the record as one line of strict JSON: fields in order, defaults left out, infinity as "inf"."""
        values = ((name, getattr(self, name)) for name in _DEFAULTS)
        kept = {name: _strict(value) for name, value in values if value != _DEFAULTS[name]}
        return json.dumps(kept, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_json(cls, line: str) -> Record:
        """Return the record that ``line`` says; raises RecordError for anything but what ``to_json`` writes."""
        try:
            value = json.loads(line, parse_constant=_refuse_constant, object_pairs_hook=_unique)
        except (ValueError, RecursionError) as error:
            raise RecordError(f"a record is one line of strict JSON; {error}") from None
        if not isinstance(value, dict):
            raise RecordError(f"a record is a JSON object, not {reprlib.repr(value)}")
        for name in value:
            if name not in _DEFAULTS:
                raise RecordError(f"unknown field {reprlib.repr(name)} in a record; there are {', '.join(_DEFAULTS)}")
        missing = [name for name, default in _DEFAULTS.items() if default is MISSING and name not in value]
        if missing:
            raise RecordError(f"the record lacks {', '.join(missing)}")
        for name in _FIGURES:
            if isinstance(value.get(name), str):
                value[name] = _infinity(name, value[name])
        return cls(**value)


def outcome(record: Record) -> Outcome:
    """Return "pass", "fail", or "none" for a record that counts as neither: vacuous or unsupported.

    Exact and within pass, and so does a drift that is accounted for; every other verdict fails.
    """
    if record.verdict in _NEITHER:
        return "none"
    if record.verdict in ("exact", "within") or (record.verdict == "drift" and record.accounted):
        return "pass"
    return "fail"


def passes(record: Record) -> bool:
    """Return whether the record counts as a pass; a vacuous or unsupported one does not."""
    return outcome(record) == "pass"


_DEFAULTS: dict[str, Any] = {field.name: field.default for field in fields(Record)}
_ERRORS = ("max_ulp", "share", "hard_share", "rms_ulp", "bias_ulp", "rms_share", "deviations")
_FIGURES = (*_ERRORS, "seconds")
_INFINITIES = {"inf": math.inf, "-inf": -math.inf}
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 100


def _refuse(name: str, value: object, right: str) -> NoReturn:
    raise RecordError(f"record field {name} is {_SHORT.repr(value)}; it must be {right}")


def _check_match(name: str, value: object, pattern: re.Pattern[str], right: str) -> None:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        _refuse(name, value, right)


def _check_implementation(implementation: object, operation: str) -> None:
    _check_match("implementation", implementation, _IMPLEMENTATION, "operation/paradigm/name")
    if not str(implementation).startswith(f"{operation}/"):
        _refuse("implementation", implementation, f"of the record's own operation, {operation}/paradigm/name")


def _check_count(name: str, value: object, right: str, most: float = math.inf) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        _refuse(name, value, right)


def _figure(name: str, value: object, least: float) -> float | None:
    if value is None:
        return None
    right = "a number of 0 or more, or None" if least == 0 else "a number, or None"
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        _refuse(name, value, right)
    try:
        figure = float(value)
    except OverflowError:
        _refuse(name, value, f"{right}, within the range of a float")
    if not figure >= least:  # also refuses NaN
        _refuse(name, value, right)
    return figure


def _corruptions(name: str, value: object) -> tuple[str, ...]:
    right = "a tuple of names, each one line of printable ASCII and there once"
    if not isinstance(value, (tuple, list)):
        _refuse(name, value, right)
    for one in value:
        _check_match(name, one, _LINE, right)
    if len(set(value)) < len(value):
        _refuse(name, value, right)
    return tuple(value)


def _check_consistent(record: Record) -> None:
    if record.accounted and record.verdict != "drift":
        _refuse("accounted", record.accounted, f"empty, because the verdict is {record.verdict!r} and not 'drift'")
    if record.cause and record.verdict not in _EXPLICABLE:
        _refuse("cause", record.cause, f"empty, because the verdict is {record.verdict!r}")
    both = sorted(set(record.refused) & set(record.accepted))
    if both:
        _refuse("accepted", both, "disjoint from refused: a bound does either")
    if record.verdict in _WITHOUT_OUTPUT:
        for name in _ERRORS:
            if getattr(record, name) is not None:
                _refuse(name, getattr(record, name), f"None, because {record.verdict!r} leaves no output to measure")
    # A share above 1 is an error above the bound, which these verdicts deny.
    if record.verdict in ("exact", "within") and (record.share or 0.0) > 1:
        _refuse("share", record.share, f"at most 1, because the verdict is {record.verdict!r}")
    if record.verdict in ("exact", "within", "drift") and (record.hard_share or 0.0) > 1:
        _refuse("hard_share", record.hard_share, f"at most 1, because the verdict is {record.verdict!r}")


def _strict(value: object) -> object:
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value


def _infinity(name: str, text: str) -> float:
    if text not in _INFINITIES:
        _refuse(name, text, 'a number, "inf" or "-inf"')
    return _INFINITIES[text]


def _refuse_constant(token: str) -> NoReturn:
    raise RecordError(f"{token} is not strict JSON; an infinite figure is the text 'inf', a missing one is left out")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise RecordError(f"{repeated!r} is there twice")
    return value
