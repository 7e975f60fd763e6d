"""decode_attention(q, k_cache, v_cache, lengths, *, scale): one new query of each sequence against what is cached."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from kernels.decoding import Decoding, decoded


class DecodeAttention(Decoding):
    """Attention of one query a sequence, q (B, H, D), to the first ``lengths[b]`` keys of caches (B, HK, S, D).

    ``lengths`` (int32) are 0 to S, and are a dim of the case. A head of the caches may serve several of q. ``scale``
    None is 1 / sqrt D. float16 and bfloat16 are computed in float32, with P rounded to the narrow type, or not.
    """

    name = "decode_attention"
    tensor_dtypes: ClassVar = {"lengths": "int32"}
    policies: ClassVar = {
        "NaN": "a NaN in q makes its head NaN, one in a key or value the heads that see it",
        "beyond the length": "what lies in the caches there reaches nothing, NaN included",
        "nothing cached": "open: a sequence of length 0 gives NaN or 0",
    }

    def reference(self, q: Any, k_cache: Any, v_cache: Any, lengths: np.ndarray, *, scale: float | None) -> Any:
        return decoded(q, k_cache, v_cache, lengths, scale=scale)
