"""What a kernel does to memory that is not its own is seen, named and placed; what it may do is not complained of."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from golden.case import Case
from golden.dtypes import DTYPES
from golden.inputs import make_inputs
from kernels.relu import Relu
from platforms.cpu import Cpu
from platforms.outcome import Outcome
from platforms.pool import Pool

CPU = Cpu()

KERNELS = """
import ctypes
import torch
from kernels import implementation

def poke(tensor, element, byte=0x11):
    ctypes.memset(tensor.data_ptr() + element * tensor.element_size(), byte, tensor.element_size())

def result(x):
    out = torch.empty(x.shape, dtype=x.dtype)
    out.copy_(torch.relu(x))
    return out

@implementation("relu", paradigm="torch")
def guarded(x):
    return result(x)

@implementation("relu", paradigm="torch")
def past_output(x):
    out = result(x)
    poke(out, out.numel())
    return out

@implementation("relu", paradigm="torch")
def before_output(x):
    out = torch.zeros_like(x)
    poke(out, -3)
    return out.copy_(torch.relu(x))

@implementation("relu", paradigm="torch")
def past_input(x):
    poke(x, (x.size(0) - 1) * x.stride(0) + (x.size(1) - 1) * x.stride(1) + 2)
    return result(x)

@implementation("relu", paradigm="torch")
def before_input(x):
    poke(x, -1)
    return result(x)

@implementation("relu", paradigm="torch")
def in_gap(x):
    poke(x, 2 * x.stride(0) - 1)
    return result(x)

@implementation("relu", paradigm="torch")
def in_place(x):
    x[1, 2].neg_()
    x[2, 0].neg_()
    return torch.relu(x)

@implementation("relu", paradigm="torch")
def last_row_missing(x):
    out = torch.empty_like(x)
    out[:-1] = torch.relu(x[:-1])
    return out

@implementation("relu", paradigm="torch")
def whole_missing(x):
    return x.new_empty(x.shape)

@implementation("relu", paradigm="inductor")
def unguarded_last_row_missing(x):
    out = torch.empty(x.shape, dtype=x.dtype)
    out[:-1] = torch.relu(x[:-1])
    return out

@implementation("relu", paradigm="torch")
def copies(x):
    return x.clone()

@implementation("relu", paradigm="torch")
def reads_gaps(x):
    return torch.as_strided(x, (x.stride(0) * x.size(0) + 4,), (1,), x.storage_offset() - 2).clone()

@implementation("relu", paradigm="torch")
def tells_place(x):
    return torch.tensor([x.data_ptr() % 256, x.storage_offset() >= 0, *x.stride()], dtype=torch.int64)

@implementation("relu", paradigm="torch")
def raises_after_damage(x):
    poke(x, -1)
    raise RuntimeError("too late")

@implementation("add", paradigm="torch")
def second_changed(x, y):
    y[0, 0] = 7
    return x + y

@implementation("relu", paradigm="torch")
def fills(x):
    made = [torch.zeros(3), torch.ones(3), torch.full((3,), 2.5), x.new_full((3,), 4), torch.empty(3, dtype=torch.bool)]
    made += [torch.empty_strided((3, 2), (1, 3)), torch.empty(0), torch.zeros((), dtype=torch.int8)]
    told = [made[0].sum(), made[1].sum(), made[2].sum(), made[3].sum(), made[5].stride(1), made[5].isnan().sum()]
    return torch.tensor([float(one) for one in told], dtype=torch.float64)
"""


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    path = tmp_path_factory.mktemp("kernels") / "memory_faults.py"
    path.write_text(KERNELS)
    with Pool(kernels=[path], time_limit=20.0) as pool:
        yield pool


def case(
    dtype: str = "float32", layout: str = "contiguous", regime: str = "normal", shape: tuple[int, ...] = (3, 5)
) -> Case:
    spec = f'{{"layout":"{layout}","regime":"{regime}"}}'
    return Case.parse(
        f'{{"operation":"relu","dtype":"{dtype}","dims":{{"x":{list(shape)}}},"tensors":{{"x":{spec}}},"seed":3}}'
    )


def run(pool: Pool, name: str, case: Case, paradigm: str = "torch") -> Outcome:
    outcome = pool.run(CPU, f"{case.operation}/{paradigm}/{name}", case)
    assert outcome.status == "returned", outcome.message
    assert outcome.output is not None
    return outcome


def damage(outcome: Outcome) -> list[tuple[str, str]]:
    return [(one.kind, one.detail) for one in outcome.damage]


@pytest.mark.parametrize("dtype", Relu.dtypes)
@pytest.mark.parametrize("layout", ["contiguous", "transposed", "sliced3+padded2+offset5", "expanded0", "offset1"])
def test_a_correct_kernel_does_no_damage_and_its_result_arrives_bit_for_bit(
    pool: Pool, dtype: str, layout: str
) -> None:
    one = case(dtype, layout)
    outcome = run(pool, "guarded", one)
    x = make_inputs(one, {"x": (3, 5)})["x"]
    negative = (x >> 15).astype(bool) if dtype == "bfloat16" else x < 0
    assert outcome.damage == ()
    assert outcome.output is not None
    assert outcome.output.dtype == DTYPES[dtype].storage
    assert np.array_equal(outcome.output, np.where(negative, 0, x).astype(x.dtype))


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (), (1,), (1, 1)])
def test_empty_and_single_element_tensors_do_no_damage(pool: Pool, shape: tuple[int, ...]) -> None:
    outcome = run(pool, "guarded", case(shape=shape))
    assert ([result.shape for result in outcome.results], outcome.damage) == ([shape], ())


@pytest.mark.parametrize("dtype", Relu.dtypes)
def test_one_element_past_or_before_an_allocated_tensor(pool: Pool, dtype: str) -> None:
    what = f"an allocated {dtype} tensor of shape (3, 5)"
    past = run(pool, "past_output", case(dtype))
    assert damage(past) == [("out of bounds", f"1 element after {what}, first 0 past its end")]
    before = run(pool, "before_output", case(dtype))
    assert damage(before) == [("out of bounds", f"1 element before {what}, nearest 3 before it")]


@pytest.mark.parametrize("dtype", Relu.dtypes)
def test_past_or_before_an_input(pool: Pool, dtype: str) -> None:
    past = run(pool, "past_input", case(dtype))
    assert damage(past) == [("out of bounds", "1 element after input x, first 1 past its end")]
    before = run(pool, "before_input", case(dtype))
    assert damage(before) == [("out of bounds", "1 element before input x, nearest 1 before it")]


def test_the_gap_between_two_rows(pool: Pool) -> None:
    gap = run(pool, "in_gap", case(layout="padded4"))
    assert damage(gap) == [("out of bounds", "1 element in the gaps of input x, first after x[1, 4]")]
    lead = run(pool, "before_input", case(layout="offset3"))
    assert damage(lead) == [("out of bounds", "1 element in the gaps of input x, first before its first element")]


def test_an_input_changed_in_place(pool: Pool) -> None:
    for layout in ("contiguous", "padded2+offset1", "transposed"):
        assert damage(run(pool, "in_place", case(layout=layout))) == [
            ("input changed", "2 elements of input x, first x[1, 2]")
        ]


def test_the_changed_input_is_named(pool: Pool) -> None:
    both = Case.parse('{"operation":"add","dtype":"float32","dims":{"x":[2,3],"y":[2,3]},"seed":1}')
    assert damage(run(pool, "second_changed", both)) == [("input changed", "1 element of input y, first y[0, 0]")]


@pytest.mark.parametrize("dtype", Relu.dtypes)
def test_elements_that_were_never_written(pool: Pool, dtype: str) -> None:
    row = run(pool, "last_row_missing", case(dtype))
    assert damage(row) == [("unwritten", "5 of 15 output elements, first [2, 0]")]
    whole = run(pool, "whole_missing", case(dtype))
    assert damage(whole) == [("unwritten", "15 of 15 output elements, first [0, 0]")]


def test_the_last_right_answer_does_not_stand_in_for_what_a_compiled_kernel_left_out(pool: Pool) -> None:
    one = case(shape=(64, 64))
    right = run(pool, "guarded", one).output
    outcomes = [run(pool, "unguarded_last_row_missing", one, "inductor") for _ in range(5)]
    # An allocator may always hand out some other block, so it is for one of several calls to show it.
    assert not all(np.array_equal(outcome.output[-1], right[-1]) for outcome in outcomes)  # type: ignore[index]


def test_small_integers_that_look_like_poison_are_no_damage(pool: Pool) -> None:
    one = case("int8", regime="full", shape=(40, 40))
    outcome = run(pool, "copies", one)
    x = make_inputs(one, {"x": (40, 40)})["x"]
    assert len(set(x.ravel().tolist())) == 256
    assert np.array_equal(outcome.output, x)  # type: ignore[arg-type]
    assert outcome.damage == ()


def test_what_is_read_outside_of_the_elements_is_not_a_number(pool: Pool) -> None:
    output = run(pool, "reads_gaps", case(layout="padded2+offset3")).output
    assert output is not None
    inside = np.zeros(25, bool)
    for row in range(3):
        inside[2 + 7 * row : 7 + 7 * row] = True
    assert np.isnan(output).tolist() == (~inside).tolist()


@pytest.mark.parametrize(("dtype", "width"), [("float64", 8), ("float16", 2), ("int8", 1)])
@pytest.mark.parametrize(
    ("layout", "offset", "strides"),
    [("contiguous", 0, [5, 1]), ("sliced2+offset7", 7, [10, 2]), ("transposed", 0, [1, 3]), ("expanded1", 0, [1, 0])],
)
def test_inputs_lie_as_the_case_says(
    pool: Pool, dtype: str, width: int, layout: str, offset: int, strides: list[int]
) -> None:
    output = run(pool, "tells_place", case(dtype, layout)).output
    assert output is not None
    assert output.tolist() == [offset * width, 1, *strides]


def test_damage_is_told_of_a_kernel_that_raises_too(pool: Pool) -> None:
    outcome = pool.run(CPU, "relu/torch/raises_after_damage", case())
    assert outcome.status == "raised"
    assert outcome.message.startswith("RuntimeError: too late")
    assert damage(outcome) == [("out of bounds", "1 element before input x, nearest 1 before it")]


def test_allocations_hold_what_their_functions_promise(pool: Pool) -> None:
    output = run(pool, "fills", case()).output
    assert output is not None
    assert output.tolist() == [0, 3, 7.5, 12, 3, 6]
