"""dequant_gemm(a, packed, scales, zeros, *, bits, group_size): a product with weights of 8 or 4 bits."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, CaseError
from kernels import strategies
from kernels.operation import Operation

BITS = (8, 4)


class DequantGemm(Operation):
    """a @ ((w - zeros) * scales), where each ``group_size`` rows of w share a row of scales and zeros.

    a is (m, k). ``packed`` (uint8) holds the weights w, unsigned: (k, n) of 8 bits, or (k / 2, n) of 4 bits with the
    even row in the low half of a byte. ``scales`` and ``zeros`` (uint8) are (k / group_size, n). float16 and bfloat16
    are computed in float32; dequantized weights may be rounded to the narrow type before they are multiplied.
    """

    name = "dequant_gemm"
    multiplies_matrices = True
    dtypes: ClassVar = ("float32", "float16", "bfloat16")
    tensor_dtypes: ClassVar = {"packed": "uint8", "zeros": "uint8"}
    policies: ClassVar = {
        "NaN": "a NaN in a row of a or in a scale makes NaN what it takes part in",
        "inf": "0 * inf and inf - inf are NaN",
        "overflow": "open where the sum of magnitudes exceeds the range, or a weight that of a narrow type",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        m, n, k = self.size(case, "m", "n", "k")
        bits, group = case.params.get("bits"), case.params.get("group_size")
        if bits not in BITS or not isinstance(group, int) or group < 1 or k % group or k % 2:
            raise CaseError(
                f"dequant_gemm needs params.bits of {BITS} and a params.group_size that divides an even k, not"
                f" {dict(case.params)} and k = {k}"
            )
        return {"a": (m, k), "packed": (k * bits // 8, n), "scales": (k // group, n), "zeros": (k // group, n)}

    def output_shape(self, case: Case) -> tuple[int, ...]:
        return self.size(case, "m", "n")

    def independent_axis(self, case: Case) -> tuple[int, dict[str, int]] | None:
        return 0, {"a": 0}

    def limits(self, case: Case, tensor: str) -> tuple[int, int] | None:
        return (0, 2 ** case.params["bits"]) if tensor == "zeros" else None

    @staticmethod
    @st.composite
    def _dims(draw: st.DrawFn, budget: int) -> tuple[dict[str, Any], dict[str, Any]]:
        group = draw(st.sampled_from([size for size in (32, 128, 64, 16, 8, 2) if 2 * size <= budget] or [2]))
        m, n = (
            draw(strategies.sizes(min(budget // group, 65), least=1)),
            draw(strategies.sizes(min(budget // group, 65))),
        )
        groups = draw(st.integers(1, max(1, min(budget // (group * max(m, n, 1)), 40))))
        return {"m": m, "n": n, "k": group * groups}, {"bits": draw(st.sampled_from(BITS)), "group_size": group}

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return self._dims(budget)

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        return self.without_overflow(super().regimes(dtype, tensor), "float32")

    def reduced_axes(self, case: Case) -> dict[str, int]:
        return {"a": -1}

    def reference(
        self, a: Any, packed: np.ndarray, scales: Any, zeros: np.ndarray, *, bits: int, group_size: int
    ) -> Any:
        codes = unpacked(packed, bits)
        groups = np.arange(codes.shape[0]) // group_size
        weights = enclosure.taken(scales, groups) * (codes - zeros[groups]).astype(np.float64)
        return enclosure.matmul(a, weights)


def unpacked(packed: np.ndarray, bits: int) -> np.ndarray:
    """Return the weights in ``packed``, one a row of k."""
    if bits == 8:
        return packed
    halves = np.stack([packed & 15, packed >> 4], axis=1)
    return halves.reshape(2 * packed.shape[0], *packed.shape[1:])
