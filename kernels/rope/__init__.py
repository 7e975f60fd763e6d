"""rope(x, cos, sin): rotary position embedding, pairs of elements turned by angles of their position."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, CaseError
from kernels import strategies
from kernels.operation import Operation


class Rope(Operation):
    """The first R of the D elements of each head turned, the others as they are; x is (B, H, S, D).

    ``cos`` and ``sin`` are (S, R / 2), the same for all heads. Pairs are half of R apart, as in GPT-NeoX (GPT-J's are
    neighbours): element i becomes x[i] cos[i] - x[i + R/2] sin[i], and i + R/2 becomes x[i + R/2] cos[i] + x[i] sin[i].
    With R below D the embedding is partial; R may be 0. float16 and bfloat16 are computed in float32.

    Su et al., "RoFormer: enhanced transformer with rotary position embedding", arXiv:2104.09864.
    """

    name = "rope"
    policies: ClassVar = {
        "NaN": "a NaN or infinity reaches the two elements of its pair, and cos and sin all heads of their position",
        "beyond R": "elements that are not turned are copied, NaN included",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        b, h, s, d, r = self.size(case, "b", "h", "s", "d", "r")
        if r % 2 or r > d:
            raise CaseError(f"rope turns r of d elements, an even number, not {r} of {d}")
        return {"x": (b, h, s, d), "cos": (s, r // 2), "sin": (s, r // 2)}

    def output_shape(self, case: Case) -> tuple[int, ...]:
        return self.shapes(case)["x"]

    @staticmethod
    @st.composite
    def _dims(draw: st.DrawFn, budget: int) -> tuple[dict[str, Any], dict[str, Any]]:
        d = draw(st.sampled_from([size for size in (64, 128, 32, 80, 96, 8, 33, 2, 1) if size <= budget] or [1]))
        r = draw(st.sampled_from([d // 2 * 2, d // 2 * 2, d // 4 * 2, min(d // 2 * 2, 16), 0]))
        b, h = (draw(st.sampled_from(numbers)) for numbers in ([1, 2, 3, 1, 0], [1, 2, 3, 8]))
        s = draw(strategies.sizes(min(max(budget // (d * h * max(b, 1)), 1), 4096)))
        return {"b": b, "h": h, "s": s, "d": d, "r": r}, {}

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return self._dims(budget)

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        return self.without_overflow(super().regimes(dtype, tensor), dtype)

    def independent_axis(self, case: Case) -> tuple[int, dict[str, int]] | None:
        return 2, {"x": 2, "cos": 0, "sin": 0}

    def reference(self, x: Any, cos: Any, sin: Any) -> Any:
        half = np.shape(enclosure.numbers(cos))[-1]
        first, second, rest = (
            enclosure.taken(x, (..., part)) for part in (slice(half), slice(half, 2 * half), slice(2 * half, None))
        )
        turned = [first * cos - second * sin, second * cos + first * sin]
        return enclosure.concatenated([*turned, rest], -1)
