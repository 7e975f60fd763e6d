"""conv2d(x, weight, *, stride, padding): the cross-correlation of images with kernels, as networks call convolution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from golden import enclosure
from golden.case import Case, CaseError
from kernels import strategies
from kernels.operation import Operation


class Conv2d(Operation):
    """Sums over channels and taps; x is (images, channels, h, w), weight is (outputs, channels, taps_h, taps_w).

    ``stride`` and ``padding`` (of zeros, at every side) are integers for both axes. A result is one sum in any order:
    a matrix product of what lies under the kernel (im2col: Chellapilla, Puri, Simard, IWFHR 2006). float16 and bfloat16
    are accumulated in float32. Algorithms that transform tiles, as Winograd's, err by more and have to declare it.
    """

    name = "conv2d"
    multiplies_matrices = True
    column_axis = 1
    policies: ClassVar = {
        "NaN": "a NaN under the kernel, or in it, makes NaN",
        "inf": "0 * inf and inf - inf are NaN",
        "padding": "open where a NaN or an infinity of the kernel lies on padding, which may be multiplied or left out",
        "overflow": "open where the sum of magnitudes exceeds the accumulator's range, since the order decides",
        "empty": "no images give an empty result; no channels and no outputs are not valid inputs",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        images, channels, height, width = self.size(case, "images", "channels", "h", "w")
        outputs, taps_h, taps_w = self.size(case, "outputs", "taps_h", "taps_w")
        stride, padding = case.params.get("stride"), case.params.get("padding")
        if not isinstance(stride, int) or stride < 1 or not isinstance(padding, int) or padding < 0:
            raise CaseError(f"conv2d needs params.stride of 1 or more and params.padding, not {dict(case.params)}")
        if not channels or not outputs:
            raise CaseError("conv2d needs one channel and one output or more")
        if not 0 < taps_h <= height + 2 * padding or not 0 < taps_w <= width + 2 * padding:
            raise CaseError(f"conv2d: a kernel of {taps_h} x {taps_w} does not fit into {height} x {width}, padded")
        return {"x": (images, channels, height, width), "weight": (outputs, channels, taps_h, taps_w)}

    def output_shape(self, case: Case) -> tuple[int, ...]:
        return (*self.size(case, "images", "outputs"), *self._positions(case))

    def _positions(self, case: Case) -> tuple[int, int]:
        stride, padding = case.params["stride"], case.params["padding"]
        height, width, taps_h, taps_w = self.size(case, "h", "w", "taps_h", "taps_w")
        return (height + 2 * padding - taps_h) // stride + 1, (width + 2 * padding - taps_w) // stride + 1

    def independent_axis(self, case: Case) -> tuple[int, dict[str, int]] | None:
        return 0, {"x": 0}

    @staticmethod
    @st.composite
    def _dims(draw: st.DrawFn, budget: int) -> tuple[dict[str, Any], dict[str, Any]]:
        taps_h, taps_w = draw(st.sampled_from([(3, 3), (1, 1), (3, 3), (5, 5), (1, 3), (4, 2), (7, 7)]))
        stride, padding = draw(st.sampled_from([1, 1, 2, 3])), draw(st.sampled_from([0, 1, 2, 3]))
        # What a product would multiply has an element for every tap of every output element: all of it is to fit.
        taps = taps_h * taps_w
        channels = draw(strategies.sizes(max(1, min(budget // (4 * taps), 130)), least=1))
        outputs = draw(strategies.sizes(max(1, min(budget // (channels * taps), 65)), least=1))
        room = max(4 * budget // max(channels * taps, outputs), 1)
        images = 0 if draw(st.integers(0, 39)) == 39 else draw(st.integers(1, min(3, room)))
        high = draw(strategies.sizes(max(1, min(room // max(images, 1), 40)), least=1))
        wide = draw(strategies.sizes(max(1, min(room // (max(images, 1) * high), 60)), least=1))
        least_h, least_w = max(taps_h - 2 * padding, 1), max(taps_w - 2 * padding, 1)
        dims = {"images": images, "channels": channels, "h": max((high - 1) * stride + taps_h - 2 * padding, least_h)}
        dims |= {"w": max((wide - 1) * stride + taps_w - 2 * padding + draw(st.integers(0, stride - 1)), least_w)}
        dims |= {"outputs": outputs, "taps_h": taps_h, "taps_w": taps_w}
        return dims, {"stride": stride, "padding": padding}

    def dims(self, budget: int) -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        return self._dims(budget)

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        return self.without_overflow(super().regimes(dtype, tensor), dtype)

    def reduced_axes(self, case: Case) -> dict[str, int]:
        return {"weight": 1, "x": 1}

    def reference(self, x: Any, weight: Any, *, stride: int, padding: int) -> Any:
        outputs, _, *taps = np.shape(enclosure.numbers(weight))
        image = enclosure.numbers(x)
        kernels = enclosure.swapped(enclosure.reshaped(weight, (outputs, -1 if outputs else 0)), 0, 1)
        columns = enclosure.windows(x, tuple(taps), stride=stride, padding=padding)
        product = enclosure.matmul(columns, kernels)
        beyond = 1.0 - enclosure.windows(np.ones(image.shape), tuple(taps), stride=stride, padding=padding)
        special = ~np.isfinite(enclosure.numbers(kernels))
        if special.any():
            product = enclosure.opened(product, beyond @ special.astype(np.float64) > 0)
        high, wide = ((n + 2 * padding - size) // stride + 1 for n, size in zip(image.shape[2:], taps, strict=True))
        return enclosure.reshaped(enclosure.swapped(product, -1, -2), (image.shape[0], outputs, high, wide))
