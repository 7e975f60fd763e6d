"""Does a session know which machine it is on when pytest-xdist runs it on several?"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from platforms.probe import Probe
from reports.bundle import read
from suites.session import Session


def session(bundle: Path, *, dist: str = "no", **workerinput: Any) -> Session:
    """Return a session of a configuration that knows little else; with ``workerinput`` it is a worker's."""
    known = {"bundle": str(bundle), "dist": dist, "kernels": [], "gateway": []}
    config = SimpleNamespace(
        getoption=lambda name, default=False: known.get(name, default),
        invocation_params=SimpleNamespace(args=[]),
        **({"workerinput": workerinput} if workerinput else {}),
    )
    made = Session(cast(pytest.Config, config))
    made.probe = Probe()
    return made


def test_with_dist_each_every_machine_leaves_a_bundle_under_its_own_name(tmp_path: Path) -> None:
    controller = session(tmp_path, dist="each")
    assert controller.each
    hosts = []
    for name in ("here", "far"):
        worker = session(tmp_path / "each", portolan=controller.for_worker(name), workerid=name)
        assert (worker.each, worker.bundle.directory) == (False, tmp_path / "each" / name)
        hosts.append(read(worker.bundle.directory).environment["host"])
    host = hosts[0].removesuffix("-here")
    assert hosts == [f"{host}-here", f"{host}-far"]
