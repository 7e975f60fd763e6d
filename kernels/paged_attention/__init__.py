"""paged_attention(q, k_pages, v_pages, page_table, lengths, *, scale): decoding from a cache that is cut into pages."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from kernels.paging import Paging, decoded_from_pages


class PagedAttention(Paging):
    """Attention of one query a sequence, q (B, H, D), to ``lengths[b]`` keys in pages (P, page, HK, D).

    Key i of sequence b lies in page ``page_table[b, i // page]`` at i % page, as in vLLM. Pages come in any order, and
    sequences may share some. Entries of the table (int32) beyond a sequence's last page are -1. A head of the pages may
    serve several of q. ``scale`` None is 1 / sqrt D. float16 and bfloat16 are computed in float32, with P rounded to
    the narrow type, or not.

    Kwon et al., "Efficient memory management for large language model serving with PagedAttention", SOSP 2023.
    """

    name = "paged_attention"
    tensor_dtypes: ClassVar = {"page_table": "int32", "lengths": "int32"}
    policies: ClassVar = {
        "NaN": "a NaN in q makes its head NaN, one in a key or value the heads that see it",
        "beyond the length": "what lies on the last page there, or on other pages, reaches nothing, NaN included",
        "nothing cached": "open: a sequence of length 0 gives NaN or 0",
    }

    def reference(
        self, q: Any, k_pages: Any, v_pages: Any, page_table: np.ndarray, lengths: np.ndarray, *, scale: float | None
    ) -> Any:
        return decoded_from_pages(q, k_pages, v_pages, page_table, lengths, scale=scale)
