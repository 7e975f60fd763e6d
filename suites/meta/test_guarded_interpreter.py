"""Does the guarded interpreter compute what it should, find what breaks a rule, and leave alone what does not?

The checks are in :mod:`suites.meta.guarded_kernels`. They run in one process that has the interpreter on, and each of
them is a test here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from platforms import guarded_interpreter
from platforms.interpreter_guard.conflicts import Ledger
from platforms.interpreter_guard.spans import Spans
from suites.meta import guarded_kernels

torch = pytest.importorskip("torch")

_ROOT = Path(__file__).parents[2]


def _python(*arguments: str, interpret: str | None = "1") -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    if interpret is not None:
        environment["TRITON_INTERPRET"] = interpret
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=_ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def troubles() -> dict[str, str]:
    """What went wrong in each check that ran to its end, by name."""
    done = _python("-m", "suites.meta.guarded_kernels")
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert done.returncode == 0, done.stderr[-2000:]
    return {line["check"]: line["trouble"] for line in lines}


@pytest.mark.parametrize("name", guarded_kernels.names())
def test_kernel(name: str, troubles: dict[str, str]) -> None:
    assert troubles[name] == "", troubles[name]


def test_every_topic_has_checks() -> None:
    assert {name.partition(".")[0] for name in guarded_kernels.names()} == set(guarded_kernels.TOPICS)
    assert len(guarded_kernels.names()) >= 50


def _says(code: str, interpret: str | None) -> str:
    """Run ``code`` and return the last line of its output; what it raises, it must catch."""
    done = _python("-c", textwrap.dedent(code), interpret=interpret)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip().splitlines()[-1]


def test_without_the_interpreter_it_refuses_and_imports_nothing() -> None:
    code = """
        import sys
        from platforms import guarded_interpreter
        try:
            guarded_interpreter.install()
        except RuntimeError as error:
            print("triton" in sys.modules, "torch" in sys.modules, error)
    """
    for interpret in (None, "0", ""):
        said = _says(code, interpret)
        assert said.startswith("False False the interpreter is not on: set TRITON_INTERPRET=1"), said


def test_an_interpreter_that_is_turned_on_too_late_is_refused() -> None:
    code = """
        import os, triton
        os.environ["TRITON_INTERPRET"] = "1"
        from platforms import guarded_interpreter
        try:
            guarded_interpreter.install()
        except RuntimeError as error:
            print(error)
    """
    assert _says(code, None).startswith("triton was imported before the interpreter was turned on")


def test_a_version_that_lacks_something_is_reported_and_refuses_to_run(tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.py"
    kernel.write_text("import triton\nimport triton.language as tl\n\n@triton.jit\ndef nothing(x):\n    tl.load(x)\n")
    code = f"""
        import sys, torch, triton
        from triton.runtime import interpreter
        del interpreter.InterpreterBuilder.create_dot
        triton.__version__ = "4.1.0"
        from platforms import guarded_interpreter
        report = guarded_interpreter.install()
        assert report.missing == ("InterpreterBuilder.create_dot",), report
        assert not report.known, report
        sys.path.insert(0, {str(tmp_path)!r})
        from kernel import nothing
        try:
            nothing[(1,)](torch.zeros(1))
        except RuntimeError as error:
            print(error)
    """
    expected = "this version of Triton cannot be guarded; it lacks InterpreterBuilder.create_dot"
    assert _says(code, "1") == expected


def test_an_interpreter_built_otherwise_is_reported() -> None:
    code = """
        import triton
        from triton.runtime import interpreter
        del interpreter.ReduceOps
        triton.__version__ = "4.1.0"
        from platforms import guarded_interpreter
        guarded_interpreter.install(order="reversed")
        print(guarded_interpreter.install().problem)
    """
    said = _says(code, "1")
    assert said.startswith("Triton version 4.1.0: not guarded, it lacks")
    assert "ReduceOps" in said


@pytest.mark.parametrize(
    ("version", "known"),
    [
        *((version, True) for version in ("3.6.0", "3.7.1", "3.8.0+git1234", "3.9.0")),
        *((version, False) for version in ("3.5.1", "3.10.0", "3.60.0", "2.6.0", "4.6.0", "")),
    ],
)
def test_known_versions(version: str, known: bool) -> None:
    assert guarded_interpreter.known_version(version) is known


def test_a_report_says_what_is_the_matter() -> None:
    def problem(known: bool, *missing: str) -> str:
        return guarded_interpreter.Report("9.9.9", known, ("a",), missing).problem

    assert problem(True) == ""
    assert problem(False) == "unknown Triton version 9.9.9: not guarded"
    assert problem(True, "b", "c") == "Triton version 9.9.9: not guarded, it lacks b, c"


def test_an_error_is_recognised_by_its_causes() -> None:
    def wrapped(inner: BaseException) -> BaseException:
        outer = ValueError(repr(inner))
        outer.__cause__ = RuntimeError("in between")
        outer.__cause__.__cause__ = inner
        return outer

    assert guarded_interpreter.classify(wrapped(guarded_interpreter.OutOfBounds())) == "out of bounds"
    assert guarded_interpreter.classify(wrapped(guarded_interpreter.Conflict())) == "conflict"
    assert guarded_interpreter.classify(wrapped(IndexError())) is None
    assert guarded_interpreter.classify(guarded_interpreter.Conflict()) == "conflict"
    unrelated = ValueError()
    unrelated.__context__ = guarded_interpreter.OutOfBounds()
    assert guarded_interpreter.classify(unrelated) is None


def test_choosing_an_order_needs_an_installed_guard() -> None:
    with pytest.raises(RuntimeError, match=r"install\(\)"):
        guarded_interpreter.set_order("forward")


def test_watching_a_launch_costs_less_than_interpreting_it() -> None:
    """An interpreted program takes hundreds of microseconds for each of its accesses."""
    tensor = torch.zeros(1 << 16)
    spans, ledger = Spans([("x", tensor)]), Ledger()
    lanes = np.arange(1024, dtype=np.uint64) * 4 + tensor.data_ptr()
    started = time.process_time()
    for program in range(512):
        ledger.begin((program, 0, 0))
        for area, inside in spans.locate("load", lanes + (program % 64) * 4096, 4, program):
            ledger.load(area, inside, 4)
    assert (time.process_time() - started) / 512 < 500e-6
    assert ledger.error() is None
