"""varlen_attention(q, k, v, cu_q, cu_k, *, causal, scale): attention within each of many sequences in one tensor."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, CaseError
from kernels import strategies
from kernels.operation import Operation
from kernels.scaled_dot_product import WORK, attended, visible


class VarlenAttention(Operation):
    """Attention of sequences that lie one behind the other: q is (Tq, H, D), k and v are (Tk, HK, D), as there.

    Sequence n has the queries cu_q[n] to cu_q[n + 1] - 1 and the keys cu_k[n] to cu_k[n + 1] - 1 (int32, the first 0);
    either may be none. The lengths are the dims ``sq`` and ``sk``. ``causal`` masks are aligned at the bottom right, as
    FlashAttention's are since 2.1: the last query sees all keys, the one before it all but one, and so on. ``scale``
    None is 1 / sqrt D. float16 and bfloat16 are computed in float32, with P rounded to the narrow type, or not.
    """

    name = "varlen_attention"
    tensor_dtypes: ClassVar = {"cu_q": "int32", "cu_k": "int32"}
    multiplies_matrices = True
    toothless: ClassVar = {
        "tile unwritten": "where the last sequences have no keys, or fewer than queries, their rows are open",
        "lower inputs": "where scores reach hundreds, an error in their last bits moves P by more than tf32 inputs do",
    }
    policies: ClassVar = {
        "NaN": "a NaN reaches the rows of its own sequence that see it",
        "other sequences": "nothing of them reaches a row, NaN included",
        "fully masked": "open: a query that sees no key gives NaN or 0",
        "masked NaN": "open: a NaN or infinity of its own sequence that a query does not see may reach it as 0 * NaN",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        h, hk, d = self.size(case, "h", "hk", "d")
        queries, keys = self.shape(case, "sq"), self.shape(case, "sk")
        if not hk or h % hk or not d or len(queries) != len(keys):
            raise CaseError(
                "varlen_attention needs h a multiple of hk, d of 1 or more and as many lengths in sq as in sk, not"
                f" {dict(case.dims)}"
            )
        offsets = (len(queries) + 1,)
        kv = (sum(keys), hk, d)
        return {"q": (sum(queries), h, d), "k": kv, "v": kv, "cu_q": offsets, "cu_k": offsets}

    def output_shape(self, case: Case) -> tuple[int, ...]:
        return self.shapes(case)["q"]

    def values(self, case: Case, tensor: str) -> Sequence[int] | None:
        lengths = {"cu_q": "sq", "cu_k": "sk"}.get(tensor)
        return [*accumulate(self.shape(case, lengths), initial=0)] if lengths else None

    @staticmethod
    @st.composite
    def _dims(draw: st.DrawFn, budget: int) -> tuple[dict[str, Any], dict[str, Any]]:
        d = draw(st.sampled_from([size for size in (64, 32, 16, 80, 128, 8, 33, 1) if 16 * size <= budget] or [1]))
        hk, groups = draw(st.sampled_from([1, 1, 2])), draw(st.sampled_from([1, 1, 2, 3]))
        count = draw(st.sampled_from([3, 1, 2, 5, 8, 0]))
        room = min(budget // (d * hk * groups), 2048)
        queries: list[int] = []
        keys: list[int] = []
        for left in range(count, 0, -1):
            most = max((room - sum(queries)) // left, 1)
            queries.append(draw(st.one_of(strategies.sizes(most), st.just(1))))
            most = max((min(room, WORK * budget // (hk * groups * max(queries[-1], 1))) - sum(keys)) // left, 1)
            keys.append(queries[-1] if queries[-1] <= most and draw(st.booleans()) else draw(strategies.sizes(most)))
        params = {"causal": draw(st.booleans()), "scale": draw(st.sampled_from([None, None, 0.125, 1.0]))}
        return {"h": hk * groups, "hk": hk, "d": d, "sq": queries, "sk": keys}, params

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return self._dims(budget)

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        return self.without_overflow(super().regimes(dtype, tensor), dtype)

    def reduced_axes(self, case: Case) -> dict[str, int]:
        return {"v": 0, "k": 0}

    def reference(
        self, q: Any, k: Any, v: Any, cu_q: np.ndarray, cu_k: np.ndarray, *, causal: bool, scale: float | None
    ) -> Any:
        results = []
        for (first, last), (begin, end) in zip(pairwise(cu_q), pairwise(cu_k), strict=True):
            parts = (q, slice(first, last)), (k, slice(begin, end)), (v, slice(begin, end))
            query, key, value = (enclosure.swapped(enclosure.taken(x, part), 0, 1) for x, part in parts)
            queries, keys = last - first, end - begin
            seen = visible(queries, keys, causal=causal, offset=keys - queries)
            results.append(enclosure.swapped(attended(query, key, value, seen, scale=scale), 0, 1))
        return enclosure.concatenated(results, 0) if results else q
