"""The policies in writing: the rules that hold everywhere, and what each operation says of itself."""

from __future__ import annotations

from collections.abc import Mapping

from golden.policies import POLICIES
from kernels.operation import Operation
from suites.tables.markdown import document, table


def policies(operations: Mapping[str, Operation]) -> str:
    """Return the document."""
    own = [
        [operation.signature, topic, *_ruled(rule)]
        for operation in sorted(operations.values(), key=lambda one: one.name)
        for topic, rule in operation.policies.items()
    ]
    return document(
        "Policies",
        "What is right where platforms may disagree. An open point is recorded and compared between platforms, and not "
        "judged. Made by `python -m suites.tables policies` from `golden/policies.py` and the contracts in `kernels/`.",
        "## Everywhere, unless an operation says otherwise",
        table(["topic", "", "rule"], [[topic, *_ruled(rule)] for topic, rule in POLICIES.items()]),
        "## Of single operations",
        table(["operation", "topic", "", "rule"], own),
    )


def _ruled(rule: str) -> tuple[str, str]:
    head, _, rest = rule.partition("open:")
    return ("open", rest.strip()) if not head else ("judged", rule)
