"""Are indices of 32 bits caught, with a few elements far apart and with a result too large to be held?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from golden import layout
from golden.case import Case, TensorSpec
from golden.inputs import HUGE
from golden.sample import sampled
from kernels.registry import load
from suites.large.cases import FAR, far_cases, huge_cases
from suites.meta.cli import MUTANTS, run_pytest

OPERATIONS = load().operations
FAR_CASE = '{"operation":"relu","dtype":"int8","dims":{"x":[3,5]},"tensors":{"x":{"layout":"far31"}},"seed":0}'


def test_far_slices_reach_past_the_end_of_an_index() -> None:
    for text, last in (("far31", 2**31), ("far32", 2**32)):
        placement = layout.place((3, 5), text)
        assert placement.strides[1] == 1
        assert 0 <= 2 * placement.strides[0] - last < 3
    assert layout.place((1, 2), "far31").strides == (2, 2**31)
    with pytest.raises(layout.LayoutError, match="needs an axis of two elements or more"):
        layout.place((1, 1), "far31")
    with pytest.raises(layout.LayoutError, match="exponent of up to 36"):
        layout.parse("far60")


def test_every_operation_has_far_cases_of_every_dtype() -> None:
    for operation in OPERATIONS.values():
        for exponent in FAR:
            cases = far_cases(operation, operation.dtypes, exponent)
            for case in cases:
                operation.check(case)
            assert {case.dtype for case in cases} == set(operation.dtypes)


def test_a_sample_has_the_ends_and_the_places_where_indices_overflow() -> None:
    case = Case("relu", "int8", {"x": [70000, 65536]})
    rows = sampled(case, (70000, 65536), 0)
    assert rows is not None
    assert {0, 69999, 2**15 - 1, 2**15, 2**15 + 1, 2**16 - 1, 2**16, 2**16 + 1} <= set(rows)
    assert 20 < len(rows) < 50
    assert (np.diff(rows) > 0).all()
    assert sampled(case, (2, HUGE // 2), 0) is None


def test_huge_results_are_larger_than_an_index() -> None:
    for name in ("relu", "add", "exp", "softmax", "gemm"):
        for case in huge_cases(OPERATIONS[name], OPERATIONS[name].dtypes):
            assert np.prod(OPERATIONS[name].output_shape(case)) > 2**31
            OPERATIONS[name].check(case)


def test_an_offset_in_32_bits_is_caught_and_a_good_kernel_passes(tmp_path: Path) -> None:
    chosen = ("--kernels", MUTANTS / "large.py", "--implementation", "relu/torch/wrong_offset*,relu/torch/eager")
    ended = run_pytest("--case", FAR_CASE, *chosen, "--platform", "cpu", bundle=tmp_path / "bundle")
    verdicts = {record.implementation: record.verdict for record in ended.records}
    assert verdicts == {"relu/torch/wrong_offset_in_32_bits": "wrong", "relu/torch/eager": "exact"}


def test_rows_that_are_not_written_are_caught_in_a_huge_result(tmp_path: Path) -> None:
    case = Case("relu", "int8", {"x": [65600, 32777]}, {}, {"x": TensorSpec("full", "expanded0")})
    chosen = ("--kernels", MUTANTS / "large.py", "--implementation", "relu/torch/wrong_rows*")
    ended = run_pytest("--case", case.line, *chosen, "--platform", "cpu", bundle=tmp_path / "bundle")
    (record,) = ended.records
    if record.verdict == "unsupported":
        pytest.skip(record.message)  # says how much memory it would take
    assert record.verdict == "unwritten"
    assert "output elements" in record.message
