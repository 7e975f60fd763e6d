"""log_softmax(x, *, dim): the logarithms of exponentials that sum to one along an axis."""

from __future__ import annotations

from typing import Any, ClassVar

from golden import enclosure
from kernels.along import Along
from kernels.relations import shifted


class LogSoftmax(Along):
    """x - max x - log(sum exp(x - max x)) along ``dim``; float16 and bfloat16 are computed in float32."""

    name = "log_softmax"
    also_drawn: ClassVar = {"x": ("lowest",)}
    neutral = float("-inf")
    policies: ClassVar = {
        "NaN": "a row that holds a NaN is all NaN",
        "inf": "a row that holds +inf is all NaN; -inf beside finite elements stays -inf",
        "fully masked": "a row of -inf alone is all NaN",
        "empty": "an axis of length 0 gives an empty result",
    }
    relations: ClassVar = {"x and 1": shifted("x")}

    def reference(self, x: Any, *, dim: int) -> Any:
        peak = enclosure.amax(x, dim)
        away = x - peak
        spread = enclosure.log(enclosure.total(enclosure.exp(away), dim))
        return enclosure.either(away - spread, x - (peak + spread))
