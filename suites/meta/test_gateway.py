"""Do workers in other places answer as those here do, and does a place that is lost cost nothing else?"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from golden.case import Case
from golden.inputs import make_inputs
from platforms import parcel
from platforms.connection import GatewayError
from platforms.gateway import Gateway, Machine, reach
from platforms.platform import Platform
from platforms.pool import PlaceLost, Pool
from reports.bundle import read
from suites.meta.cli import run_pytest
from suites.meta.processes import WITH_PROC
from suites.meta.sshd import NoServer, Server, served

CASE = Case.parse('{"operation":"relu","dtype":"float32","dims":{"x":[3,17]},"seed":5}')


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("popen", "gateway3"),
        ("popen//id=odd//env:A=b", "odd"),
        ("ssh=mlu-box", "mlu-box"),
        ("ssh=-p 22 me@10.0.0.7//python=/opt/bin/python", "10.0.0.7"),
    ],
)
def test_a_gateway_is_called_by_its_id_or_its_host_or_its_number(text: str, name: str) -> None:
    gateway = Gateway.parse(text, 3)
    assert (gateway.name, gateway.spec.endswith(f"//id={name}")) == (name, True)
    assert Gateway.parse(gateway.spec) == gateway


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("popen//pyton=x", "execnet has no pyton="),
        ("popen//popen", "is not in execnet's syntax: duplicate key"),
        ("python=/usr/bin/python3", "must say one of popen, ssh, vagrant_ssh"),
        ("popen//via=other", "no socket= or via="),
        ("popen//id=a@b", "would be called 'a@b'"),
    ],
)
def test_what_is_no_gateway_is_one_clear_error(text: str, said: str) -> None:
    with pytest.raises(GatewayError, match=said):
        Gateway.parse(text)


def test_kernels_are_sent_with_the_sources_beside_them(tmp_path: Path) -> None:
    for name in ("mine.py", "mine.cu", "other.py"):
        (tmp_path / name).write_text(name)
    archive = parcel.pack([tmp_path / "mine.py"])
    assert archive == parcel.pack([tmp_path / "mine.py"])
    names = zipfile.ZipFile(BytesIO(archive)).namelist()
    assert [name for name in names if name.startswith("given/")] == ["given/0/mine.cu", "given/0/mine.py"]
    assert "platforms/worker.py" in names
    assert not [name for name in names if "__pycache__" in name or name.startswith(("suites/", "golden/corpus"))]


def test_more_than_code_is_not_sent(tmp_path: Path) -> None:
    (tmp_path / "weights.bin").write_bytes(np.random.default_rng(0).bytes(parcel.LARGEST))
    with pytest.raises(GatewayError, match=f"more than 64 MiB would be sent through a gateway; kernels: {tmp_path}"):
        reach(Gateway.parse("popen"), [tmp_path])


def test_what_cannot_be_reached_says_why(tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", with_pip=False)
    python = tmp_path / "bare" / "bin" / "python"
    with pytest.raises(GatewayError, match=f"has no execnet, no hypothesis, no numpy; there: {python} -m pip install"):
        reach(Gateway.parse(f"popen//python={python}"))
    with pytest.raises(GatewayError, match=r"gateway gateway1 cannot be used: .*No such file.*/nowhere/python"):
        reach(Gateway.parse("popen//python=/nowhere/python"))


def test_another_interpreter_says_what_it_is() -> None:
    """Every other Python on PATH, whatever it has."""
    names = [f"python3.{minor}" for minor in range(8, 20) if minor != sys.version_info.minor]
    others = {found: version for name in names if (found := shutil.which(name)) and (version := version_of(found))}
    if not others:
        pytest.skip("there is no other version of Python on PATH")
    for python, version in others.items():
        assert version in told_by(python)


def version_of(python: str) -> str:
    """Return the version of an interpreter; "" for one that does not run, as a stand-in for what is not installed."""
    asked = [python, "-c", "import sys; print(sys.version.split()[0])"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()


def told_by(python: str) -> str:
    """Return what an interpreter says of itself through a gateway, or why it will not do."""
    try:
        return str(reach(Gateway.parse(f"popen//python={python}")).found["python"])
    except GatewayError as error:
        return str(error)


KERNELS = """
import os
import signal
from pathlib import Path
import torch
from kernels import implementation

@implementation("relu", paradigm="torch", dtypes=("float32",))
def odd(x):
    return torch.relu(x) + ("PORTOLAN_TEST_ODD" in os.environ and x.numel() > 4)

@implementation("silu", paradigm="torch", dtypes=("float32",))
def deadly(x):
    if "PORTOLAN_TEST_ODD" in os.environ:
        calls = Path(os.environ["PORTOLAN_TEST_ODD"])
        with calls.open("a") as file:
            file.write(".")
        if calls.stat().st_size > 3:  # the process that keeps this one's server, as if its machine had no power
            os.kill(int(Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()[1]), 9)
            signal.pause()
    return torch.nn.functional.silu(x)
"""


@WITH_PROC
def test_places_that_disagree_are_told_apart_and_one_that_is_lost_costs_what_remains_of_it(tmp_path: Path) -> None:
    """One run over two environments: the same cases go to both, and the smallest that tells them apart is found."""
    kernels, bundle = tmp_path / "odd.py", tmp_path / "bundle"
    kernels.write_text(KERNELS)
    chosen = ("--kernels", kernels, "--platform", "cpu,cpu@odd", "--implementation", "relu/torch/odd,silu/torch/deadly")
    gateway = f"--gateway=popen//env:PORTOLAN_TEST_ODD={tmp_path / 'calls'}//id=odd"
    ended = run_pytest(*chosen, gateway, bundle=bundle, suite="agreement")
    assert ended.status == 1
    assert "APART: relu/torch/odd@cpu and relu/torch/odd@cpu@odd" in ended.text
    environment = read(bundle).environment
    (pair,) = environment["agreement relu"][0]["pairs"]
    wrong = [record for record in ended.records if record.platform == "cpu@odd" and record.verdict == "wrong"]
    (smallest,) = {record.elements for record in wrong if record.case == pair["case"]}
    assert 4 < smallest < wrong[0].elements  # how much smaller is a matter of seconds
    assert environment["gateway odd"]["host"] == environment["host"]
    assert environment["platform cpu@odd"]["facts"]["python"] == environment["python"]
    said = [line for line in ended.text.splitlines() if line.startswith("FAILED: ")]
    assert len(said) == 1
    assert said[0].startswith("FAILED: gateway odd was lost at silu/torch/deadly: ")
    assert ["odd", said[0].removeprefix("FAILED: ").partition(";")[0]] in environment["unrun"]
    deadly: dict[str, list[str]] = {place: [] for place in ("cpu", "cpu@odd")}
    for record in ended.records:
        if record.operation == "silu":
            deadly[record.platform].append(record.verdict)
    assert set(deadly["cpu"]) <= {"exact", "within"}
    assert len(deadly["cpu"]) > 3
    assert set(deadly["cpu@odd"][:3]) <= {"exact", "within"}
    assert set(deadly["cpu@odd"][3:]) == {"unsupported"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    try:
        with served(tmp_path_factory.mktemp("sshd")) as server:
            yield server
    except NoServer as error:
        pytest.skip(str(error))


def cpu_of(machine: Machine) -> Platform:
    return next(one for one in machine.detection().found if one.name == f"cpu@{machine.gateway.name}")


def answers_rightly(pool: Pool, platform: Platform) -> bool:
    ran = pool.run(platform, "relu/torch/eager", CASE)
    return ran.output is not None and np.array_equal(ran.output, np.maximum(make_inputs(CASE, {"x": (3, 17)})["x"], 0))


@WITH_PROC
def test_over_ssh_a_stalled_connection_is_made_anew_and_a_machine_that_is_gone_is_lost(server: Server) -> None:
    machine = reach(Gateway.parse(server.gateway))
    assert machine.gateway.name == "loopback"
    assert machine.found["host"] == os.uname().nodename
    far = cpu_of(machine)
    with Pool(silence=8.0) as pool:
        assert answers_rightly(pool, far)
        before = pool.call(far, "os:getpid")
        server.stall()
        assert answers_rightly(pool, far)
        assert pool.call(far, "os:getpid") != before
        assert pool.why_lost(far) == ""
        server.kill()
        for _ in range(2):
            with pytest.raises(PlaceLost, match=r"gateway loopback was lost at relu/torch/eager: .* cannot be started"):
                pool.run(far, "relu/torch/eager", CASE)
        assert pool.why_lost(far).startswith("gateway loopback was lost")
    with pytest.raises(GatewayError, match="gateway loopback cannot be used: ssh does not reach loopback"):
        reach(machine.gateway)
