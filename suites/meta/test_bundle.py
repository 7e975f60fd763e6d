"""A bundle keeps every record: of parallel processes, of a killed one, and it says so where a line is not whole."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import reports
from reports.bundle import Bundle, BundleError, default_directory, read
from reports.record import Record

ROOT = Path(reports.__file__).parents[1]
ENVIRONMENT = {"host": "here", "torch": "2.13", "cards": ["a", "b"]}
FIELDS: dict[str, Any] = {
    "suite": "equivalence",
    "case": "{}",
    "operation": "softmax",
    "dtype": "float32",
    "implementation": "softmax/torch/eager",
    "platform": "cpu",
    "verdict": "exact",
}
WRITER = """
import sys
from reports.bundle import Bundle
from reports.record import Record

directory, name, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
fields = dict(suite="equivalence", case="{}", operation="softmax", dtype="float32", verdict="exact", platform=name,
              implementation="softmax/torch/eager")
sys.stdin.readline()
with Bundle.join(directory) as bundle:
    for index in range(number):
        if index < 25:
            bundle.update_environment(f"{name} {index}", index)
        bundle.append(Record(**fields, elements=index, message="x" * (index * 997 % 20_000)))
        print(index, flush=True)
"""


def record(index: int) -> Record:
    return Record(**FIELDS, elements=index, message=f"number {index}")


def start_writer(directory: Path, name: str, number: int) -> subprocess.Popen[str]:
    """A process that joins the bundle once it reads a line, appends, and prints the index of each appended record."""
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(directory), name, str(number)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def a_bundle(directory: Path, number: int) -> Path:
    """The file of records of a finished bundle of ``number`` records."""
    with Bundle.create(directory, ENVIRONMENT) as bundle:
        for index in range(number):
            bundle.append(record(index))
    return directory / "records.jsonl"


def test_what_is_written_is_read(tmp_path: Path) -> None:
    a_bundle(tmp_path / "deep" / "run", 3)
    environment, records, problems = read(tmp_path / "deep" / "run")
    assert environment == ENVIRONMENT
    assert list(records) == [record(0), record(1), record(2)]
    assert list(records) == [record(0), record(1), record(2)]  # and again
    assert len(records) == 3
    assert problems == []


def test_a_record_can_be_read_before_the_bundle_is_closed(tmp_path: Path) -> None:
    with Bundle.create(tmp_path, {}) as bundle:
        bundle.append(record(0))
        before = read(tmp_path).records
        bundle.append(record(1))
        assert list(before) == [record(0)]
        assert list(read(tmp_path).records) == [record(0), record(1)]


def test_the_environment_is_merged(tmp_path: Path) -> None:
    with Bundle.create(tmp_path, ENVIRONMENT) as bundle, Bundle.join(tmp_path) as other:
        bundle.update_environment("unrun", [["bari", "no device"]])
        other.update_environment("host", "there")
    assert read(tmp_path).environment == {**ENVIRONMENT, "host": "there", "unrun": [["bari", "no device"]]}
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "environment.json",
        "manifest.json",
        "records.jsonl",
    ]


def test_parallel_processes_lose_and_tear_nothing(tmp_path: Path) -> None:
    a_bundle(tmp_path, 0)
    numbers = {f"writer{index}": 300 for index in range(4)}
    writers = [start_writer(tmp_path, name, number) for name, number in numbers.items()]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.close()
    for writer in writers:
        assert writer.stdout is not None
        assert len(writer.stdout.read().splitlines()) == 300
        assert writer.wait(timeout=60) == 0
        writer.stdout.close()
    environment, records, problems = read(tmp_path)
    found: dict[str, list[int]] = {name: [] for name in numbers}
    for one in records:
        assert one.message == "x" * (one.elements * 997 % 20_000)
        found[one.platform].append(one.elements)
    assert found == {name: list(range(300)) for name in numbers}
    assert environment == {**ENVIRONMENT, **{f"{name} {index}": index for name in numbers for index in range(25)}}
    assert problems == []


def test_a_killed_writer_leaves_a_readable_bundle(tmp_path: Path) -> None:
    a_bundle(tmp_path, 0)
    with start_writer(tmp_path, "doomed", 1_000_000) as writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
        said = [int(writer.stdout.readline()) for _ in range(50)]
        writer.send_signal(signal.SIGKILL)
        said += [int(line) for line in writer.stdout if line.endswith("\n")]
    with Bundle.join(tmp_path) as bundle:
        bundle.append(record(7))
    *written, last = read(tmp_path).records
    assert [one.elements for one in written[: len(said)]] == said
    assert len(written) <= len(said) + 1
    assert last == record(7)


@pytest.mark.parametrize("kept", [1, 40, -1])
def test_a_torn_last_line_is_dropped_with_a_note(tmp_path: Path, kept: int) -> None:
    path = a_bundle(tmp_path, 3)
    *whole, last = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(whole) + last[:kept])
    _, records, problems = read(tmp_path)
    assert list(records) == [record(0), record(1)]
    assert len(records) == 2
    assert problems == [f"{path}:3: a torn line was dropped; its writer was stopped in the middle"]


def test_a_torn_line_does_not_spoil_what_is_appended_after_it(tmp_path: Path) -> None:
    path = a_bundle(tmp_path, 2)
    path.write_bytes(path.read_bytes()[:-5])
    with Bundle.join(tmp_path) as bundle:
        bundle.append(record(5))
    _, records, problems = read(tmp_path)
    assert list(records) == [record(0), record(5)]
    assert problems == [f"{path}:2: a torn line was dropped; its writer was stopped in the middle"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"verdict":"exact"', '"verdict":"fine"', "verdict is 'fine'; it must be one of exact"),
        ('"elements":1', '"elements":NaN', "NaN is not strict JSON"),
        ('"dtype":"float32",', "", "lacks dtype"),
        ("}", "", "one line of strict JSON"),
    ],
)
def test_an_edited_line_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = a_bundle(tmp_path, 3)
    lines = path.read_text().splitlines(keepends=True)
    lines[1] = lines[1].replace(old, new)
    path.write_text("".join(lines))
    with pytest.raises(BundleError) as caught:
        list(read(tmp_path).records)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert said in str(caught.value)


@pytest.mark.parametrize("line", [b"\n", b"\xff\xfe\n", b"[1, 2]\n"])
def test_a_line_that_is_no_record_is_named(tmp_path: Path, line: bytes) -> None:
    path = a_bundle(tmp_path, 2)
    path.write_bytes(path.read_bytes() + line)
    with pytest.raises(BundleError, match=re.escape(f"{path}:3: ")):
        list(read(tmp_path).records)


def test_two_runs_are_not_mixed(tmp_path: Path) -> None:
    path = a_bundle(tmp_path, 2)
    before = path.read_bytes()
    with pytest.raises(BundleError, match=r"already holds environment\.json; a run goes to a fresh or an empty folder"):
        Bundle.create(tmp_path, {})
    assert path.read_bytes() == before
    assert read(tmp_path).environment == ENVIRONMENT


def test_a_folder_that_holds_anything_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(BundleError, match=r"already holds thesis\.txt"):
        Bundle.create(tmp_path, {})
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(BundleError, match="is a file; a bundle is a folder"):
        Bundle.create(file, {})
    with pytest.raises(BundleError, match=r"cannot make the folder .*: Not a directory"):
        Bundle.create(file / "below", {})
    with pytest.raises(BundleError, match="is a file; a bundle is a folder"):
        read(file)


def test_a_folder_that_cannot_be_written_is_refused() -> None:
    # The file system of processes lets nobody, not even root, make a folder in it.
    with pytest.raises(BundleError, match="cannot make the folder /proc/run of a bundle: "):
        Bundle.create("/proc/run", {})


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    a_bundle(tmp_path, 0).unlink()
    (tmp_path / "records.jsonl").symlink_to("/dev/full")
    with Bundle.join(tmp_path) as bundle, pytest.raises(BundleError, match=r"records\.jsonl: No space left"):
        bundle.append(record(0))


def test_a_record_that_did_not_fit_is_named_and_the_others_stay(tmp_path: Path) -> None:
    path = a_bundle(tmp_path, 2)
    limit = path.stat().st_size + 20  # bytes that any file may have: a stand-in for the end of a disk
    script = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n{WRITER}"
    script = script.replace("index < 25", "False")
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path), "late", "1"],
        input="go\n",
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 1
    assert f"cannot append to {path}: a record was written in part only; is the disk full?" in done.stderr
    _, records, problems = read(tmp_path)
    assert list(records) == [record(0), record(1)]
    assert len(problems) == 1
    assert problems[0].startswith(f"{path}:3: a torn line")


@pytest.mark.parametrize("environment", [{"x": float("nan")}, {"x": object()}, {1: "x"}, ["x"]])
def test_an_environment_that_is_not_json_is_refused(tmp_path: Path, environment: Any) -> None:
    with pytest.raises(BundleError, match="the environment of a bundle must be"):
        Bundle.create(tmp_path / "run", environment)
    assert not (tmp_path / "run").exists()


def test_a_refused_update_leaves_the_environment(tmp_path: Path) -> None:
    with Bundle.create(tmp_path, ENVIRONMENT) as bundle, pytest.raises(BundleError, match="strict JSON"):
        bundle.update_environment("x", float("inf"))
    assert read(tmp_path).environment == ENVIRONMENT


def test_what_is_no_bundle_is_named(tmp_path: Path) -> None:
    for door in (read, Bundle.join):
        with pytest.raises(BundleError, match="nowhere is not there; a bundle is a folder"):
            door(tmp_path / "nowhere")
        with pytest.raises(BundleError, match=r"is not a bundle: it has no manifest\.json"):
            door(tmp_path)
    a_bundle(tmp_path / "run", 0).unlink()
    with pytest.raises(BundleError, match=r"cannot read .*records\.jsonl: No such file"):
        read(tmp_path / "run")
    with pytest.raises(BundleError, match=r"cannot open .*records\.jsonl for appending: No such file"):
        Bundle.join(tmp_path / "run")


@pytest.mark.parametrize(("text", "said"), [("{", "is not JSON"), ("[]", r"must hold a JSON object, not \[\]")])
def test_a_broken_environment_is_named(tmp_path: Path, text: str, said: str) -> None:
    a_bundle(tmp_path, 1)
    (tmp_path / "environment.json").write_text(text)
    with pytest.raises(BundleError, match=rf"environment\.json {said}"):
        read(tmp_path)


def test_default_directories_are_never_the_same(tmp_path: Path) -> None:
    directories = [default_directory(tmp_path) for _ in range(5)]
    assert len(set(directories)) == 5
    for directory in directories:
        assert directory.parent == tmp_path / "reports" / "out"
        assert re.fullmatch(r"\d{8}T\d{6}Z-[A-Za-z0-9.-]+", directory.name)
        Bundle.create(directory, {}).close()
    assert json.loads((directories[0] / "environment.json").read_text()) == {}
