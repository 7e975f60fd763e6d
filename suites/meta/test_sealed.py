"""What travels arrives as it left: a bundle that was truncated, edited or made elsewhere is refused, unread."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reports.bundle import Bundle, BundleError, read
from reports.record import Record
from reports.samples import ELEMENTS, equal, key, samples

FIELDS: dict[str, Any] = {
    "suite": "equivalence",
    "operation": "sort",
    "dtype": "float32",
    "implementation": "sort/torch/eager",
    "platform": "cpu",
    "verdict": "exact",
}


def record(case: str) -> Record:
    return Record(**FIELDS, case=case)


def outputs(seed: int, size: int) -> list[np.ndarray]:
    """Two results of one case, of different dtypes."""
    numbers = np.random.default_rng(seed)
    return [numbers.random((size, 3)).astype(np.float32), numbers.integers(0, 9, size)]


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A sealed bundle of two records with their outputs."""
    with Bundle.create(tmp_path / "run", {"host": "here"}) as made:
        for seed in range(2):
            made.append(record(str(seed)), outputs(seed, 100))
        made.seal()
    return tmp_path / "run"


def sample_file(bundle: Path) -> Path:
    return next(bundle.glob("samples-*.npz"))


def test_a_sealed_bundle_is_read_and_takes_nothing_more(bundle: Path) -> None:
    assert [one.case for one in read(bundle).records] == ["0", "1"]
    with pytest.raises(BundleError, match="is sealed: its run is over"):
        Bundle.join(bundle)


@pytest.mark.parametrize("name", ["records.jsonl", "environment.json"])
def test_every_kind_of_harm_is_one_clear_error(bundle: Path, name: str) -> None:
    path = bundle / name
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    with pytest.raises(BundleError, match=f"{name} is truncated: {len(whole) - 9} bytes of {len(whole)}"):
        read(bundle)
    path.write_bytes(whole.replace(b"e", b"a", 1))
    with pytest.raises(BundleError, match=f"{name} was changed after the run"):
        read(bundle)
    path.unlink()
    with pytest.raises(BundleError, match=f"{name} is missing, or no plain file"):
        read(bundle)
    path.symlink_to("/etc/passwd")
    with pytest.raises(BundleError, match=f"{name} is missing, or no plain file"):
        read(bundle)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"format": 2}, "is of format 2; this version reads format 1 to 1"),
        ({"format": "1"}, "is of format '1'"),
        ({"id": "../run"}, '"id" must be 32 hexadecimal digits'),
        ({"files": {"../../etc/passwd": [1, "0" * 64]}}, '"files" must hold'),
        ({"files": {"records.jsonl": [1, "sum"]}}, '"files" must hold'),
        ({"files": []}, '"files" must hold'),
    ],
)
def test_a_foreign_manifest_is_refused(bundle: Path, changed: dict[str, Any], said: str) -> None:
    path = bundle / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))
    with pytest.raises(BundleError, match=said):
        read(bundle)


def test_samples_are_the_same_few_elements_of_every_output(bundle: Path) -> None:
    kept = samples(bundle)
    assert set(kept) == {key(record("0")), key(record("1"))}
    values, indices = kept[key(record("1"))]
    full_values, full_indices = outputs(1, 100)
    assert len(values) == len(indices) == ELEMENTS
    assert (values[0], values[-1]) == (full_values[0, 0], full_values[-1, -1])
    assert set(indices) <= set(full_indices)
    assert values.dtype == np.float32


def test_an_output_smaller_than_a_sample_is_kept_whole(tmp_path: Path) -> None:
    with Bundle.create(tmp_path, {}) as made:
        for size in range(3):
            made.append(record(str(size)), outputs(7, size))
    for size in range(3):
        kept = samples(tmp_path)[key(record(str(size)))]
        assert [one.tolist() for one in kept] == [one.reshape(-1).tolist() for one in outputs(7, size)]


def test_equal_elements_are_counted(bundle: Path, tmp_path: Path) -> None:
    with Bundle.create(tmp_path / "other", {}) as made:
        values, indices = outputs(0, 100)
        values[0, 0] += 1
        made.append(record("0"), [values, indices])
    pairs = [(key(record(case)), key(record(case))) for case in "01"]
    assert equal(samples(bundle), samples(tmp_path / "other"), pairs) == (2 * ELEMENTS - 1, 2 * ELEMENTS)


class Trap:
    """What a pickle of it does when it is loaded."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return exec, ("raise SystemExit('code of a bundle was run')",)


def test_no_code_of_a_bundle_is_run(bundle: Path) -> None:
    path = sample_file(bundle)
    path.write_bytes(pickle.dumps(Trap()))
    with pytest.raises(BundleError, match="holds no samples"):
        samples(bundle)
    columns: dict[str, Any] = {"data": np.array([Trap()], dtype=object)}
    np.savez(path, **columns)
    with pytest.raises(BundleError, match="holds no samples"):
        samples(bundle)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("dtypes", np.array([b"|O8", b"<i8"], "S4"), "'|O8' is no dtype of numbers"),
        ("dtypes", np.array([b"<f4"], "S4"), "its columns are not of one length"),
        ("starts", np.array([0, 9, 4], "<u8"), "its starts do not rise"),
        ("starts", np.array([0, 3, 12], "<u8"), "an element is cut in two"),
        ("data", np.zeros((3, 4), "|u1"), "in one dimension"),
    ],
)
def test_malformed_samples_are_named(tmp_path: Path, name: str, value: np.ndarray, said: str) -> None:
    columns: dict[str, Any] = {
        "keys": np.array([b"0" * 16, b"1" * 16], "S16"),
        "results": np.zeros(2, "<u2"),
        "dtypes": np.array([b"<f4", b"<i8"], "S4"),
        "starts": np.array([0, 4, 12], "<u8"),
        "data": np.zeros(12, "|u1"),
    }
    np.savez(tmp_path / "samples-1-0.npz", **columns)
    assert [one.tolist() for one in samples(tmp_path)["1" * 16]] == [[0]]
    np.savez(tmp_path / "samples-1-0.npz", **{**columns, name: value})
    with pytest.raises(BundleError, match=said.replace("|", "[|]")):
        samples(tmp_path)
