"""decode_attention_int8(q, k_cache, v_cache, k_scale, v_scale, lengths, *, scale): decoding from caches of int8."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from golden.case import Case
from kernels.decoding import Decoding, decoded
from kernels.quantization import CACHE_DTYPES, CACHE_SCALES, dequantized


class DecodeAttentionInt8(Decoding):
    """decode_attention of k_cache * k_scale and v_cache * v_scale, where each cached vector has a scale of its own.

    The caches are int8 (B, HK, S, D), their scales float32 (B, HK, S). It is computed in float32; what is dequantized
    may be rounded to the dtype of q before it is multiplied, or not.
    """

    name = "decode_attention_int8"
    dtypes = CACHE_DTYPES
    tensor_dtypes: ClassVar = {
        "k_cache": "int8",
        "v_cache": "int8",
        "k_scale": "float32",
        "v_scale": "float32",
        "lengths": "int32",
    }
    policies: ClassVar = {
        "NaN": "a NaN in q makes its head NaN, one in a scale the heads that see its key",
        "beyond the length": "what lies in the caches and their scales there reaches nothing, NaN included",
        "nothing cached": "open: a sequence of length 0 gives NaN or 0",
    }

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        shapes = super().shapes(case)
        each = shapes["k_cache"][:-1]
        named = {name: shapes[name] for name in ("q", "k_cache", "v_cache")}
        return {**named, "k_scale": each, "v_scale": each, **shapes}

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        return CACHE_SCALES if tensor.endswith("_scale") else super().regimes(dtype, tensor)

    def reference(
        self,
        q: Any,
        k_cache: np.ndarray,
        v_cache: np.ndarray,
        k_scale: Any,
        v_scale: Any,
        lengths: np.ndarray,
        *,
        scale: float | None,
    ) -> Any:
        return decoded(q, dequantized(k_cache, k_scale), dequantized(v_cache, v_scale), lengths, scale=scale)
