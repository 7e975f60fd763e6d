"""An audit as JSON, for programs: which case fails where, why, and the command that replays it."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import combinations
from typing import Any

from reports.audit import Audit
from reports.fleet.cells import FleetCell
from reports.gate import breaches
from reports.ladder.carrying import Way, ways
from reports.ladder.rungs import rungs
from reports.places import machines
from reports.strict import strict

FORMAT = 1
"""The version of this document's layout."""


def document(audit: Audit, gate: tuple[str, ...]) -> str:
    """Return the audit as strict JSON, infinite figures as "inf"; ``failures`` come first, the worst of them first."""
    broken, steps = breaches(audit, gate), list(rungs(audit.heats))
    value = {
        "format": FORMAT,
        "gate": {"fail_on": list(gate), "met": not broken, "breaches": broken},
        "failures": [_cell(cell) for cell in audit.failures],
        "regressions": [asdict(row) for row in audit.regressions if row.broken or row.changed],
        "drift": [{**asdict(row), "flagged": row.flagged} for row in audit.carried],
        "cells": [_cell(cell, brief=True) for cell in audit.cells],
        "moves": [
            {"operation": operation, "origin": origin, "target": target, "answer": answer, "may": may, "of": of}
            for (operation, origin, target), (answer, may, of) in audit.operations.items()
        ],
        "carryover": [
            _way(*pair, way)
            for pair in combinations(dict.fromkeys(heat.device for heat in audit.heats), 2)
            for way in ways(steps, *pair)
        ],
        "profiles": [
            {"question": one.question, "answers": one.answers, "flagged": one.flagged} for one in audit.profiles.apart
        ],
        "unrun": [{"reason": reason, "thing": thing, "machine": machine} for reason, thing, machine in audit.unrun],
        "runs": [
            {
                "id": run.id,
                "machine": run.machine,
                "started": run.started,
                "portolan": run.environment.get("portolan"),
                "reached": [name for name, _ in machines(run.environment)][1:],
            }
            for run in audit.runs
        ],
        "problems": audit.problems,
    }
    return json.dumps(strict(value), indent=1, allow_nan=False)


def _way(origin: str, target: str, way: Way) -> dict[str, Any]:
    gains = {origin: way.origin.gain, target: way.target.gain}
    return {
        "technique": way.origin.arm.technique,
        "operation": way.origin.heat.operation,
        "size": way.size,
        "class": way.answer,
        "gains": {device: asdict(gain) if gain else None for device, gain in gains.items()},
    }


def _cell(cell: FleetCell, *, brief: bool = False) -> dict[str, Any]:
    value = asdict(cell)
    if brief:
        for name in ("case", "message", "cause", "replay"):
            del value[name]
    return value
