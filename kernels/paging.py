"""What the contracts of decoding from pages have in common: sizes, the page table, and the formula over enclosures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, CaseError
from golden.inputs import Words
from kernels import strategies
from kernels.operation import Operation
from kernels.scaled_dot_product import WORK, attended_by_one


class Paging(Operation, abstract=True):
    """Attention of one query a sequence, q (B, H, D), to ``lengths[b]`` keys in pages (P, page, HK, D)."""

    multiplies_matrices = True
    toothless: ClassVar = {
        "last dropped": "where scores reach hundreds, the last key has next to nothing of P",
        "tile unwritten": "where nothing is cached for the last sequence, its heads are open",
        "lower inputs": "where scores reach hundreds, an error in their last bits moves P by more than tf32 inputs do",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        h, hk, d, pages, page, slots = self.size(case, "h", "hk", "d", "pages", "page", "slots")
        lengths = self.shape(case, "lengths")
        if not (hk and d and pages and page) or h % hk or max(lengths, default=0) > slots * page:
            raise CaseError(
                f"{self.name} needs h a multiple of hk, d, page and pages of 1 or more, and lengths of slots * page"
                f" at most, not {dict(case.dims)}"
            )
        kv, count = (pages, page, hk, d), len(lengths)
        return {"q": (count, h, d), "k_pages": kv, "v_pages": kv, "page_table": (count, slots), "lengths": (count,)}

    def output_shape(self, case: Case) -> tuple[int, ...]:
        return self.shapes(case)["q"]

    def values(self, case: Case, tensor: str) -> Sequence[int] | None:
        if tensor == "lengths":
            return self.shape(case, "lengths")
        return self._table(case) if tensor == "page_table" else None

    def _table(self, case: Case) -> list[int]:
        """Return the page table: any pages, since no two entries need differ, and -1 where no page is needed."""
        pages, page, slots = self.size(case, "pages", "page", "slots")
        lengths = self.shape(case, "lengths")
        drawn = Words(case.seed, "page_table").below(pages, len(lengths), slots)
        needed = np.arange(slots) * page < np.array(lengths, np.int64)[:, None]
        return [int(entry) for entry in np.where(needed, drawn, -1).ravel()]

    @staticmethod
    @st.composite
    def _dims(draw: st.DrawFn, budget: int) -> tuple[dict[str, Any], dict[str, Any]]:
        d = draw(st.sampled_from([size for size in (64, 128, 32, 16, 80, 8, 33, 1) if 4 * size <= budget] or [1]))
        hk, groups = draw(st.sampled_from([1, 1, 2])), draw(st.sampled_from([1, 4, 2, 3, 8]))
        count = draw(st.sampled_from([1, 2, 3, 5, 0]))
        room = max(budget // (d * hk), 1)
        page = draw(st.sampled_from([size for size in (16, 1, 8, 32, 3, 64) if size <= room]))
        pages = draw(st.integers(1, min(room // page, 40)))
        most = max(min(WORK * budget // (hk * groups * page * max(count, 1)), budget // max(count, 1), 40), 1)
        slots = draw(strategies.sizes(most, least=1))
        lengths = [draw(st.one_of(st.just(slots * page), strategies.sizes(slots * page))) for _ in range(count)]
        dims = {"h": hk * groups, "hk": hk, "d": d, "pages": pages, "page": page, "slots": slots, "lengths": lengths}
        return dims, {"scale": draw(st.sampled_from([None, None, 0.125, 1.0]))}

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return self._dims(budget)

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        return self.without_overflow(super().regimes(dtype, tensor), dtype)

    def independent_axis(self, case: Case) -> tuple[int, dict[str, int]] | None:
        return 0, {"q": 0, "page_table": 0, "lengths": 0}

    def reduced_axes(self, case: Case) -> dict[str, int]:
        return {"v_pages": 1, "k_pages": 1}


def decoded_from_pages(
    q: Any, k_pages: Any, v_pages: Any, page_table: np.ndarray, lengths: np.ndarray, *, scale: float | None
) -> Any:
    """Return what each query gets of the keys and values on the pages of its sequence."""
    results = []
    page = np.shape(enclosure.numbers(k_pages))[1]
    for number, length in enumerate(lengths):
        place = np.arange(length)
        index = page_table[number, place // page], place % page
        k, v = (enclosure.swapped(enclosure.taken(x, index), 0, 1) for x in (k_pages, v_pages))
        results.append(attended_by_one(enclosure.taken(q, slice(number, number + 1)), k, v, scale=scale))
    return enclosure.concatenated(results, 0) if results else q
