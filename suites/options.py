"""The command line that Portolan adds to pytest, and the depths at which it searches.

A pytest plugin: ``python -m pytest`` loads it early, by the entry point in ``portolan-0.dist-info``, so that it knows
which options take a path before it looks for a conftest. Where that is not so, the conftest loads it.
"""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path

import suites.needed  # noqa: F401 - tells what is missing, before anything that misses it is imported

# isort: split
import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
"""The repository."""

_CONFIGURATION = ROOT / "pyproject.toml"

DEPTHS = {"smoke": 3, "quick": 20, "standard": 100, "deep": 2000}
"""Cases for each implementation on each platform, by the name of the Hypothesis profile."""

ON_REQUEST = ("suites/large", "suites/test_carryover.py", "suites/test_portability.py")
"""Suites that an ordinary run leaves out: gigabytes of tensors, timings that want the machine alone, long compiling."""


RANKS = "2,3,4,8"
"""Over how many ranks collectives are run: powers of two, of which trees are made, and one that is none."""


def numbers_of_ranks(text: str) -> tuple[int, ...]:
    """Return the numbers that ``--ranks`` names; raises ValueError for anything else."""
    try:
        numbers = tuple(int(one) for one in text.split(","))
    except ValueError:
        numbers = ()
    if not numbers or min(numbers) < 1:
        raise ValueError(f"--ranks takes numbers of 1 or more, as {RANKS}, not {text!r}")
    return tuple(dict.fromkeys(numbers))


def _factor(text: str) -> float:
    """Return what ``--effort`` says; raises ValueError for what is no number of 0 or more."""
    number = float(text)
    if not 0 <= number < math.inf:
        raise ValueError
    return number


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register every option; pytest shows them under ``--help``."""
    group = parser.getgroup("portolan", "what is tested, where, and how it is recorded")
    for kind, example in (
        ("platform", "nvidia"),
        ("operation", "softmax"),
        ("paradigm", "triton"),
        ("implementation", "gemm/triton/*"),
    ):
        group.addoption(
            f"--{kind}",
            dest=f"{kind}s",
            action="append",
            default=[],
            metavar="PATTERN",
            help=f"only these {kind}s, such as {example}; repeat it or separate by commas; patterns as in a shell",
        )
    group.addoption("--case", metavar="LINE", help="replay this one case, a line of JSON as a failure prints it")
    group.addoption(
        "--corpus",
        action="store_true",
        help="run the frozen cases of golden/corpus instead of drawn ones, the same on every machine",
    )
    group.addoption(
        "--kernels",
        action="append",
        default=[],
        metavar="PATH",
        help="also test the implementations (and operations) in this file or folder; repeatable",
    )
    group.addoption(
        "--platforms",
        dest="platform_files",
        action="append",
        default=[],
        metavar="PATH",
        help="also the platforms that this file finds, which looks like those in platforms/; repeatable",
    )
    group.addoption(
        "--sanitize",
        action="store_true",
        help="have a sanitizer watch the kernels, on the platforms that have one; slower, and without guard bands",
    )
    group.addoption(
        "--gateway",
        action="append",
        default=[],
        metavar="SPEC",
        help="also test in another place: execnet's syntax, such as ssh=host//python=/opt/venv/bin/python; repeatable",
    )
    group.addoption(
        "--ranks",
        default=RANKS,
        metavar="NUMBERS",
        help=f"over how many ranks collectives are run, by commas, as far as there are devices (default: {RANKS})",
    )
    group.addoption(
        "--brief",
        action="store_true",
        help="ask for contracts and agreement where neither builds much nor repeats itself; all is judged all the same",
    )
    group.addoption(
        "--timed",
        action="store_true",
        help="at the end, when nothing else runs, time each optimization beside what it optimizes",
    )
    group.addoption(
        "--effort",
        type=_factor,
        default=1.0,
        metavar="FACTOR",
        help="how many times as long as usual causes of what fails or differs are looked for (default: 1)",
    )
    group.addoption("--bundle", metavar="DIR", help="where the run's records go (default: a new folder in reports/out)")
    group.addoption(
        "--time-limit",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="how long one case may take, five times as long for an implementation's first (default: 60)",
    )
    group.addoption(
        "--in-process", action="store_true", help="run kernels inside pytest, for a debugger: a crash ends everything"
    )


def pytest_cmdline_main(config: pytest.Config) -> None:
    """Start pytest again, told which configuration is ours, where a path among the options could mislead it.

    It looks for its configuration where the paths on its command line are, and learns only later that those of
    ``--kernels`` and ``--bundle`` are no test files. So do the workers of pytest-xdist, from the same arguments.
    """
    misleading = config.getoption("kernels") or config.getoption("bundle") or config.inipath != _CONFIGURATION
    if misleading and not config.getoption("inifilename") and not hasattr(config, "workerinput"):
        told = ["-c", str(_CONFIGURATION), "--rootdir", str(ROOT)]
        sys.stdout.flush()
        os.execv(sys.executable, [sys.executable, "-m", "pytest", *told, *config.invocation_params.args])


def register_depths() -> None:
    """Make the profiles known to Hypothesis' ``--hypothesis-profile`` and load ``quick``, the default.

    ``smoke`` and ``quick`` are derandomized: two runs, on any machines, test the same cases.
    """
    for name, examples in DEPTHS.items():
        same = name in ("smoke", "quick")
        settings.register_profile(name, max_examples=examples, deadline=None, derandomize=same)
    settings.load_profile("quick")
