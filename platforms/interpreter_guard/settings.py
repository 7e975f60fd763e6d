"""What the guarded interpreter is told to do, by :func:`platforms.guarded_interpreter.install`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Settings:
    """In which order programs run, whether to look for conflicts, and which order a shuffled one is."""

    order: str = "forward"
    races: bool = True
    seed: int = 0


SETTINGS = Settings()
"""What holds for every launch from now on."""
