"""Does the corpus cover what it should, and does ``--corpus`` run all of it, and nothing else?"""

from __future__ import annotations

from pathlib import Path

import pytest

from golden.frozen import corpus, version
from golden.layout import parse
from kernels.registry import load
from suites.meta.cli import run_pytest

OPERATIONS = load().operations


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_every_dtype_regime_and_layout_is_there(name: str) -> None:
    operation = OPERATIONS[name]
    for dtype in operation.dtypes:
        cases = [case for case in corpus(name) if case.dtype == dtype]
        assert 4 <= len(cases) <= 30
        assert len(set(cases)) == len(cases)
        for case in cases:
            operation.check(case)
        for tensor in operation.tensors:
            if operation.forms(cases[0])[tensor].values is None:  # nothing is drawn of those that the dims fix
                assert set(operation.regimes(dtype, tensor)) <= {case.spec(tensor).regime for case in cases}
    words = {word for case in corpus(name) for spec in case.tensors.values() for word in parse(spec.layout)}
    assert {"sliced", "offset", "padded", "transposed", "expanded"} <= words


def test_together_they_are_a_few_thousand_in_a_few_hundred_kilobytes() -> None:
    assert 2000 <= sum(len(corpus(name)) for name in OPERATIONS) <= 4000
    files = Path(__file__).resolve().parents[2].glob("golden/corpus/*.jsonl")
    assert sum(file.stat().st_size for file in files) < 700_000


KERNELS = '''"""One that is right, and one that forgets the sign of one input in a thousand."""
import torch
from kernels import implementation

@implementation("relu", paradigm="torch")
def right(x):
    return torch.relu(x).contiguous()

@implementation("relu", paradigm="torch")
def wrong_where_large(x):
    return torch.where(x > 1e30, x / 2, torch.relu(x)) if x.dtype == torch.float32 else torch.relu(x).contiguous()
'''


def test_every_frozen_case_is_run_also_after_a_failure(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(KERNELS)
    chosen = ("--kernels", file, "--implementation", "relu/torch/right,relu/torch/wrong_where_large")
    ended = run_pytest("--corpus", *chosen, "--platform", "cpu", bundle=tmp_path / "bundle")
    frozen = [case.line for case in corpus("relu")]
    for name in ("right", "wrong_where_large"):
        assert [record.case for record in ended.records if record.implementation.endswith(name)] == frozen
    failed = [record for record in ended.records if record.verdict == "wrong"]
    assert ended.status == 1
    assert {record.implementation for record in failed} == {"relu/torch/wrong_where_large"}
    assert f"{len(failed)} of {len(frozen)} cases fail" in ended.text
    assert f"portolan: corpus {version()}" in ended.text
    assert f'"corpus": "{version()}"' in (tmp_path / "bundle" / "environment.json").read_text()


def test_an_operation_without_a_corpus_is_not_passed(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from kernels.elementwise import Elementwise\n"
        "from kernels import implementation\n"
        "class Same(Elementwise):\n"
        "    name = 'same'\n"
        "    def reference(self, x): return x\n"
        "@implementation('same', paradigm='torch')\n"
        "def same(x): return x.clone()\n"
    )
    chosen = ("--kernels", file, "--operation", "same", "--platform", "cpu", "-rs")
    ended = run_pytest("--corpus", *chosen, bundle=tmp_path / "bundle")
    assert "there are no such cases of same" in ended.text
    assert ended.status == 1
    assert "nothing was executed" in ended.text


def test_one_case_and_the_corpus_are_not_asked_for_together(tmp_path: Path) -> None:
    line = corpus("relu")[0].line
    ended = run_pytest("--corpus", "--case", line, bundle=tmp_path / "bundle")
    assert ended.status == 4
    assert "--case asks for one case and --corpus for the frozen ones" in ended.text
