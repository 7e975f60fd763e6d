"""A product of floats of eight bits in TileLang, which lowers it for architectures that have no instruction for it."""

from typing import Any

import tilelang.language as T


def product(dtype: str) -> Any:
    """Return the product of two square matrices of ``dtype`` into float32."""

    @T.prim_func
    def main(
        a: T.Tensor((128, 128), dtype),
        b: T.Tensor((128, 128), dtype),
        out: T.Tensor((128, 128), "float32"),
    ):
        with T.Kernel(2, 2, threads=128) as (bx, by):
            left = T.alloc_shared((64, 32), dtype)
            right = T.alloc_shared((64, 32), dtype)
            total = T.alloc_fragment((64, 64), "float32")
            T.clear(total)
            for step in T.Pipelined(4, num_stages=2):
                T.copy(a[by * 64, step * 32], left)
                T.copy(b[bx * 64, step * 32], right)
                T.gemm(left, right, total, transpose_B=True)
            T.copy(total, out[by * 64, bx * 64])

    return main
