"""Is a drift accounted for by what was declared or measured, and by nothing else?"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from golden.case import Case
from kernels.registry import load
from platforms.cpu import Cpu
from platforms.platform import Platform
from platforms.pool import Pool
from platforms.ranks.platform import ranks_of
from reports.bundle import Bundle
from reports.record import Record
from suites.run import Run
from suites.subject import Subject

KERNELS = '''"""Matrix products whose accumulator has 24 bits and rounds in one way or another."""
import torch
from kernels import implementation

def accumulate(a, b, rounding):
    total = torch.zeros(a.shape[-2], b.shape[-1], dtype=torch.float64)
    for k in range(a.shape[-1]):
        total = rounding(total + a[:, k, None].double() * b[k].double())
    return total.to(a.dtype)

def truncated(x):
    return (x.view(torch.int64) & ~0x1FFFFFFF).view(torch.float64)

def upward(x):
    cut = truncated(x)
    return torch.where(cut < x, cut + torch.ldexp(torch.tensor(1.0, dtype=x.dtype), torch.frexp(cut)[1] - 24), cut)

@implementation("gemm", paradigm="torch")
def truncating(a, b):
    return accumulate(a, b, truncated)

@implementation("gemm", paradigm="torch")
def rounding_up(a, b):
    return accumulate(a, b, upward)

@implementation("gemm", paradigm="torch")
def rounding_to_nearest(a, b):
    return accumulate(a, b, lambda x: x.float().double())

@implementation("gemm", paradigm="torch")
def wide(a, b):
    return accumulate(a, b, lambda x: x)

@implementation("gemm", paradigm="torch")
def flushing(a, b):
    tiny = torch.finfo(a.dtype).tiny
    return torch.matmul(*(torch.where(x.abs() < tiny, 0, x) for x in (a, b)))

@implementation("gemm", paradigm="torch")
def flushing_now_and_then(a, b):
    return flushing(a, b) if a.shape[-1] < 100 else torch.matmul(a, b)

@implementation("all_gather_gemm", paradigm="torch", name="flushing")
def flushing_rank(a, b, *, group):
    rows = a.new_empty((group.size * a.shape[0], a.shape[1]))
    group.all_gather(rows.view(-1), a.reshape(-1))
    return flushing(rows, b)

@implementation("gemm", paradigm="torch", numerics="tf32")
def cut_and_said_so(a, b):
    if a.dtype == torch.float32:
        a, b = ((x.contiguous().view(torch.int32) & ~0x1FFF).view(torch.float32) for x in (a, b))
    return torch.matmul(a, b)

@implementation("gemm", paradigm="torch", numerics="tf32")
def cut_to_bfloat16_and_said_tf32(a, b):
    return torch.matmul(a.bfloat16().to(a.dtype), b.bfloat16().to(a.dtype))

def flushed(x):
    return torch.where(x.abs() < torch.finfo(x.dtype).tiny, 0, x)

def scattered(x, index, src):
    return flushed(torch.index_add(flushed(x), 0, index, flushed(src)))

scattering = implementation("scatter_add", paradigm="torch", name="scattering")(scattered)
said_so = implementation("scatter_add", paradigm="torch", name="scattering_and_said_so", numerics="flushed")(scattered)
'''

POSITIVE = (
    '{"operation":"gemm","dtype":"float32","dims":{"m":16,"n":16,"k":4096},'
    '"tensors":{"a":{"regime":"positive"},"b":{"regime":"positive"}},"seed":0}'
)
SUBNORMAL = (
    '{"operation":"gemm","dtype":"float32","dims":{"m":16,"n":16,"k":64},'
    '"tensors":{"a":{"regime":"subnormal"}},"seed":0}'
)
SPREAD = (
    '{"operation":"all_gather_gemm","dtype":"float32","dims":{"ranks":2,"m":8,"n":16,"k":64},'
    '"tensors":{"a":{"regime":"subnormal"}},"seed":0}'
)
NORMAL = '{"operation":"gemm","dtype":"float32","dims":{"m":16,"n":16,"k":64},"seed":0}'

SCATTERED = (
    '{"operation":"scatter_add","dtype":"float32","dims":{"rows":4,"count":16,"columns":8},'
    '"tensors":{"x":{"regime":"subnormal"},"src":{"regime":"subnormal"}},"seed":0}'
)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    """A function that runs one of KERNELS on a case line and returns the record."""
    folder = tmp_path_factory.mktemp("accounts")
    file = folder / "kernels.py"
    file.write_text(KERNELS)
    catalogue = load([file])

    with Pool(kernels=[file]) as pool, Bundle.create(folder / "bundle", {}) as bundle:
        run = Run(pool=pool, bundle=bundle)

        def judge(name: str, line: str) -> Record:
            case = Case.parse(line)
            spread = case.operation not in catalogue.operations
            among = catalogue.collectives if spread else catalogue
            assert among is not None
            implementation = among.implementations[f"{case.operation}/torch/{name}"]
            platform = ranks_of(Cpu(), 2) if spread else Cpu()
            assert isinstance(platform, Platform)
            return run.one(Subject(among.operations[case.operation], implementation, platform), case, suite="meta")

        yield judge, pool


def test_a_truncating_accumulator_is_measured_and_accounts_for_its_drift(judged: tuple) -> None:
    record = judged[0]("truncating", POSITIVE)
    assert (record.verdict, record.accounted) == ("drift", "measured: its accumulator truncates instead of rounding")
    assert record.share > 1 > record.hard_share
    assert record.bias_ulp < -100


def test_the_same_drift_from_another_rounding_is_not_accounted_for(judged: tuple) -> None:
    record = judged[0]("rounding_up", POSITIVE)
    assert (record.verdict, record.accounted) == ("drift", "")


def test_a_declared_precision_accounts_for_what_it_says_and_no_more(judged: tuple) -> None:
    record = judged[0]("cut_and_said_so", NORMAL)
    assert record.verdict == "drift"
    assert record.accounted.startswith("declared numerics tf32")
    assert record.accounted.endswith("truncated")
    assert record.share < 1
    liar = judged[0]("cut_to_bfloat16_and_said_tf32", NORMAL)
    assert (liar.verdict, liar.accounted) == ("wrong", "")


def test_flushed_subnormal_operands_are_measured_and_account_for_what_they_cost(judged: tuple) -> None:
    record = judged[0]("flushing", SUBNORMAL)
    assert (record.verdict, record.accounted) == (
        "drift",
        "measured: its matrix products take subnormal numbers for zero",
    )
    assert record.share < 1
    sometimes = judged[0]("flushing_now_and_then", SUBNORMAL)
    assert (sometimes.verdict, sometimes.accounted) == ("wrong", "")


def test_ranks_multiply_as_their_platform_does(judged: tuple, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = judged[0]("flushing", SPREAD)
    assert (alone.verdict, alone.accounted) == ("wrong", "")  # this processor's own products keep them
    asked = []

    def call(platform: Platform, target: str, **arguments: str) -> dict[str, str]:
        asked.append((platform.name, target.rpartition(":")[2], arguments["implementation"]))
        return {"subnormals": "flushed", "rounding": "nearest"}

    monkeypatch.setattr(judged[1], "call", call)
    record = judged[0]("flushing", SPREAD)
    assert record.accounted == "measured: its matrix products take subnormal numbers for zero"
    assert set(asked) == {("cpu", "matrix_product", "gemm/torch/eager")}


def test_a_scattered_sum_that_flushes_says_so_or_runs_where_additions_in_memory_do(judged: tuple) -> None:
    record = judged[0]("scattering", SCATTERED)
    assert (record.verdict, record.accounted) == ("wrong", "")
    said = judged[0]("scattering_and_said_so", SCATTERED)
    assert said.verdict == "drift"
    assert said.accounted.startswith("declared numerics flushed")
    target = "platforms.profile.scattering:scattered_sum"
    assert judged[1].call(Cpu(), target, dtype="float32") == {"subnormals": "kept"}


@pytest.mark.parametrize(
    ("name", "rounding"),
    [("truncating", "truncated"), ("rounding_up", "nearest"), ("rounding_to_nearest", "nearest"), ("wide", "unknown")],
)
def test_the_probe_recovers_what_the_accumulator_was_built_to_do(judged: tuple, name: str, rounding: str) -> None:
    """Rounding up looks like rounding to nearest at 3/4 of a unit; what matters is that it is not taken to truncate."""
    for dtype in ("float32", "float16", "bfloat16"):
        answer = judged[1].call(
            Cpu(), "platforms.profile.products:matrix_product", implementation=f"gemm/torch/{name}", dtype=dtype
        )
        assert answer == {"rounding": rounding, "subnormals": "kept"}, dtype
