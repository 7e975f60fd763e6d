"""attention(q, k, v, *, causal, scale, softcap, window): softmax(q k^T) v, with the masks that models use."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case
from kernels.operation import Operation
from kernels.scaled_dot_product import attended, drawn, tensors_of, visible


class Attention(Operation):
    """Scaled dot-product attention on (B, H, S, D); k and v may have fewer heads, each serving several of q.

    ``scale`` multiplies the scores (None: 1 / sqrt D); ``softcap`` c makes them c tanh(score / c); ``causal`` lets
    query i see keys 0..i, as torch's ``is_causal`` does; ``window`` w lets it see keys less than w away. float16 and
    bfloat16 are computed in float32, with P rounded to the narrow type before it is multiplied by v, or not.
    """

    name = "attention"
    multiplies_matrices = True
    toothless: ClassVar = {
        "tile unwritten": "with a window and more queries than keys the last rows see nothing, and are open",
        "lower inputs": "where scores reach hundreds, an error in their last bits moves P by more than tf32 inputs do",
    }
    policies: ClassVar = {
        "NaN": "a NaN in q makes its row NaN, one in k or v the rows that see it",
        "fully masked": "open: a query that sees no key gives NaN or 0",
        "masked NaN": "open: a NaN or infinity that a query does not see may reach it as 0 * NaN, or not",
        "no keys": "not a valid input",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        return tensors_of(self, case)

    def output_shape(self, case: Case) -> tuple[int, ...]:
        return self.shapes(case)["q"]

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return drawn(budget)

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        return self.without_overflow(super().regimes(dtype, tensor), dtype)

    def independent_axis(self, case: Case) -> tuple[int, dict[str, int]] | None:
        return 0, {"q": 0, "k": 0, "v": 0}

    def reduced_axes(self, case: Case) -> dict[str, int]:
        return {"v": -2, "k": -2}

    def reference(
        self, q: Any, k: Any, v: Any, *, causal: bool, scale: float | None, softcap: float | None, window: int | None
    ) -> Any:
        queries, keys = (np.shape(enclosure.numbers(x))[-2] for x in (q, k))
        return attended(q, k, v, visible(queries, keys, causal=causal, window=window), scale=scale, softcap=softcap)
