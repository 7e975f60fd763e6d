"""Infinite figures in JSON, which has no numbers for them. Needs nothing that is installed on request alone."""

from __future__ import annotations

import math
from typing import Any


def strict(value: Any) -> Any:
    """Return ``value`` with infinite figures as texts, for strict JSON."""
    if isinstance(value, dict):
        return {name: strict(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [strict(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
