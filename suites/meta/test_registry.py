"""Does a kernel file that is wrong get one clear error, and a toolchain that is not there a reason?"""

from __future__ import annotations

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


def test_signatures_are_torchs() -> None:
    signatures = {name: operation.signature for name, operation in load().operations.items()}
    assert signatures == {
        "add": "add(x, y)",
        "relu": "relu(x)",
        "softmax": "softmax(x, *, dim)",
        "gemm": "gemm(a, b)",
        "exp": "exp(x)",
        "tanh": "tanh(x)",
        "gelu": "gelu(x, *, approximate)",
        "silu": "silu(x)",
        "layer_norm": "layer_norm(x, weight, bias, *, eps)",
        "rms_norm": "rms_norm(x, weight, *, eps)",
        "cross_entropy": "cross_entropy(logits, target)",
        "attention": "attention(q, k, v, *, causal, scale, softcap, window)",
        "dequant_gemm": "dequant_gemm(a, packed, scales, zeros, *, bits, group_size)",
    }
