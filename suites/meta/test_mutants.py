"""Is every kind of wrong kernel caught by the quick search, with a small case that replays, and nothing else lost?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from suites.meta.cli import MUTANTS, Finished, run_pytest

EXPECTED = {
    "attention/torch/wrong_causal_by_one": "wrong",
    "attention/torch/wrong_key_head": "wrong",
    "cross_entropy/torch/wrong_no_maximum": "wrong",
    "dequant_gemm/torch/wrong_halves_swapped": "wrong",
    "dequant_gemm/torch/wrong_scale_of_the_next_group": "wrong",
    "gelu/torch/wrong_tanh_for_erf": "wrong",
    "gemm/torch/wrong_multiplication_truncates": "drift",
    "layer_norm/torch/wrong_padded_lanes_in_variance": "wrong",
    "layer_norm/torch/wrong_sample_variance": "wrong",
    "rms_norm/torch/wrong_eps_outside": "wrong",
    "add/torch/wrong_dtype": "wrong",
    "add/torch/wrong_not_a_tensor": "crashed",
    "add/torch/wrong_one_past_the_end": "out of bounds",
    "add/torch/wrong_truncating_cast": "wrong",
    "gemm/torch/wrong_float16_accumulator": "wrong",
    "gemm/torch/wrong_last_k_tile_dropped": "wrong",
    "gemm/torch/wrong_tf32_undeclared": "wrong",
    "gemm/torch/wrong_zeros": "wrong",
    "relu/torch/wrong_aborts": "crashed",
    "relu/torch/wrong_exits": "crashed",
    "relu/torch/wrong_gap_overwritten": "out of bounds",
    "relu/torch/wrong_loops_forever": "hung",
    "relu/torch/wrong_nan_dropped": "wrong",
    "relu/torch/wrong_raises": "crashed",
    "relu/torch/wrong_segfaults": "crashed",
    "relu/torch/wrong_stride_ignored": "wrong",
    "softmax/torch/wrong_input_overwritten": "input changed",
    "softmax/torch/wrong_last_row_unwritten": "unwritten",
    "softmax/torch/wrong_masked_row_is_zero": "wrong",
    "softmax/torch/wrong_no_maximum": "wrong",
    "softmax/torch/wrong_padded_lanes_counted": "wrong",
    "softmax/torch/wrong_shape": "wrong",
    "sort/torch/wrong_index_repeated": "wrong",
    "topk/torch/wrong_index_of_another": "wrong",
    "topk/torch/wrong_index_out_of_range": "wrong",
}

LARGEST = {
    "attention/torch/wrong_causal_by_one": 1024,
    "attention/torch/wrong_key_head": 1024,
    "dequant_gemm/torch/wrong_halves_swapped": 32,
    "dequant_gemm/torch/wrong_scale_of_the_next_group": 256,
    "gemm/torch/wrong_last_k_tile_dropped": 33 * 4,
    "gemm/torch/wrong_multiplication_truncates": 4096,
    "relu/torch/wrong_loops_forever": 8,
    "sort/torch/wrong_index_repeated": 16,
}
"""Elements of all dims multiplied that the smallest case may have; 8 for those not named."""


@pytest.fixture(scope="module")
def caught(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """One run over mutants of every kind, with a good kernel among them."""
    bundle = tmp_path_factory.mktemp("mutants") / "bundle"
    chosen = ",".join([*EXPECTED, "add/torch/eager"])  # the others have `python -m suites.power`
    return run_pytest(
        "--kernels", MUTANTS, "--implementation", chosen, "--platform", "cpu", "--time-limit", "2", bundle=bundle
    )


def test_all_mutants_fail_and_the_good_kernel_passes(caught: Finished) -> None:
    assert caught.status == 1, caught.text
    assert {name: record.verdict for name, record in caught.failures().items()} == EXPECTED
    assert any(record.implementation == "add/torch/eager" for record in caught.records)


@pytest.mark.parametrize("implementation", EXPECTED)
def test_the_case_is_small(caught: Finished, implementation: str) -> None:
    dims = json.loads(caught.failures()[implementation].case)["dims"]
    size = 1
    for length in dims.values():
        for one in length if isinstance(length, list) else [length]:
            size *= one
    assert size <= LARGEST.get(implementation, 8), dims


@pytest.mark.parametrize("implementation", EXPECTED)
def test_its_line_is_printed_ready_to_paste(caught: Finished, implementation: str) -> None:
    line = caught.failures()[implementation].case
    command = f"python -m pytest --case '{line}' --implementation {implementation} --platform cpu --kernels={MUTANTS}"
    assert command in caught.text


@pytest.mark.parametrize("implementation", ["relu/torch/wrong_segfaults", "softmax/torch/wrong_padded_lanes_counted"])
def test_its_line_replays(caught: Finished, implementation: str, tmp_path: Path) -> None:
    record = caught.failures()[implementation]
    chosen = ("--kernels", MUTANTS, "--implementation", implementation, "--platform", "cpu")
    again = run_pytest("--case", record.case, *chosen, bundle=tmp_path / "bundle")
    assert again.status == 1
    assert [(one.case, one.verdict, one.digest) for one in again.records] == [
        (record.case, record.verdict, record.digest)
    ]


@pytest.mark.parametrize(
    ("implementation", "cause"),
    [
        ("add/torch/wrong_truncating_cast", "explained by: results cut to bfloat16 "),
        ("gelu/torch/wrong_tanh_for_erf", "explained by: computed with the tanh form of gelu in the place of erf "),
        ("gemm/torch/wrong_tf32_undeclared", "explained by: operands of matrix products cut to tf32 "),
        ("gemm/torch/wrong_zeros", "unexplained"),
    ],
)
def test_its_cause_is_named(caught: Finished, implementation: str, cause: str) -> None:
    assert caught.failures()[implementation].cause.startswith(cause)
    assert cause in caught.text


def test_the_signal_and_the_exit_code_are_named(caught: Finished) -> None:
    failures = caught.failures()
    assert "SIGSEGV" in failures["relu/torch/wrong_segfaults"].message
    assert "SIGABRT" in failures["relu/torch/wrong_aborts"].message
    assert "exit code 3" in failures["relu/torch/wrong_exits"].message
    assert "NotImplementedError: three axes" in failures["relu/torch/wrong_raises"].message


def test_places_of_equal_elements_are_held_against_their_values(caught: Finished) -> None:
    failures = caught.failures()
    assert "comes twice in one row" in failures["sort/torch/wrong_index_repeated"].message
    assert ", and not " in failures["topk/torch/wrong_index_of_another"].message
    assert "is no place in rows of" in failures["topk/torch/wrong_index_out_of_range"].message


def test_triton_mutants_are_caught_by_the_guarded_interpreter(tmp_path: Path) -> None:
    chosen = ("--implementation", "*/triton/wrong_*", "--platform", "interpreter")
    ended = run_pytest("--kernels", MUTANTS / "triton_kernels.py", *chosen, bundle=tmp_path / "bundle")
    assert {name: record.verdict for name, record in ended.failures().items()} == {
        "gemm/triton/wrong_tf32_undeclared": "wrong",
        "relu/triton/wrong_last_tile_unwritten": "unwritten",
        "relu/triton/wrong_load_without_mask": "out of bounds",
        "relu/triton/wrong_nan_dropped": "wrong",
        "relu/triton/wrong_one_too_many": "out of bounds",
        "relu/triton/wrong_overlapping_programs": "conflict",
        "softmax/triton/wrong_lanes_undefined": "wrong",
        "softmax/triton/wrong_padded_lanes_counted": "wrong",
    }
