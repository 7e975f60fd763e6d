"""Is a drift given the cause that was planted, and no cause where none of them is the right one?"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from golden.case import Case, TensorSpec
from golden.causes import causes, together
from golden.dtypes import encode
from golden.emulation import AS_PROMISED, Emulation, MatrixUnit, Rounding, Sums, TooLongError
from golden.explanation import DOUBT
from golden.inputs import make_inputs
from kernels.registry import load
from suites.causes import explained
from suites.explain import main
from suites.goldens import compute
from suites.meta.cli import MUTANTS, ROOT
from suites.meta.planted import Plant, plants

OPERATIONS = load().operations
GEMM = OPERATIONS["gemm"]


@pytest.mark.parametrize("plant", list(plants()), ids=lambda plant: plant.kind)
def test_the_planted_cause_is_named_and_none_where_there_is_none(plant: Plant) -> None:
    operation = OPERATIONS[plant.case.operation]
    found = explained(operation, plant.case, plant.outputs(operation))
    assert plant.right(found), found.sentence
    for trial in found.found:
        assert trial.verdict.passes
        assert trial.gain > -math.log(DOUBT)


def test_what_passes_by_luck_is_no_cause_where_another_is_nearer_and_not_the_whole_cause() -> None:
    """Ties away, of these inputs, hide the bias of a unit that truncates; to nearest even is nearer all the same."""
    (plant,) = (one for one in plants(2) if "rounded, on a unit that aligns" in one.kind and one.case.seed == 1)
    found = explained(GEMM, plant.case, plant.outputs(GEMM))
    assert found.name == " and ".join(plant.expected)


def test_causes_are_tried_where_no_report_can_be_made() -> None:
    """A machine that only runs kernels has none of what reports of many bundles need."""
    code = "import sys, suites.explain; print(sys.modules.keys() & {'duckdb', 'tabulate'})"
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "{'tabulate'}"


def test_one_element_is_no_evidence() -> None:
    """An element that some rounding or other would make by chance is explained by none of them."""
    case = Case("gemm", "float32", {"m": 1, "n": 1, "k": 1})
    inputs = make_inputs(case, GEMM.forms(case))
    cut = [Rounding("tf32", "truncated")(x.astype(np.float64)) for x in inputs.values()]
    assert explained(GEMM, case, [encode(cut[0] @ cut[1], "float32")]).sentence == "unexplained"


def test_a_right_output_has_nothing_to_explain() -> None:
    case = Case("gemm", "float32", {"m": 8, "n": 8, "k": 8})
    nominal = compute(GEMM, case, GEMM.precision("float32"))["out"].nominal
    found = explained(GEMM, case, [nominal])
    assert (found.before.status, found.equal, found.found) == ("exact", 1.0, ())


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("how", [{"bits": 11, "dtype": "float16"}, {"bits": 24, "mode": "truncated"}, {"bits": 14}])
def test_followed_sums_are_those_of_plain_loops(dtype: str, how: dict[str, object]) -> None:
    sums, rng = Sums(**how), np.random.default_rng(0)  # type: ignore[arg-type]
    a, b = (encode(rng.standard_normal(shape), dtype).astype(np.float64) for shape in ((3, 20), (20, 2)))
    rounding = sums._rounded
    for row in range(3):
        for column in range(2):
            state = np.zeros(())
            for k in range(20):
                state = rounding(np.asarray(state + a[row, k] * b[k, column]))
            assert sums.products(a, b)[row, column] == state
            assert sums.total(a[row] * b[:, column], 0)[0] == state
            assert sums.running(a[row] * b[:, column], 0, reverse=False)[-1] == state


def test_a_matrix_unit_cuts_its_terms_below_the_largest() -> None:
    """What Hopper's does with float16: 2**-25 beside 1 is the last bit that counts, and the sum is cut to 24 bits."""
    ones = np.ones((4, 1))
    unit = MatrixUnit(4, 26)
    for terms, total in (
        ([1.0, 2.0**-25, 0.0, -1.0], 2.0**-25),
        ([1.0, 2.0**-26, 2.0**-26, -1.0], 0.0),
        ([1.0, 2.0**-24, 2.0**-25, 0.0], 1.0),
        ([1.0, 2.0**-24, 2.0**-24, 0.0], 1 + 2.0**-23),
        ([-1.0, -(2.0**-24), 0.0, 0.0], -1.0),
    ):
        assert unit.products(np.array([terms]), ones)[0, 0] == total
    # Factors are lined up by their own exponents: 1.5 * 1.5 counts as less than 2.
    left, right = np.array([[1.5, 2.0**-25, -1.5]]), np.array([[1.5], [1.0], [1.5]])
    assert unit.products(left, right)[0, 0] == 2.0**-25


def test_more_additions_than_can_be_followed_are_refused() -> None:
    with pytest.raises(TooLongError, match="too many"):
        Sums(24).total(np.broadcast_to(1.0, (2**26,)), 0)


def test_causes_of_one_step_do_not_combine() -> None:
    known = {cause.name: cause for cause in causes("float32", ["float32"])}
    cut, rounded = (known[f"operands of matrix products {how} to tf32"] for how in ("cut", "rounded"))
    assert together([cut, rounded]) is None
    both = together([cut, known["sums in float32, term by term"]])
    assert both == AS_PROMISED._replace(operands=Rounding("tf32", "truncated"), sums=Sums(24))
    assert len(known) == len(causes("float32", ["float32"]))
    assert Emulation() == AS_PROMISED


def test_the_command_shows_what_was_tried(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    specs = {name: TensorSpec() for name in "ab"}
    case = Case("gemm", "float32", {"m": 16, "n": 16, "k": 64}, tensors=specs)
    chosen = ["--case", case.line, "--platform", "cpu", "--kernels", str(MUTANTS)]
    assert main([*chosen, "--implementation", "gemm/torch/wrong_tf32_undeclared"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith("explained by: operands of matrix products cut to tf32")
    assert main([*chosen, "--implementation", "gemm/torch/wrong_tf32_undeclared", "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["case"] == case.line
    assert value["cause"].startswith("operands of matrix products cut to tf32")
    assert value["nearest"] == value["cause"]
    assert value["share"] > 1 > value["after"]
    assert main([*chosen, "--implementation", "gemm/torch/wrong_tf32_undeclared", "--into", str(tmp_path)]) == 0
    written = tmp_path / "cpu-gemm-torch-wrong_tf32_undeclared-float32-16x16x64.json"
    assert json.loads(written.read_text()) == value
    written.write_text(json.dumps({**value, "cause": "another"}))
    elsewhere = tmp_path / "nowhere.json"
    elsewhere.write_text(json.dumps({**value, "platform": "nowhere"}))
    assert main(["--again", str(tmp_path), "--platform", "cpu", "--kernels", str(MUTANTS)]) == 0
    assert json.loads(written.read_text()) == value
    assert json.loads(elsewhere.read_text())["platform"] == "nowhere"
    assert main([*chosen, "--implementation", "gemm/torch/no_such"]) == 2
    assert "no_such" in capsys.readouterr().err
