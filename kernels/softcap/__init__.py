"""softcap(x, *, cap): x pressed smoothly into the range from -cap to cap, elementwise."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, CaseError
from golden.enclosure import constant
from kernels.elementwise import Elementwise

CAPS = (30.0, 50.0, 1.5)


class Softcap(Elementwise):
    """cap tanh(x / cap); float16 and bfloat16 are computed in float32. Gemma Team, "Gemma 2", arXiv:2408.00118."""

    name = "softcap"
    policies: ClassVar = {"NaN": "propagates", "inf": "has the limit, the cap of its sign"}

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        cap = case.params.get("cap")
        if not isinstance(cap, (int, float)) or not cap > 0:
            raise CaseError(f"softcap needs params.cap, a number above 0, not {cap!r}")
        return super().shapes(case)

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        caps = st.sampled_from(CAPS)
        return st.tuples(super().dims(budget), caps).map(lambda both: (both[0][0], {"cap": both[1]}))

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        return self.without_flushed(super().regimes(dtype, tensor), dtype)

    def reference(self, x: Any, *, cap: float) -> Any:
        share = enclosure.either(x / constant(cap, x), x * (1.0 / constant(cap, x)))
        return enclosure.kept(enclosure.tanh(enclosure.kept(share))) * constant(cap, x)
