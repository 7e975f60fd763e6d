"""sum(x, *, dim): the sum of the elements along an axis."""

from __future__ import annotations

from typing import Any, ClassVar

from golden import enclosure
from golden.dtypes import FLOATS
from kernels.along import Reduction
from kernels.relations import scaled


class Sum(Reduction):
    """The sum along ``dim``, which the result does not have; float16 and bfloat16 are added up in float32."""

    name = "sum"
    dtypes = (*FLOATS, "int64")
    toothless: ClassVar = {"permuted": "the same elements in another order have the same sum"}
    policies: ClassVar = {
        "NaN": "a NaN, or infinities of both signs, make NaN",
        "inf": "an infinity makes an infinity",
        "overflow": "integers wrap around; floats are open where partial sums may leave the range: the order decides",
        "empty": "an axis of length 0 sums to 0",
    }
    relations: ClassVar = {"x twice": scaled("x")}

    def reference(self, x: Any, *, dim: int) -> Any:
        return enclosure.squeezed(enclosure.total(x, dim), dim)
