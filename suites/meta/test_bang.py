"""Kernels in BANG C: they run on the shim in every order of tasks, and what breaks a rule is refused and named."""

from __future__ import annotations

import platform as host
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from golden.case import Case
from kernels.registry import load
from kernels.toolchains import native
from kernels.toolchains.bang import BangSource
from kernels.toolchains.cxx.abi import KernelError
from kernels.toolchains.cxx.build import BuildError
from platforms.bang_shim import ORDER, ORDERS, BangShim, find
from platforms.platform import Absent, platform_from_value
from platforms.pool import Pool
from platforms.probe import Probe
from platforms.tools import COMPILERS, TOOLS
from platforms.vendors.cambricon import Cambricon
from reports.bundle import Bundle
from suites.meta.cli import MUTANTS, run_pytest
from suites.run import Run
from suites.subject import Subject

HERE = Probe(torch_version="here", machine=host.machine(), tools=tuple(name for name in TOOLS if shutil.which(name)))
SHIMS = {one.name: one for one in find(HERE, ()) if isinstance(one, BangShim)}

needs_compiler = pytest.mark.skipif(not SHIMS, reason=f"needs a C++ compiler, one of {', '.join(COMPILERS)}")

RELU = '{"operation":"relu","dtype":"float32","dims":{"x":[3,70]},"seed":5}'
CUMSUM = '{"operation":"cumsum","dtype":"float32","dims":{"x":[77]},"params":{"dim":-1,"reverse":false},"seed":5}'


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(kernels=[MUTANTS / "bang_kernels.py"]) as pool:
        yield pool


def test_the_shim_comes_in_every_order_and_only_on_request() -> None:
    shims = [one for one in find(Probe(torch_version="2", tools=("g++",)), ()) if isinstance(one, BangShim)]
    assert [(one.name, one.environment[ORDER], one.on_request) for one in shims] == [
        ("bang-shim", "forward", True),
        ("bang-shim-reversed", "reversed", True),
        ("bang-shim-shuffled", "shuffled", True),
    ]
    assert [platform_from_value(one.to_value()) for one in shims] == shims
    assert all(one.untimed for one in shims)
    (absent,) = find(Probe(torch_version="2"), ())
    assert isinstance(absent, Absent)
    assert absent.reason.startswith("there is no C++ compiler")
    with pytest.raises(ValueError, match="unknown order 'sideways'"):
        BangShim(order="sideways")


@needs_compiler
def test_the_kernels_agree_with_golden_and_are_called_a_shims(tmp_path: Path) -> None:
    shim = f"bang-shim-{ORDERS[-1]}"
    ended = run_pytest(
        "--implementation", "*/bang/*", "--platform", shim, "--hypothesis-profile", "smoke", bundle=tmp_path / "bundle"
    )
    assert ended.status == 0, ended.text
    ran = {(one.implementation, one.platform) for one in ended.records}
    assert ran == {(name, shim) for name, one in load().implementations.items() if one.paradigm == "bang"}
    assert "a shim of BANG C on the processor; no result of it is one of an MLU" in ended.text


@needs_compiler
@pytest.mark.parametrize(
    ("mutant", "line", "said"),
    [
        (
            "size_not_padded",
            RELU,
            "__bang_active_relu: 18 elements of dst are 72 bytes, which must be a multiple of 128",
        ),
        (
            "address_not_aligned",
            RELU,
            "__bang_active_relu: dst must lie at a multiple of 64 bytes, not 4 beyond one",
        ),
        ("nram_overrun", RELU, "__memcpy GDRAM2NRAM: dst ends "),
        (
            "loaded_by_the_first",
            RELU,
            "__memcpy NRAM2GDRAM: src has NRAM that this task has not written, from byte 0",
        ),
        ("copied_the_wrong_way", RELU, "__memcpy NRAM2GDRAM: src must lie in NRAM"),
        ("padding_pooled", RELU, "__bang_sumpool: src has NRAM that this task has not written, from byte 72"),
        (
            "filter_not_reshaped",
            RELU,
            "__bang_matmul: the second operand is not in the layout that __bang_reshape_filter makes",
        ),
        ("columns_not_padded", RELU, "__bang_matmul: 33 columns are no multiple of 64"),
        (
            "carry_of_another_task",
            CUMSUM,
            "__memcpy: task 1 reads GDRAM that another task of the launch writes; tasks run in any order",
        ),
    ],
)
def test_a_broken_rule_is_named(pool: Pool, mutant: str, line: str, said: str) -> None:
    case = Case.parse(line)
    outcome = pool.run(SHIMS["bang-shim"], f"{case.operation}/bang/wrong_{mutant}", case)
    assert outcome.status == "raised"
    assert f"{mutant}: {said}" in outcome.message


@needs_compiler
@pytest.mark.parametrize(
    ("mutant", "contract", "verdict"),
    [
        ("last_piece_left", "", "unwritten"),
        ("whole_lots_stored", "", "out of bounds"),
        ("input_rectified_too", "", "input changed"),
        ("sum_of_calls", "deterministic", "inconsistent"),
    ],
)
def test_a_kernel_that_breaks_no_rule_of_the_language_is_judged_as_any_other(
    pool: Pool, tmp_path: Path, mutant: str, contract: str, verdict: str
) -> None:
    catalogue = load([MUTANTS / "bang_kernels.py"])
    implementation = catalogue.implementations[f"relu/bang/wrong_{mutant}"]
    subject = Subject(catalogue.operations["relu"], implementation, SHIMS["bang-shim"])
    with Bundle.create(tmp_path / "bundle", {}) as bundle:
        record = Run(pool=pool, bundle=bundle).one(subject, Case.parse(RELU), suite="meta", contract=contract)
    assert record.verdict == verdict, record.message


@needs_compiler
def test_the_kernels_keep_every_contract_that_a_shim_can_be_asked_about(pool: Pool, tmp_path: Path) -> None:
    """One case each of the contracts on surroundings, layouts and repetition; `suites/test_contracts.py` draws more."""
    catalogue, verdicts = load(), set()
    case = Case.parse('{"operation":"softmax","dtype":"float32","dims":{"x":[3,40]},"params":{"dim":-1},"seed":5}')
    softmax = Subject(
        catalogue.operations["softmax"], catalogue.implementations["softmax/bang/three_pass"], SHIMS["bang-shim"]
    )
    with Bundle.create(tmp_path / "bundle", {}) as bundle:
        run = Run(pool=pool, bundle=bundle)
        for contract in (
            "deterministic",
            "surroundings",
            "fresh",
            "layouts",
            "rows",
            "honest",
            "metamorphic",
            "reworded",
        ):
            verdicts.add(run.one(softmax, case, suite="meta", contract=contract).verdict)
    assert verdicts <= {"exact", "within"}


@needs_compiler
@pytest.mark.parametrize("name", SHIMS)
def test_what_passes_the_shim_by_shows_in_another_order_of_tasks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in SHIMS[name].environment.items():
        monkeypatch.setenv(variable, value)
    x = torch.arange(1.0, 78.0)
    out = torch.zeros_like(x)
    BangSource(str(MUTANTS / "bang_kernels.py")).call("carry_by_the_scalar_unit", x, out)
    assert torch.equal(out, x.cumsum(0)) == (SHIMS[name].order == "forward")


@needs_compiler
def test_a_source_that_declares_more_than_there_is_is_refused(tmp_path: Path) -> None:
    (tmp_path / "large.mlu").write_text(
        """
        #include "bang.hpp"
        __nram__ float large[100 * 1024];
        __mlu_global__ void zeros(float *out) {
            if (!taskId) __bang_write_value(large, 32, 0.0f), store(out, large, 8, 1);
        }
        ENTRY(zeros, call) { return launch(zeros, call.stream, call.tensors[0].as<float>()); }
        """
    )
    with pytest.raises(KernelError, match="zeros: NRAM: 409600 bytes are declared, and there are 393216"):
        BangSource(str(tmp_path / "large.py")).call("zeros", torch.empty(8))


@pytest.mark.skipif(bool(shutil.which("cncc")), reason="cncc is here")
def test_elsewhere_than_on_the_processor_it_asks_for_cncc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(native._COMPILERS, "bang", Cambricon.vendor.compiler)
    x = torch.empty(8, device="meta")
    with pytest.raises(BuildError, match="there is no cncc"):
        BangSource(str(MUTANTS / "bang_kernels.py")).call("size_not_padded", x, x)
