"""Cases drawn by Hypothesis once and for all: the same ones every time, without a search for failures."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded

from golden.case import Case
from kernels import strategies
from kernels.operation import Operation
from suites.batches import batches, turn


def drawn(
    operation: Operation, number: int, *, budget: int, dtype: str | None = None, seed: str = "", ahead: int = 0
) -> list[Case]:
    """Return up to ``number`` cases of ``operation`` with at most ``budget`` elements a tensor, of one dtype or any.

    Each ``seed``, any text, gives others. The laws of values have their turns as if ``ahead`` had been before.
    """
    cases: dict[str, Case] = {}
    for batch, examples in batches(number):
        _collect(operation, cases, examples, budget, dtype, turn(ahead, batch), f"{seed}:{batch}")
    return list(cases.values())


def _collect(
    operation: Operation, cases: dict[str, Case], examples: int, budget: int, dtype: str | None, number: int, seed: str
) -> None:
    @seeded(int.from_bytes(seed.encode(), "big"))
    @settings(
        max_examples=examples,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategies.cases(operation, budget, dtype=dtype, turn=number))
    def collect(case: Case) -> None:
        cases[case.line] = case

    collect()
