"""swiglu(gate, up): silu(gate) times up, elementwise."""

from __future__ import annotations

from typing import Any, ClassVar

from golden import enclosure
from kernels.elementwise import Elementwise
from kernels.silu import silu


class Swiglu(Elementwise):
    """gate / (1 + exp(-gate)) * up, of tensors of one shape; float16 and bfloat16 are computed in float32.

    Shazeer, "GLU variants improve Transformer", arXiv:2002.05202.
    """

    name = "swiglu"
    policies: ClassVar = {
        "NaN": "propagates from either",
        "gate of -inf": "open: the limit is 0, and the formula gives NaN",
        "inf": "an infinite up makes an infinity, or is open where silu(gate) may be 0",
    }

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        return self.without_flushed(super().regimes(dtype, tensor), dtype)

    def reference(self, gate: Any, up: Any) -> Any:
        # Where gates are equal, as of a broadcast one, silu errs alike however different the elements of up are.
        share = enclosure.broadcast(enclosure.kept(silu(gate)), enclosure.numbers(gate).shape)
        return share * up
