"""The audit of absent hardware in a run: what was asked for is compiled, and the bundle gets everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from platforms.targets.architecture import ARCHITECTURES
from reports.targets import KEY
from suites.session import Session

if TYPE_CHECKING:
    from platforms.targets.audit import Audit


def audited(session: Session) -> Audit:
    """Return the audit of all that ``session`` asks for, on every architecture; its bundle has it as a fact."""
    from platforms.targets import table
    from platforms.targets.audit import audit

    chosen = [one.id for one in session.implementations]
    made = audit(session.catalogue, architectures=list(ARCHITECTURES.values()), patterns=chosen)
    session.bundle.update_environment(KEY, table.facts(made))
    return made
