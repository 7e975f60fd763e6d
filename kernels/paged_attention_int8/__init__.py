"""paged_attention_int8(q, k_pages, v_pages, k_scale, v_scale, page_table, lengths, *, scale): pages of int8."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from golden.case import Case
from kernels.paging import Paging, decoded_from_pages
from kernels.quantization import CACHE_DTYPES, CACHE_SCALES, dequantized


class PagedAttentionInt8(Paging):
    """paged_attention of k_pages * k_scale and v_pages * v_scale, where each vector has a scale of its own.

    The pages are int8 (P, page, HK, D), their scales float32 (P, page, HK). It is computed in float32; what is
    dequantized may be rounded to the dtype of q before it is multiplied, or not.
    """

    name = "paged_attention_int8"
    dtypes = CACHE_DTYPES
    tensor_dtypes: ClassVar = {
        "k_pages": "int8",
        "v_pages": "int8",
        "k_scale": "float32",
        "v_scale": "float32",
        "page_table": "int32",
        "lengths": "int32",
    }
    policies: ClassVar = {
        "NaN": "a NaN in q makes its head NaN, one in a scale the heads that see its key",
        "beyond the length": "what lies on the last page there, or on other pages, reaches nothing, NaN included",
        "nothing cached": "open: a sequence of length 0 gives NaN or 0",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        shapes = super().shapes(case)
        each = shapes["k_pages"][:-1]
        named = {name: shapes[name] for name in ("q", "k_pages", "v_pages")}
        return {**named, "k_scale": each, "v_scale": each, **shapes}

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        return CACHE_SCALES if tensor.endswith("_scale") else super().regimes(dtype, tensor)

    def reference(
        self,
        q: Any,
        k_pages: np.ndarray,
        v_pages: np.ndarray,
        k_scale: Any,
        v_scale: Any,
        page_table: np.ndarray,
        lengths: np.ndarray,
        *,
        scale: float | None,
    ) -> Any:
        k, v = dequantized(k_pages, k_scale), dequantized(v_pages, v_scale)
        return decoded_from_pages(q, k, v, page_table, lengths, scale=scale)
