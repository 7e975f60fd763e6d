"""The end of a session: was everything that was asked for really executed, and the summary that a person reads."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from reports.agreement import render as agreement
from reports.bundle import read, read_heats
from reports.ladder.page import Page
from reports.record import Record, outcome
from reports.targets import render as targets
from reports.terminal import summary
from suites.carryover.afterwards import time_all
from suites.carryover.fields import fields
from suites.devices import whole
from suites.session import Session
from suites.subject import Selection


class Closing:
    """A pytest plugin; in a worker of pytest-xdist it only ends that worker's processes."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._subjects: set[str] = set()
        self._raced = False
        self._found = False
        self._idle: list[str] = []
        self._slow: list[str] = []

    @property
    def _is_controller(self) -> bool:
        return not hasattr(self._session.config, "workerinput") and not self._session.each

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Notice whether any subject was tested at all: a session of other tests has nothing to sum up.

        Nor is there anything to be shown where nothing was timed and no test left a fact in the bundle.
        """
        properties = dict(report.user_properties)
        if "subject" in properties:
            self._subjects.add(str(properties["subject"]))
        self._raced |= "heat" in properties
        self._found |= "fact" in properties

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a session in which something that was asked for executed nothing."""
        self._session.end_workers()
        if self._is_controller and self._subjects:
            self._idle = unexecuted(read(self._session.bundle.directory).records, self._session.selection)
            self._idle += [f"{reason}; its remaining cases were not run" for _, reason in self._session.lost]
            self._slow = self._timed(session)
            if (self._idle or self._slow) and session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _timed(self, session: pytest.Session) -> list[str]:
        """Time everything, if that was asked for and the tests came to their end; return what was wrong."""
        ended = session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        if not (ended and self._session.config.getoption("timed")):
            return []
        reporter = self._session.config.pluginmanager.get_plugin("terminalreporter")
        say = reporter.write_line if reporter else print
        say("\n")
        try:
            found = time_all(self._session.run, fields(self._session.subjects), say=say)
        finally:
            self._session.end_workers()
        self._raced = True
        return found

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table, the failures, what was not run and why, and what to do next; what timings came to."""
        if self._session.each:
            where = self._session.config.getoption("bundle") or "reports/out of each checkout"
            terminalreporter.write_line(
                f"each machine has left a bundle of its own, in {where}: python -m reports compare"
            )
            return
        directory = self._session.bundle.directory if self._subjects or self._found or self._raced else None
        if directory and (self._subjects or self._found):
            self._summed_up(terminalreporter, directory)
        if directory and self._raced:
            terminalreporter.section("which optimizations pay")
            terminalreporter.write_line(Page(read_heats(directory)).here())
            terminalreporter.write_line(f"\npython -m reports carryover --full {directory}")
        for line in self._slow:
            terminalreporter.write_line(line, red=True)

    def _summed_up(self, terminalreporter: pytest.TerminalReporter, directory: Path) -> None:
        width = min(max(shutil.get_terminal_size((120, 40)).columns, 80), 160)
        environment, records, _ = read(directory)
        text = self._subjects and summary(
            records,
            width=width,
            colour=terminalreporter.hasmarkup,
            unrun=self._session.unrun,
            where=f"python -m reports show --full {directory}",
            options=self._session.replay_options,
        )
        terminalreporter.section("Portolan")
        for part in (text, agreement(environment, width=width), targets(environment, width=width)):
            if part:
                terminalreporter.write_line(f"{part}\n")
        for line in self._idle:
            terminalreporter.write_line(f"FAILED: {line}", red=True)

    def pytest_unconfigure(self) -> None:
        self._session.close(ran=bool(self._subjects) or self._raced, found=self._found)


def unexecuted(records: Iterable[Record], selection: Selection) -> list[str]:
    """Return, a sentence each, which patterns of the selection executed nothing; something must have, in any case.

    What was executed and could not be judged, since its cases are vacuous, asserts as little.
    """
    executed = {(record.platform, record.implementation) for record in records if outcome(record) != "none"}
    if not executed:
        return ["nothing was executed"]
    kinds = (
        ("platform", selection.platforms, {name for platform, _ in executed for name in (platform, whole(platform))}),
        ("implementation", selection.implementations, {implementation for _, implementation in executed}),
    )
    return [
        f"--{kind} {pattern} was asked for and executed nothing"
        for kind, patterns, names in kinds
        for pattern in patterns
        if not any(fnmatchcase(name, pattern) for name in names)
    ]
