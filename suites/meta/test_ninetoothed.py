"""Does NineToothed find in the interpreter what it asks of a device, and are wrong kernels in it caught?"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from suites.meta.cli import MUTANTS, ROOT, run_pytest

pytest.importorskip("triton", reason="Triton is not installed")

STAND_IN = """
from platforms import guarded_interpreter
guarded_interpreter.install()
from triton.runtime import driver, jit
properties = driver.active.utils.get_device_properties(driver.active.get_current_device())
print(sorted(properties), all(size >= 2**15 for size in properties.values()))
print(jit._normalize_ty("triton.language.constexpr"), jit._normalize_ty("tl.constexpr"), jit._normalize_ty("*fp32"))
try:
    driver.active.get_current_stream(0)
except AttributeError:
    print("no streams")
"""


def test_a_stand_in_answers_for_a_device_and_for_nothing_else() -> None:
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    ended = subprocess.run(
        [sys.executable, "-c", STAND_IN], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert ended.stdout.splitlines() == [
        "['max_num_regs', 'max_shared_mem'] True",
        "constexpr constexpr *fp32",
        "no streams",
    ]


@pytest.mark.skipif(
    importlib.util.find_spec("ninetoothed") is None,
    reason="NineToothed is not installed: python -m pip install -r requirements-ninetoothed.txt",
)
def test_right_kernels_pass_and_wrong_ones_are_caught(tmp_path: Path) -> None:
    case = '{"operation":"relu","dtype":"float32","dims":{"x":[3,67]},"tensors":{"x":{"regime":"nan"}},"seed":5}'
    chosen = ("--implementation", "relu/ninetoothed/*", "--platform", "interpreter")
    ended = run_pytest("--kernels", MUTANTS / "ninetoothed_kernels.py", "--case", case, *chosen, bundle=tmp_path / "b")
    assert {record.implementation: record.verdict for record in ended.records} == {
        "relu/ninetoothed/flat": "exact",
        "relu/ninetoothed/wrong_input_overwritten": "input changed",
        "relu/ninetoothed/wrong_last_unwritten": "unwritten",
        "relu/ninetoothed/wrong_nan_dropped": "wrong",
    }
