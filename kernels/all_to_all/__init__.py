"""all_to_all(x, *, splits): each rank sends some rows of its tensor to each rank, and receives some from each."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, CaseError
from golden.precision import Precision
from kernels import spread

_ROWS = (1, 2, 3, 0, 1, 5, 7, 0, 16, 33)


class AllToAll(spread.Spread):
    """Rank s sends ``splits[s * ranks + r]`` rows to rank r, which has them in the order of the senders.

    A rank may send nothing, or receive nothing.
    """

    name = "all_to_all"
    dtypes = spread.MOVED
    message = ("width", "x")
    policies: ClassVar = {"NaN": "stays a NaN", "signed zero": "stays as it is"}

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        ranks, (width,) = self.ranks(case), self.size(case, "width")
        longest = max(sum(self._splits(case)[rank * ranks :][:ranks]) for rank in range(ranks))
        return {"x": (ranks, longest, width)}

    def held(self, case: Case, tensor: str, rank: int) -> int:
        ranks = self.ranks(case)
        return sum(self._splits(case)[rank * ranks :][:ranks])

    def output_shape_of(self, case: Case, rank: int) -> tuple[int, ...]:
        return (sum(self._splits(case)[rank :: self.ranks(case)]), *self.size(case, "width"))

    def _splits(self, case: Case) -> list[int]:
        splits, ranks = case.params.get("splits"), self.ranks(case)
        numbers = splits if isinstance(splits, list) else []
        if len(numbers) != ranks * ranks or not all(isinstance(one, int) and one >= 0 for one in numbers):
            raise CaseError(f"all_to_all needs params.splits, {ranks} numbers of rows for each rank, not {splits!r}")
        return numbers

    @staticmethod
    @st.composite
    def _dims(draw: st.DrawFn, numbers: tuple[int, ...], budget: int) -> tuple[dict[str, Any], dict[str, Any]]:
        ranks = draw(st.sampled_from(numbers))
        if draw(st.booleans()):
            splits = [draw(st.sampled_from((1, 2, 0, 5)))] * (ranks * ranks)
        else:
            splits = draw(st.lists(st.sampled_from(_ROWS), min_size=ranks * ranks, max_size=ranks * ranks))
        if draw(st.integers(0, 3)) == 3:
            idle = draw(st.integers(0, ranks - 1))
            splits[idle * ranks : (idle + 1) * ranks] = [0] * ranks
        longest = max(sum(splits[rank * ranks :][:ranks]) for rank in range(ranks))
        width = draw(spread.sizes(max(1, budget // max(1, ranks * longest))))
        return {"ranks": ranks, "width": width}, {"splits": splits}

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return self._dims(self.numbers, budget)

    def precision(self, dtype: str) -> Precision:
        return Precision(compute="exact")

    def reference(self, x: Any, *, splits: list[int]) -> Any:
        ranks = x.shape[0]

        def sent(source: int, to: int) -> Any:
            before = sum(splits[source * ranks :][:to])
            return enclosure.taken(x, (source, slice(before, before + splits[source * ranks + to])))

        return tuple(enclosure.concatenated([sent(source, to) for source in range(ranks)], 0) for to in range(ranks))
