"""decode_attention(q, k_cache, v_cache, lengths, *, scale): one new query of each sequence against what is cached."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, CaseError
from kernels import strategies
from kernels.operation import Operation
from kernels.scaled_dot_product import WORK, attended_by_one


class DecodeAttention(Operation):
    """Attention of one query a sequence, q (B, H, D), to the first ``lengths[b]`` keys of caches (B, HK, S, D).

    ``lengths`` (int32) are 0 to S, and are a dim of the case. A head of the caches may serve several of q. ``scale``
    None is 1 / sqrt D. float16 and bfloat16 are computed in float32, with P rounded to the narrow type, or not.
    """

    name = "decode_attention"
    tensor_dtypes: ClassVar = {"lengths": "int32"}
    multiplies_matrices = True
    toothless: ClassVar = {
        "tile unwritten": "where nothing is cached for the last sequence, its heads are open",
        "lower inputs": "where scores reach hundreds, an error in their last bits moves P by more than tf32 inputs do",
    }
    policies: ClassVar = {
        "NaN": "a NaN in q makes its head NaN, one in a key or value the heads that see it",
        "beyond the length": "what lies in the caches there reaches nothing, NaN included",
        "nothing cached": "open: a sequence of length 0 gives NaN or 0",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        h, hk, s, d = self.size(case, "h", "hk", "s", "d")
        lengths = self.shape(case, "lengths")
        if not hk or h % hk or not d or max(lengths, default=0) > s:
            raise CaseError(
                "decode_attention needs h a multiple of hk, d of 1 or more and lengths of s at most, not"
                f" {dict(case.dims)}"
            )
        cache = (len(lengths), hk, s, d)
        return {"q": (len(lengths), h, d), "k_cache": cache, "v_cache": cache, "lengths": (len(lengths),)}

    def output_shape(self, case: Case) -> tuple[int, ...]:
        return self.shapes(case)["q"]

    def values(self, case: Case, tensor: str) -> Sequence[int] | None:
        return self.shape(case, "lengths") if tensor == "lengths" else None

    @staticmethod
    @st.composite
    def _dims(draw: st.DrawFn, budget: int) -> tuple[dict[str, Any], dict[str, Any]]:
        d = draw(st.sampled_from([size for size in (64, 128, 32, 16, 80, 8, 33, 1) if 4 * size <= budget] or [1]))
        hk, groups = draw(st.sampled_from([1, 1, 2])), draw(st.sampled_from([1, 4, 2, 3, 8]))
        count = draw(st.sampled_from([1, 2, 3, 5, 0]))
        room = max(budget // (d * hk * max(count, 1)), 1)
        s = draw(strategies.sizes(min(room, max(WORK * budget // (hk * groups * max(count, 1)), 1), 5000), least=1))
        lengths = [draw(st.one_of(strategies.sizes(s), st.just(s))) for _ in range(count)]
        dims = {"h": hk * groups, "hk": hk, "s": s, "d": d, "lengths": lengths}
        return dims, {"scale": draw(st.sampled_from([None, None, 0.125, 1.0]))}

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return self._dims(budget)

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        return self.without_overflow(super().regimes(dtype, tensor), dtype)

    def independent_axis(self, case: Case) -> tuple[int, dict[str, int]] | None:
        return 0, dict.fromkeys(self.tensors, 0)

    def reduced_axes(self, case: Case) -> dict[str, int]:
        return {"v_cache": -2, "k_cache": -2}

    def reference(self, q: Any, k_cache: Any, v_cache: Any, lengths: np.ndarray, *, scale: float | None) -> Any:
        results = []
        for number, length in enumerate(lengths):
            k, v = (enclosure.taken(x, (number, slice(None), slice(length))) for x in (k_cache, v_cache))
            results.append(attended_by_one(enclosure.taken(q, slice(number, number + 1)), k, v, scale=scale))
        return enclosure.concatenated(results, 0) if results else q
