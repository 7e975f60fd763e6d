"""The HTML document: the audit, put into the template."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from reports.agreement import named
from reports.audit import Audit
from reports.gate import breaches
from reports.html import pictures
from reports.html.absent import absent
from reports.html.agreeing import agreeing
from reports.html.carryover import carryovers
from reports.html.cascade import cascade, percent
from reports.html.portability import Portabilities
from reports.html.view import Matrix, Moves, Profiles, failures, machines
from reports.ink import counted, figure, plain

MOST_DRIFTS = 500
"""Rows of the table of drifts: a browser takes its time for the many thousands that a dozen of places make."""

_HERE = Path(__file__).parent


def document(audit: Audit, gate: tuple[str, ...] = ()) -> str:
    """Return the audit as a whole HTML document; raises BundleError for facts that no run writes."""
    style, script = (_read(name) for name in ("style.css", "behaviour.js"))
    return (
        _environment()
        .get_template("audit.html")
        .render(
            audit=audit,
            gate=gate,
            breaches=breaches(audit, gate),
            failures=failures(audit),
            most_drifts=MOST_DRIFTS,
            moves=Moves.of(audit),
            matrix=Matrix.of(audit),
            profiles=Profiles.of(audit),
            agreeing=list(agreeing(audit)),
            absent=list(absent(audit)),
            machines=list(machines(audit)),
            carryovers=list(carryovers(audit.heats)),
            portability=Portabilities.of(audit.heats),
            style=Markup(style),
            script=Markup(script),
            script_digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        )
    )


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "figure": figure,
        "plain": plain,
        "share": lambda value: "" if value is None else figure(value),
        "percent": lambda value: f"{int(100 * value)} %",
        "efficiency": percent,
        "named": named,
        "signed": lambda value: f"{value:+.2g}",
        "tree": pictures.tree,
        "histogram": pictures.histogram,
        "intervals": pictures.intervals,
        "cascade": cascade,
    }
    environment.globals |= {"counted": counted}
    return environment


def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")
