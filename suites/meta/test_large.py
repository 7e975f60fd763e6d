"""Are indices of 32 bits caught, with a few elements far apart and with a result too large to be held?

What needs gigabytes is tried in small here: with 2**14 in the place of 2**31, in the harness and in the kernels.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import find

from golden import inputs, layout, sample
from golden.case import Case, TensorSpec
from golden.inputs import HUGE, make_inputs
from golden.sample import sampled, unjudgeable
from kernels import strategies
from kernels.registry import load
from platforms import execution, unwritten
from platforms.cpu import Cpu
from platforms.far import FarInput
from platforms.interpreter import Interpreter
from platforms.limits import available, memory_limited, out_of_memory
from platforms.outcome import Damage
from platforms.pool import Pool
from platforms.unwritten import poisoned
from reports.bundle import Bundle
from reports.record import Record
from suites.large.cases import FAR, HUGE_DIMS, MANY, TINY_DIMS, far_cases, huge_cases, many_cases
from suites.meta.cli import MUTANTS
from suites.run import Run
from suites.subject import Subject

CPU = Cpu()
OPERATIONS = load().operations

ROW_LEFT_OUT = 70
CASE = Case("relu", "int8", {"x": [130, 13, 11]}, {}, {"x": TensorSpec("normal", "expanded1")}, 1)
"""More than 2**14 elements, of which row 70 is not judged."""

KERNELS = f"""
import torch
from kernels import implementation

@implementation("relu", paradigm="torch")
def wrong_row_unwritten(x):
    out = torch.empty(x.shape, dtype=x.dtype)
    out.copy_(torch.relu(x))
    out[{ROW_LEFT_OUT}, 2, 3:5] = torch.empty(2, dtype=x.dtype)
    return out

@implementation("relu", paradigm="torch")
def wrong_shape(x):
    return torch.relu(x).flatten()

@implementation("relu", paradigm="torch")
def takes_too_much(x):
    return torch.empty(2**60, dtype=x.dtype)

@implementation("relu", paradigm="torch", dtypes=("int8",))
def wrong_rows_past_an_axis_of_a_grid(x):
    out = torch.empty(x.shape, dtype=x.dtype)
    out[:65535] = torch.relu(x[:65535])
    return out
"""


class Bench:
    """One run in this process over the mutants of this file, with everything that is huge made small."""

    def __init__(self, directory: Path) -> None:
        path = directory / "kernels.py"
        path.write_text(KERNELS + (MUTANTS / "large.py").read_text().replace("2**31", "2**14"))
        self._catalogue = load([path])
        self._pool = Pool(kernels=[path], in_process=True)
        self._run = Run(pool=self._pool, bundle=Bundle.create(directory / "bundle", {}))

    def one(self, name: str, case: Case, platform: Cpu = CPU) -> Record:
        implementation = self._catalogue.implementations[f"{case.operation}/torch/{name}"]
        subject = Subject(self._catalogue.operations[case.operation], implementation, platform)
        return self._run.one(subject, case, suite="meta")

    def close(self) -> None:
        self._pool.close()
        self._run.bundle.close()


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Bench]:
    for module in (inputs, sample, execution):
        monkeypatch.setattr(module, "HUGE", 2**12)
    monkeypatch.setattr(sample, "OVERFLOWS", (2**13, 2**14))
    monkeypatch.setattr(sample, "ELEMENTS", 2**8)
    monkeypatch.setattr(unwritten, "PART", 2**10)
    bench = Bench(tmp_path)
    yield bench
    bench.close()


def relu(layout_: str, dtype: str = "int8", shape: tuple[int, ...] = (5, 7)) -> Case:
    return Case("relu", dtype, {"x": list(shape)}, {}, {"x": TensorSpec(layout=layout_)})


def test_far_slices_reach_past_the_end_of_an_index() -> None:
    for exponent in FAR:
        placement = layout.place((5, 7), f"far{exponent}")
        assert placement.strides[1] == 1
        assert 0 <= 4 * placement.strides[0] - 2**exponent < 4
        assert placement.strides[0] < 2**31
    assert layout.place((3, 2, 5), "transposed+far31").strides == (2**30, 1, 2)
    with pytest.raises(layout.LayoutError, match="needs an axis of two elements or more"):
        layout.place((1, 1), "far31")
    with pytest.raises(layout.LayoutError, match="exponent of up to 36"):
        layout.parse("far60")


def test_the_second_of_two_slices_lies_across_the_end_of_an_index() -> None:
    stride, _ = layout.place((2, 9), "far31").strides
    assert stride < 2**31 - 1 < 2**31 < stride + 8
    assert layout.place((4, 2, 5), "expanded0+far31").strides == (0, 2**31 - 2, 1)


def test_every_operation_has_far_cases_of_every_dtype() -> None:
    for operation in OPERATIONS.values():
        for exponent in FAR:
            cases = far_cases(operation, operation.dtypes, exponent)
            far = {(case.dtype, name) for case in cases for name, spec in case.tensors.items() if "far" in spec.layout}
            assert {dtype for dtype, _ in far} == set(operation.dtypes)
            assert {name for _, name in far} >= set(operation.reduced_axes(cases[0]))
            for case in cases:
                operation.check(case)


@pytest.mark.parametrize("name", sorted(HUGE_DIMS))
def test_huge_cases_are_huge_and_can_be_judged(name: str) -> None:
    operation = OPERATIONS[name]
    cases = huge_cases(operation, operation.dtypes)
    assert cases
    for case in cases:
        shape, independent = operation.output_shape(case), operation.independent_axis(case)
        assert independent is not None
        assert np.prod(shape) > 2**31
        assert unjudgeable(shape, independent[0]) == ""
        operation.check(case)


@pytest.mark.parametrize("name", sorted(TINY_DIMS))
def test_many_rows_are_many(name: str) -> None:
    operation = OPERATIONS[name]
    cases = many_cases(operation, operation.dtypes)
    assert {case.dtype for case in cases} == set(operation.dtypes)
    for case in cases:
        assert max(max(shape, default=0) for shape in operation.shapes(case).values()) in MANY
        operation.check(case)


def test_a_sample_has_the_ends_and_the_places_where_indices_overflow() -> None:
    case = Case("relu", "int8", {"x": [140000, 32768]})
    rows = sampled(case, (140000, 32768), 0)
    assert rows is not None
    places = {place + near for place in (2**13, 2**14, 2**15, 2**16, 2**17) for near in (-1, 0, 1)}
    assert {0, 1, 139999} | places <= set(rows) | {1}
    assert 40 < len(rows) <= 45
    assert (np.diff(rows) > 0).all()
    same = sampled(case, (140000, 32768), -2)
    other = sampled(Case("relu", "int8", {"x": [140000, 32768]}, seed=1), (140000, 32768), 0)
    assert same is not None
    assert other is not None
    assert rows.tolist() == same.tolist() != other.tolist()


def test_a_sample_of_short_rows_has_more_of_them_and_one_of_columns_has_the_same_places() -> None:
    case = Case("relu", "int8", {"x": [2**31 + 5]})
    rows = sampled(case, (2**31 + 5,), 0)
    assert rows is not None
    assert {2**31 - 1, 2**31, 2**31 + 1, 2**31 + 4} <= set(rows)
    assert len(rows) > 16000
    columns = sampled(case, (2**20 + 1, 4097), 1)
    assert columns is not None
    assert 2**31 % 4097 in columns


def test_what_cannot_be_sampled_is_told() -> None:
    assert sampled(CASE, (2, HUGE // 2), 0) is None
    assert unjudgeable((2, HUGE // 2), None) == ""
    assert "none apart" in unjudgeable((2, HUGE), None)
    assert f"one row has {HUGE} elements" in unjudgeable((2, HUGE), 0)


def test_inputs_of_a_huge_case_take_no_memory() -> None:
    x = make_inputs(Case("relu", "int8", CASE.dims, {}, CASE.tensors), {"x": (2**16, 2**14, 3)})["x"]
    assert x.strides[1] == 0
    assert np.unique(x[:, 0]).size == 17


@pytest.mark.parametrize(
    ("name", "verdict", "message"),
    [
        ("eager", "exact", ""),
        ("wrong_rows_past_the_end_of_32_bits", "unwritten", "2288 of 18590 output elements, first [114, 0, 0]"),
        ("wrong_row_unwritten", "unwritten", f"2 of 18590 output elements, first [{ROW_LEFT_OUT}, 2, 3]"),
        ("wrong_index_wraps_around", "wrong", ""),
        ("wrong_shape", "wrong", "returned int8[18590] instead of int8[130, 13, 11]"),
        ("takes_too_much", "unsupported", "it took more memory than cpu has"),
    ],
)
def test_a_huge_result_is_judged_on_a_sample_and_looked_through_whole(
    bench: Bench, name: str, verdict: str, message: str
) -> None:
    rows = sampled(CASE, (130, 13, 11), 0)
    assert rows is not None
    assert ROW_LEFT_OUT not in rows
    record = bench.one(name, CASE)
    assert record.verdict == verdict, record.message
    assert message in record.message
    assert record.elements == (0 if verdict == "unsupported" or name == "wrong_shape" else 143 * len(rows))


@pytest.mark.parametrize(
    ("operation", "dims", "params"),
    [
        ("add", {"x": [130, 1], "y": [1, 143]}, {}),
        ("softmax", {"x": [11, 1300]}, {"dim": 0}),
        ("gemm", {"m": 130, "n": 143, "k": 5}, {}),
        ("layer_norm", {"x": [130, 13, 11]}, {"eps": 1e-5}),
    ],
)
def test_good_kernels_pass_on_a_sample(bench: Bench, operation: str, dims: Any, params: Any) -> None:
    record = bench.one("eager", Case(operation, "float32", dims, params))
    assert record.verdict in ("exact", "within"), record.message
    assert 0 < record.elements < 14000


def test_a_platform_of_few_programs_does_not_run_a_huge_case(bench: Bench) -> None:
    record = bench.one("eager", CASE, Cpu(name="small", programs=256))
    assert (record.verdict, record.message) == (
        "unsupported",
        "small is for launches of up to 256 programs, not 18590 elements",
    )


def test_rows_past_an_axis_of_a_grid_are_caught(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (inputs, sample, execution):
        monkeypatch.setattr(module, "HUGE", HUGE)
    cases = many_cases(OPERATIONS["relu"], ["int8"])
    assert [bench.one("eager", case).verdict for case in cases] == ["exact", "exact"]
    records = [bench.one("wrong_rows_past_an_axis_of_a_grid", case) for case in cases]
    assert [record.verdict for record in records] == ["unwritten", "unwritten"]
    assert records[0].message == "2 of 131072 output elements, first [65535, 0]"


def test_very_many_tiny_rows_are_drawn_where_there_is_room() -> None:
    rows, _ = find(strategies.row_shapes(2**18), lambda shape: len(shape) == 2 and shape[0] >= 65535)
    m, n, k = find(strategies.matrix_sizes(2**18), lambda sizes: sizes[0] >= 65535)
    assert rows in strategies.MANY
    assert m in strategies.MANY
    assert 1 <= n <= 3 >= k >= 1


def test_poison_is_found_in_every_part_and_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unwritten, "PART", 20)
    tensor = torch.zeros(9, 7, dtype=torch.int8).T
    assert not poisoned(tensor, 0x2B)
    for index in ((2, 8), (5, 0), (6, 8)):
        tensor[index] = 0x2B
    found = poisoned(tensor, 0x2B)
    assert (found.count, found.first, str(found)) == (3, (2, 8), "3 of 63 output elements, first [2, 8]")
    tensor[2, 8] = 0
    assert str(found & poisoned(tensor, 0x2B)) == "2 of 63 output elements, first [5, 0]"
    tensor.zero_()
    assert not found & poisoned(tensor, 0x2B)
    assert poisoned(torch.tensor(0x2B, dtype=torch.int8), 0x2B).first == ()
    assert not poisoned(torch.zeros(0, 3), 0x2B)


@pytest.mark.parametrize(
    ("text", "shape"), [("far32", (4, 5)), ("transposed+far31", (3, 4)), ("expanded0+far31", (3, 4, 5))]
)
def test_what_happens_to_far_slices_and_around_them_is_seen(text: str, shape: tuple[int, ...]) -> None:
    placement = layout.place(shape, text)
    values = np.arange(np.prod(shape), dtype=np.float64).reshape(shape)
    values = np.broadcast_to(values[:1], shape) if "expanded" in text else values
    far = FarInput("x", values, placement, torch.float64, "cpu")
    assert np.array_equal(far.tensor.numpy(), values)
    assert list(far.damage()) == []
    outer = int(np.argmax(placement.strides))
    past = torch.as_strided(far.tensor, (1,), (1,), far.tensor.storage_offset() + placement.strides[outer] - 2)
    past.fill_(1.0)
    assert list(far.damage()) == [Damage("out of bounds", "1 place around slice 1 of input x")]
    far.tensor[(0,) * len(shape)] = -1.0
    assert Damage("input changed", "1 place in slice 0 of input x") in list(far.damage())


def test_the_host_says_what_it_has() -> None:
    free = available()
    assert free is not None
    assert 2**20 < free < 2**50


def test_taking_more_memory_than_there_is_is_an_error() -> None:
    with memory_limited(2**28), pytest.raises(RuntimeError) as raised:
        torch.empty(2**30, dtype=torch.uint8)
    assert out_of_memory(raised.value)
    assert not out_of_memory(RuntimeError("another"))
    assert torch.empty(2**30, dtype=torch.uint8).numel() == 2**30


def test_an_offset_in_32_bits_is_caught_and_a_good_kernel_passes(bench: Bench) -> None:
    assert bench.one("wrong_offset_in_32_bits", relu("far31")).verdict == "wrong"
    assert bench.one("eager", relu("far31")).verdict == "exact"


def test_a_product_with_a_stride_in_32_bits_is_caught_by_the_guarded_interpreter() -> None:
    with Pool(kernels=[MUTANTS / "large_triton.py"]) as pool:
        wrong, right = (
            pool.run(Interpreter(), f"relu/triton/{name}", relu("far31"))
            for name in ("wrong_row_times_stride_in_32_bits", "row_times_stride_in_64_bits")
        )
    assert [one.kind for one in wrong.damage] == ["out of bounds"]
    assert "bytes before tensor 'x'" in wrong.message
    assert (right.status, right.damage) == ("returned", ())
    assert right.output is not None
    assert np.array_equal(right.output, np.maximum(make_inputs(relu("far31"), {"x": (5, 7)})["x"], 0))
