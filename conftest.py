"""The pytest side of Portolan: options, one test for each subject, one session's workers, and the summary at the end.

This file is a table of contents; what it names lives in ``suites/``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import suites.needed  # noqa: F401 - tells what is missing, before anything that misses it is imported

# isort: split
import pytest
from hypothesis import settings

from golden.frozen import version
from suites import agreement, conclusion, devices, numerics, options
from suites.carryover.fields import fields
from suites.closing import Closing
from suites.portability import audited
from suites.run import Run
from suites.session import Session
from suites.subject import Subject, facing, in_turn, residents_of

SESSION = pytest.StashKey[Session]()

options.register_depths()


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Add the options, unless pytest has loaded them as a plugin already."""
    if not pluginmanager.has_plugin("portolan"):
        options.pytest_addoption(parser)


def pytest_cmdline_main(config: pytest.Config) -> None:
    """Look to it that pytest uses our configuration, unless the plugin does."""
    if not config.pluginmanager.has_plugin("portolan"):
        options.pytest_cmdline_main(config)


def pytest_configure(config: pytest.Config) -> None:
    config.stash[SESSION] = Session(config)
    config.pluginmanager.register(Closing(config.stash[SESSION]), "portolan-closing")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: object) -> None:
    """Tell a worker of pytest-xdist what its controller found."""
    told = node.config.stash[SESSION].for_worker(node.gateway.id)  # type: ignore[attr-defined]
    node.workerinput["portolan"] = told  # type: ignore[attr-defined]


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Refuse wrong use before anything is collected, where pytest reports it in one line."""
    session.config.stash[SESSION].check_use()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what is run on request alone, unless it is named: what takes long, and whatever is timed."""
    named = [argument.replace("\\", "/") for argument in config.args]
    on_request = (Path(__file__).parent / one for one in options.ON_REQUEST if not any(one in name for name in named))
    return True if collection_path in on_request else None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test of each subject for every suite that asks for one, of each operation with several, or platform."""
    if "subject" in metafunc.fixturenames:
        subjects = metafunc.config.stash[SESSION].subjects
        metafunc.parametrize("subject", subjects, ids=[subject.id for subject in subjects])
    if "held" in metafunc.fixturenames:
        held = metafunc.config.stash[SESSION].held
        metafunc.parametrize("held", held, ids=[subject.id for subject in held])
    if "collective" in metafunc.fixturenames:
        collectives = metafunc.config.stash[SESSION].collectives
        metafunc.parametrize("collective", collectives, ids=[subject.id for subject in collectives])
    if "held_together" in metafunc.fixturenames:
        collectives = metafunc.config.stash[SESSION].collectives
        several = collectives if settings().max_examples > options.DEPTHS["smoke"] else in_turn(collectives)
        metafunc.parametrize("held_together", several, ids=[subject.id for subject in several])
    if "facing" in metafunc.fixturenames:
        places = facing(metafunc.config.stash[SESSION].collectives)
        metafunc.parametrize("facing", list(places.items()), ids=list(places))
    if "field" in metafunc.fixturenames:
        found = fields(metafunc.config.stash[SESSION].subjects, every=settings().max_examples > options.DEPTHS["quick"])
        metafunc.parametrize("field", found, ids=[field.id for field in found])
    if "rivals" in metafunc.fixturenames:
        rivals = metafunc.config.stash[SESSION].rivals
        metafunc.parametrize("rivals", list(rivals.values()), ids=list(rivals))
    if "profiled" in metafunc.fixturenames:
        platforms = {subject.platform.name: subject.platform for subject in metafunc.config.stash[SESSION].subjects}
        metafunc.parametrize("profiled", list(platforms.values()), ids=list(platforms))
    if "residents" in metafunc.fixturenames:
        residents = residents_of(metafunc.config.stash[SESSION].subjects)
        metafunc.parametrize("residents", list(residents.values()), ids=list(residents))


@pytest.fixture(scope="session")
def run(request: pytest.FixtureRequest) -> Run:
    """The run: platform workers, golden results, records."""
    return request.config.stash[SESSION].run


@pytest.fixture
def lacking(request: pytest.FixtureRequest) -> list[Subject]:
    """What was asked for and is left out because a platform lacks what it needs."""
    return request.config.stash[SESSION].lacking


@pytest.fixture
def conclude(
    run: Run, request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
) -> Callable[..., None]:
    """What a suite ends its test with: ``conclude(subject, suite="...")``."""
    session = request.config.stash[SESSION]
    return functools.partial(conclusion.conclude, run, asked=session.cases, note=record_property)


@pytest.fixture
def agree(
    run: Run, request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
) -> Callable[..., None]:
    """What holds subjects of one operation against each other: ``agree(subjects)``."""
    session = request.config.stash[SESSION]
    return functools.partial(agreement.conclude, run, asked=session.cases, note=record_property, effort=session.effort)


@pytest.fixture
def measure(run: Run, record_property: Callable[[str, object], None]) -> Callable[..., None]:
    """What holds a platform against what it declares of its numerics: ``measure(platform)``."""
    return functools.partial(numerics.conclude, run, note=record_property)


@pytest.fixture
def alike(
    run: Run, request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
) -> Callable[..., None]:
    """What holds the devices of a platform against each other: ``alike(subjects)``."""
    session = request.config.stash[SESSION]
    return functools.partial(devices.conclude, run, asked=session.cases, note=record_property)


@pytest.fixture
def portability(request: pytest.FixtureRequest) -> Callable[[], Any]:
    """What asks compilers of hardware that is not here, for all that was asked for: ``portability()``."""
    return functools.partial(audited, request.config.stash[SESSION])


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say which frozen cases are run, where they are."""
    return f"portolan: corpus {version()}" if config.getoption("corpus") else None


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Show the verdict, the worst error and the number of cases where pytest would say PASSED."""
    word = dict(getattr(report, "user_properties", ())).get("word")
    if word and report.when == "call":
        return report.outcome, {"passed": ".", "failed": "F"}.get(report.outcome, "s"), str(word)
    return None
