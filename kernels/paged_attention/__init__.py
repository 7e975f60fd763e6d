"""paged_attention(q, k_pages, v_pages, page_table, lengths, *, scale): decoding from a cache that is cut into pages."""

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


class PagedAttention(Operation):
    """Attention of one query a sequence, q (B, H, D), to ``lengths[b]`` keys in pages (P, page, HK, D).

    Key i of sequence b lies in page ``page_table[b, i // page]`` at i % page, as in vLLM. Pages come in any order, and
    sequences may share some. Entries of the table (int32) beyond a sequence's last page are -1. A head of the pages may
    serve several of q. ``scale`` None is 1 / sqrt D. float16 and bfloat16 are computed in float32, with P rounded to
    the narrow type, or not.

    Kwon et al., "Efficient memory management for large language model serving with PagedAttention", SOSP 2023.
    """

    name = "paged_attention"
    tensor_dtypes: ClassVar = {"page_table": "int32", "lengths": "int32"}
    multiplies_matrices = True
    toothless: ClassVar = {
        "tile unwritten": "where nothing is cached for the last sequence, its heads are open",
        "lower inputs": "where scores reach hundreds, an error in their last bits moves P by more than tf32 inputs do",
    }
    policies: ClassVar = {
        "NaN": "a NaN in q makes its head NaN, one in a key or value the heads that see it",
        "beyond the length": "what lies on the last page there, or on other pages, reaches nothing, NaN included",
        "nothing cached": "open: a sequence of length 0 gives NaN or 0",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        h, hk, d, pages, page, slots = self.size(case, "h", "hk", "d", "pages", "page", "slots")
        lengths = self.shape(case, "lengths")
        if not (hk and d and pages and page) or h % hk or max(lengths, default=0) > slots * page:
            raise CaseError(
                "paged_attention needs h a multiple of hk, d, page and pages of 1 or more, and lengths of slots * page"
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
        lengths = [draw(st.one_of(strategies.sizes(slots * page), st.just(slots * page))) for _ in range(count)]
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

    def reference(
        self, q: Any, k_pages: Any, v_pages: Any, page_table: np.ndarray, lengths: np.ndarray, *, scale: float | None
    ) -> Any:
        results = []
        for number, length in enumerate(lengths):
            place = np.arange(length)
            page = np.shape(enclosure.numbers(k_pages))[1]
            index = page_table[number, place // page], place % page
            k, v = (enclosure.swapped(enclosure.taken(x, index), 0, 1) for x in (k_pages, v_pages))
            results.append(attended_by_one(enclosure.taken(q, slice(number, number + 1)), k, v, scale=scale))
        return enclosure.concatenated(results, 0) if results else q
