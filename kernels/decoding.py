"""What the contracts of decoding from whole caches have in common: sizes, lengths, and the formula over enclosures."""

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


class Decoding(Operation, abstract=True):
    """Attention of one query a sequence, q (B, H, D), to the first ``lengths[b]`` keys of caches (B, HK, S, D)."""

    multiplies_matrices = True
    toothless: ClassVar = {
        "last dropped": "where scores reach hundreds, the last key has next to nothing of P",
        "tile unwritten": "where nothing is cached for the last sequence, its heads are open",
        "lower inputs": "where scores reach hundreds, an error in their last bits moves P by more than tf32 inputs do",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        h, hk, s, d = self.size(case, "h", "hk", "s", "d")
        lengths = self.shape(case, "lengths")
        if not hk or h % hk or not d or max(lengths, default=0) > s:
            raise CaseError(
                f"{self.name} needs h a multiple of hk, d of 1 or more and lengths of s at most, not {dict(case.dims)}"
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
        lengths = [draw(st.one_of(st.just(s), strategies.sizes(s))) for _ in range(count)]
        dims = {"h": hk * groups, "hk": hk, "s": s, "d": d, "lengths": lengths}
        return dims, {"scale": draw(st.sampled_from([None, None, 0.125, 1.0]))}

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return self._dims(budget)

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        known = self.without_overflow(super().regimes(dtype, tensor), dtype)
        # What lies beyond the lengths must reach nothing: much of what is not ordinary in caches is NaN.
        return (*known, *["nan"] * len(known)) if tensor != "q" and "nan" in known else known

    def independent_axis(self, case: Case) -> tuple[int, dict[str, int]] | None:
        return 0, dict.fromkeys(self.tensors, 0)

    def reduced_axes(self, case: Case) -> dict[str, int]:
        return {"v_cache": -2, "k_cache": -2}


def decoded(q: Any, k_cache: Any, v_cache: Any, lengths: np.ndarray, *, scale: float | None) -> Any:
    """Return what each query gets of the keys and values that are cached for its sequence."""
    results = []
    for number, length in enumerate(lengths):
        k, v = (enclosure.taken(x, (number, slice(None), slice(length))) for x in (k_cache, v_cache))
        results.append(attended_by_one(enclosure.taken(q, slice(number, number + 1)), k, v, scale=scale))
    return enclosure.concatenated(results, 0) if results else q
