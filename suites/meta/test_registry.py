"""Does a kernel file that is wrong get one clear error, and a toolchain that is not there a reason?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kernels.registry import KernelFileError, load

IMPORT = "from kernels import Operation, implementation\n"


def write(folder: Path, source: str, name: str = "kernel.py") -> Path:
    file = folder / name
    file.write_text(IMPORT + source)
    return file


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("def broken(:\n", "kernel.py:2: invalid syntax"),
        ("import no_such_module\n", "No module named 'no_such_module'"),
        ("1 / 0\n", "ZeroDivisionError: division by zero"),
        ("implementation('sofmax', paradigm='torch')(lambda x: x)\n", "there is no operation 'sofmax'; there are add"),
        (
            "for _ in 'ab':\n    implementation('relu', paradigm='torch', name='x')(lambda x: x)\n",
            "is registered twice",
        ),
        (
            "implementation('add', paradigm='torch', name='eager')(lambda x, y: x)\n",
            "'add/torch/eager' is registered twice",
        ),
        (
            "implementation('add', paradigm='torch', numerics='sloppy')\n",
            "unknown numerics 'sloppy'; there are ieee, tf32",
        ),
        (
            "implementation('add', paradigm='torch', needs=('warp drive',))\n",
            "add/torch: unknown feature 'warp drive'; there are shared memory, matrix unit, bulk copies, "
            "symmetric memory",
        ),
        (
            "implementation('add', paradigm='torch', needs='matrix unit')\n",
            "features come as a tuple, ('matrix unit',), not as a text",
        ),
        ("class Relu(Operation):\n    name = 'relu'\n", "the operation 'relu' is defined twice"),
        ("class Nameless(Operation):\n    pass\n", "has no name"),
        (
            "implementation('relu', paradigm='torch', optimizes='slow')(lambda x: x)\n",
            "optimizes relu/torch/slow, which is not there",
        ),
        ("implementation('gemm', paradigm='torch', dtypes=['int8'])(lambda a, b: a)\n", "dtypes that gemm lacks"),
    ],
)
def test_a_kernel_file_that_is_wrong_is_one_clear_error(source: str, says: str, tmp_path: Path) -> None:
    file = write(tmp_path, source)
    with pytest.raises(KernelFileError) as caught:
        load([file])
    assert says in str(caught.value)
    assert load().implementations, "and nothing of it stays"


def test_paths_that_hold_no_kernel(tmp_path: Path) -> None:
    with pytest.raises(KernelFileError, match="no kernel file or folder"):
        load([tmp_path / "nowhere.py"])
    with pytest.raises(KernelFileError, match="no kernel file"):
        load([tmp_path])


def test_a_folder_adds_its_files_and_only_when_it_is_asked_for(tmp_path: Path) -> None:
    write(tmp_path, "implementation('relu', paradigm='torch', name='mine')(lambda x: x)\n", "one.py")
    write(tmp_path, "implementation('relu', paradigm='opencl', name='mine')(lambda x: x)\n", "two.py")
    assert {"relu/torch/mine", "relu/opencl/mine"} <= set(load([tmp_path]).implementations)
    assert "relu/torch/mine" not in load().implementations


def test_an_absent_toolchain_is_a_reason_and_not_an_error(tmp_path: Path) -> None:
    file = write(tmp_path, "import tilelang_that_is_not_here\n", "odd.py")
    with pytest.raises(KernelFileError):
        load([file])
    file = write(tmp_path, "import pyopencl.no_such_part\n", "absent.py")
    catalogue = load([file])
    assert "pyopencl" in catalogue.absent[str(file)]


def test_an_implementation_is_named_by_its_three_parts() -> None:
    one = load().implementations["softmax/torch/eager"]
    assert (one.operation, one.paradigm, one.name, one.numerics) == ("softmax", "torch", "eager", "narrow")
    assert one.source.endswith("kernels/softmax/torch.py")


SIGNATURES = """
add(x, y) relu(x) gelu(x, *, approximate) silu(x) swiglu(gate, up) clamp(x, *, min, max) softcap(x, *, cap) exp(x)
tanh(x) round(x) masked_fill(x, mask, *, value) cast(x, *, dtype) floor_divide(x, y) remainder(x, y) shift_right(x, y)
quantize_int8(x, scale) quantize_fp8(x, scale, *, format) unpack_int4(packed)
sum(x, *, dim) max(x, *, dim) argmax(x, *, dim) argmin(x, *, dim) var_mean(x, *, dim) cumsum(x, *, dim, reverse)
linear_scan(a, b) topk(x, *, k) sort(x, *, dim, descending) histogram(index, *, bins)
softmax(x, *, dim) log_softmax(x, *, dim) causal_softmax(x) cross_entropy(logits, target)
layer_norm(x, weight, bias, *, eps) rms_norm(x, weight, *, eps)
transpose(x) embedding(table, index) scatter_add(x, index, src) index_copy(x, index, src)
gemm(a, b) gemm_bias(a, b, bias) grouped_gemm(x, w, group_sizes) fp8_gemm(a, b, scale_a, scale_b)
dequant_gemm(a, packed, scales, zeros, *, bits, group_size) conv2d(x, weight, *, stride, padding)
attention(q, k, v, *, causal, scale, softcap, window) varlen_attention(q, k, v, cu_q, cu_k, *, causal, scale)
decode_attention(q, k_cache, v_cache, lengths, *, scale) rope(x, cos, sin)
paged_attention(q, k_pages, v_pages, page_table, lengths, *, scale)
decode_attention_int8(q, k_cache, v_cache, k_scale, v_scale, lengths, *, scale)
paged_attention_int8(q, k_pages, v_pages, k_scale, v_scale, page_table, lengths, *, scale)
"""
"""What other people's kernels are written to: torch's names, order and meaning."""

BACKWARDS = {
    "attention": "grad, q, k, v, *, causal, scale, softcap, window",
    "cross_entropy": "grad, logits, target",
    "gelu": "grad, x, *, approximate",
    "layer_norm": "grad, x, weight, bias, *, eps",
    "log_softmax": "grad, x, *, dim",
    "rms_norm": "grad, x, weight, *, eps",
    "silu": "grad, x",
    "softmax": "grad, x, *, dim",
    "swiglu": "grad, gate, up",
}


def test_signatures_are_torchs() -> None:
    signatures = {operation.signature for operation in load().operations.values()}
    promised = set(re.findall(r"\w+\([^)]*\)", SIGNATURES))
    assert signatures == promised | {f"{name}_backward({rest})" for name, rest in BACKWARDS.items()}
