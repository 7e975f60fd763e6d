"""One session over this machine: what is there, what was asked for, and where it is recorded.

With pytest-xdist the controller finds the platforms and makes the bundle, once; its workers are told, and each has
platform workers of its own. With ``--dist each`` a worker is a session like any other, on a machine of its own.
"""

from __future__ import annotations

import functools
import json
import shlex
import shutil
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from golden.case import Case, CaseError
from golden.frozen import FrozenError, corpus, version
from kernels.registry import Catalogue, Implementation, KernelFileError, load
from platforms.connection import GatewayError
from platforms.detect import Detection, DetectionError, detect, sanitized
from platforms.gateway import Gateway, Machine, reach
from platforms.gather import probe
from platforms.outside import PlatformFileError, announce
from platforms.platform import Platform
from platforms.pool import Pool
from platforms.probe import Probe
from platforms.profile.kept import kept
from reports.bundle import Bundle, BundleError, default_directory, read
from reports.places import GATEWAY
from suites import brief
from suites.causes import Effort
from suites.environment import environment
from suites.inquiry import RECOMPUTED
from suites.options import DEPTHS, ROOT, numbers_of_ranks
from suites.run import Run
from suites.subject import Selection, SelectionError, Subject, collectives, lacking, rivals_of, select, selected

LOST = "lost "
"""What the keys of a bundle's environment begin with that say why a place was lost; its name follows."""

_WRONG_USE = (
    CaseError,
    FrozenError,
    KernelFileError,
    DetectionError,
    BundleError,
    SelectionError,
    GatewayError,
    PlatformFileError,
)


class Session:
    """What the conftest asks for, each part made when it is first needed.

    Every fault in what the user gave (a case line, a kernel file, a selection, a bundle folder) becomes a
    ``pytest.UsageError`` with the one message.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        told = getattr(config, "workerinput", {}).get("portolan", {})
        self._alone: str = told.get("alone", "")
        self._told: Mapping[str, Any] = {} if self._alone else told
        self._pool: Pool | None = None
        self._bundle: Bundle | None = None
        self._workers = 0

    @functools.cached_property
    def catalogue(self) -> Catalogue:
        """Every operation and implementation, those of ``--kernels`` included."""
        return _user_error(lambda: load(self.kernel_paths))

    @property
    def kernel_paths(self) -> list[Path]:
        return [Path(path).resolve() for path in self.config.getoption("kernels")]

    @property
    def replay_options(self) -> str:
        """What a replay command needs beside the case: this run's kernels, what watches them, and other places."""
        given = {"kernels": self.config.getoption("kernels"), "gateway": [one.spec for one in self.gateways]}
        words = [f"--{option}={shlex.quote(value)}" for option, values in given.items() for value in values]
        return " ".join([*words, *(["--sanitize"] if self.config.getoption("sanitize") else [])])

    @functools.cached_property
    def probe(self) -> Probe:
        """What was found on this machine; a worker of pytest-xdist is told by its controller."""
        return Probe.from_json(self._told["probe"]) if self._told else probe()

    @functools.cached_property
    def gateways(self) -> list[Gateway]:
        """The other places that were asked for."""
        texts = enumerate(self.config.getoption("gateway"), start=1)
        found = _user_error(lambda: [Gateway.parse(text, number) for number, text in texts])
        for one in found:
            if sum(one.name == other.name for other in found) > 1:
                raise pytest.UsageError(f"several gateways are called {one.name}: give each an //id= of its own")
        return found

    @functools.cached_property
    def machines(self) -> list[Machine]:
        """What is behind the gateways; a worker of pytest-xdist is told by its controller."""
        if self._told:
            known = json.loads(self._told["machines"])
            return [Machine(gateway, *pair) for gateway, pair in zip(self.gateways, known, strict=True)]
        if not self.gateways:
            return []
        with ThreadPoolExecutor(len(self.gateways)) as together:
            return _user_error(lambda: list(together.map(lambda one: reach(one, self.kernel_paths), self.gateways)))

    @functools.cached_property
    def detection(self) -> Detection:
        """The platforms here and behind gateways; devices of one kind are spread over the workers of pytest-xdist."""
        detection = _user_error(self._detected)
        if self.config.getoption("sanitize"):
            detection = sanitized(detection)
        index = int(self._told.get("index", 0))
        return replace(detection, found=[platform.for_worker(index) for platform in detection.found])

    def _detected(self) -> Detection:
        announce(self.config.getoption("platform_files"))
        asked = self.selection.platforms
        chosen = asked[0].partition("@")[0] if len(asked) == 1 else None
        several = [detect(self.probe, chosen=chosen), *(machine.detection(chosen) for machine in self.machines)]
        return Detection(
            [one for each in several for one in each.found], [one for each in several for one in each.absent]
        )

    @functools.cached_property
    def selection(self) -> Selection:
        """What was asked for on the command line."""
        kinds = ("platform", "operation", "paradigm", "implementation")
        return Selection.of(*(self.config.getoption(f"{kind}s") for kind in kinds))

    @functools.cached_property
    def implementations(self) -> list[Implementation]:
        """What was asked for, wherever it can be run."""
        return _user_error(lambda: selected(self.catalogue, self.selection))

    @functools.cached_property
    def case(self) -> Case | None:
        """The one case of ``--case``, or None."""
        line = self.config.getoption("case")
        return _user_error(lambda: self._parse(line)) if line else None

    def cases(self, operation: str) -> list[Case] | None:
        """Return the cases of ``operation`` that were asked for, by ``--case`` or ``--corpus``; None to draw some."""
        if self.case:
            return [self.case]
        return _user_error(lambda: corpus(operation)) if self.config.getoption("corpus") else None

    def _parse(self, line: str) -> Case:
        case = Case.parse(line)  # before the kernels, which take a while, are imported
        spread = self.catalogue.collectives.operations if self.catalogue.collectives else {}
        every = {**self.catalogue.operations, **spread}
        operation = every.get(case.operation)
        if operation is None:
            known = ", ".join(sorted(every))
            raise CaseError(f"unknown operation {case.operation!r} in the case; there are {known}")
        operation.check(case)
        return case

    @functools.cached_property
    def _selected(self) -> tuple[list[Subject], list[tuple[str, str]]]:
        subjects, unrun = _user_error(lambda: select(self.catalogue, self.detection, self.selection))
        if self.case:
            subjects = [subject for subject in subjects if subject.operation.name == self.case.operation]
        if not subjects and not self.collectives:
            reasons = "".join(f"\n  {what}: {why}" for what, why in [*unrun, *self._collectives[1]])
            raise pytest.UsageError(f"nothing that was asked for can be run here{reasons}")
        return subjects, unrun

    @functools.cached_property
    def _collectives(self) -> tuple[list[Subject], list[tuple[str, str]]]:
        try:
            numbers = numbers_of_ranks(self.config.getoption("ranks"))
        except ValueError as error:
            raise pytest.UsageError(str(error)) from None
        subjects, unrun = _user_error(lambda: collectives(self.catalogue, self.detection, self.selection, numbers))
        if self.case:
            # Over as many ranks as the case says, whatever other cases are drawn for.
            ranks = self.case.dims.get("ranks")
            numbers = (ranks,) if isinstance(ranks, int) and ranks else ()
            subjects, unrun = collectives(self.catalogue, self.detection, self.selection, numbers)
            subjects = [subject for subject in subjects if subject.operation.name == self.case.operation]
        return subjects, unrun

    @property
    def brief(self) -> bool:
        """Whether contracts and agreement are asked for where that takes little alone."""
        return bool(self.config.getoption("brief"))

    @property
    def held(self) -> list[Subject]:
        """What is held to contracts."""
        return brief.held(self.subjects) if self.brief else self.subjects

    @property
    def rivals(self) -> dict[str, list[Subject]]:
        """What is held against each other, by operation."""
        return rivals_of(brief.answering(self.subjects) if self.brief else self.subjects)

    @property
    def collectives(self) -> list[Subject]:
        """Every implementation of an operation over ranks that was asked for, over each number of ranks."""
        return self._collectives[0]

    @property
    def subjects(self) -> list[Subject]:
        """Every implementation on every platform that was asked for and can run it."""
        return self._selected[0]

    @property
    def unrun(self) -> list[tuple[str, str]]:
        """What was asked for and cannot be run, with the reason."""
        unasked = brief.left_out(self.subjects) if self.brief else []
        return [*self._selected[1], *(self._collectives[1] if self._ranks_concerned else []), *unasked]

    @property
    def _ranks_concerned(self) -> bool:
        return bool(self._collectives[0])

    @property
    def lacking(self) -> list[Subject]:
        """What was asked for and is left out because a platform lacks what it needs."""
        return lacking(self.catalogue, self.detection, self.selection)

    @functools.cached_property
    def run(self) -> Run:
        """The run that the suites go through."""
        self._pool = Pool(
            kernels=self.kernel_paths,
            time_limit=self.config.getoption("time_limit"),
            in_process=self.config.getoption("in_process"),
        )
        if self._told:
            self._bundle = Bundle.join(Path(self._told["bundle"]))
        return Run(
            pool=self._pool,
            bundle=self.bundle,
            replay_options=self.replay_options,
            profile=self._profile_of(self._pool),
            effort=Effort(RECOMPUTED * self.effort),
        )

    @property
    def effort(self) -> float:
        """How many times as long as usual causes are looked for."""
        return float(self.config.getoption("effort"))

    def _profile_of(self, pool: Pool) -> Callable[[Platform], dict[str, Any] | None]:
        """Return what finds a platform's profile: all of it where much is searched, none anew for a single case."""
        measure = not (self.case or self.config.getoption("in_process"))
        profile = functools.partial(kept, pool, extent=self.extent, measure=measure)
        # How ranks compute is how their platform does.
        return lambda platform: None if platform.spread else profile(platform)

    @property
    def extent(self) -> str:
        """How much is asked of how platforms compute, a key of :data:`platforms.profile.questions.EXTENTS`."""
        return "full" if settings().max_examples >= DEPTHS["standard"] else "brief"

    @property
    def bundle(self) -> Bundle:
        """The bundle of this run; made here, or joined by a worker of pytest-xdist."""
        if self._bundle is None:
            self._bundle = _user_error(self._new_bundle)
        return self._bundle

    def _new_bundle(self) -> Bundle:
        asked = self.config.getoption("bundle")
        directory = Path(asked) / self._alone if asked else default_directory(ROOT)
        facts = {**environment(self.config, self.probe), "replay": self.replay_options}
        if self._alone:
            facts["host"] = f"{facts['host']}-{self._alone}"
        facts |= {f"{GATEWAY}{one.gateway.name}": {"spec": one.gateway.spec, **one.found} for one in self.machines}
        if self.config.getoption("corpus"):
            facts["corpus"] = version()
        return Bundle.create(directory, facts)

    def check_use(self) -> None:
        """Raise UsageError for anything that was asked for and cannot be.

        A session of other tests alone, named on the command line and with none of our options, need not know.
        """
        option = self.config.getoption
        if option("case") and option("corpus"):
            raise pytest.UsageError("--case asks for one case and --corpus for the frozen ones: give one of the two")
        here = [f"--{name}" for name in ("in-process", "sanitize") if option(name.replace("-", "_"))]
        if here and self.gateways:
            raise pytest.UsageError(f"{here[0]} is for this machine and --gateway for others: give one of the two")
        asked = (*map(option, ("case", "corpus", "kernels", "bundle", "gateway")), *vars(self.selection).values())
        all_suites = self.config.args_source is pytest.Config.ArgsSource.TESTPATHS
        if not self._told and not self.each and (all_suites or any(asked)):
            _ = self.case, self.subjects
            if option("bundle") and not option("collectonly"):
                _ = self.bundle

    @property
    def lost(self) -> list[tuple[str, str]]:
        """The places that were lost on the way, with the reason."""
        environment = read(self.bundle.directory).environment
        return [(key.removeprefix(LOST), value) for key, value in environment.items() if key.startswith(LOST)]

    @property
    def each(self) -> bool:
        """Whether this is the controller of sessions that run everything, each on a machine of its own."""
        return self.config.getoption("dist", "no") == "each" and not hasattr(self.config, "workerinput")

    def for_worker(self, name: str) -> dict[str, str]:
        """Return what the worker of pytest-xdist that is called ``name`` must be told."""
        if self.each:
            return {"alone": name}
        self._workers += 1
        _ = self.subjects  # a wrong selection is one error here, not one in every worker
        return {
            "index": str(self._workers - 1),
            "probe": self.probe.to_json(),
            "machines": json.dumps([(one.root, one.found) for one in self.machines]),
            "bundle": str(self.bundle.directory.resolve()),
        }

    def end_workers(self) -> None:
        """End the platform workers, and have on disk what they returned, and which places were lost."""
        if self._pool:
            self._pool.close()
        if self._bundle:
            self._bundle.flush()
        lost = self._pool.lost if self._pool else {}
        for gateway in self.gateways:
            if gateway.spec in lost:
                self.bundle.update_environment(f"{LOST}{gateway.name}", lost[gateway.spec])

    def close(self, *, ran: bool, found: bool) -> None:
        """Seal the bundle; one in which nothing was ran or found is not left lying about, unless it was asked for."""
        if not self._bundle or self._told:
            return
        if ran:
            self._bundle.update_environment("unrun", [list(pair) for pair in [*self.unrun, *self.lost]])
        self._bundle.seal()
        if not (ran or found or self.config.getoption("bundle")):
            shutil.rmtree(self._bundle.directory, ignore_errors=True)


def _user_error(make: Any) -> Any:
    try:
        return make()
    except _WRONG_USE as error:
        raise pytest.UsageError(str(error)) from None
