"""Is a platform's profile measured once, kept, stored in bundles, and read back with suspicion?"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from kernels.registry import load
from kernels.toolchains.cache import CACHE
from platforms.cpu import Cpu
from platforms.pool import Pool
from platforms.profile.kept import kept
from reports.__main__ import main as reports
from reports.bundle import Bundle, BundleError, read
from reports.profile import profiles, render
from suites.numerics import conclude
from suites.run import Run
from suites.subject import Subject


@dataclass(frozen=True, kw_only=True)
class Flushing(Cpu):
    """A processor that was told to take subnormal numbers for zero."""

    name: str = "flushing"
    paradigms: tuple[str, ...] = ("torch",)

    def open(self) -> None:
        import torch

        super().open()
        torch.set_flush_denormal(True)


def test_a_profile_is_measured_once_and_told_by_the_bundle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    catalogue, platform = load(), Flushing()
    subject = Subject(catalogue.operations["relu"], catalogue.implementations["relu/torch/eager"], platform)
    with Pool() as pool, Bundle.create(tmp_path / "bundle", {}) as bundle:
        assert kept(pool, platform, "brief", measure=False) is None
        run = Run(pool=pool, bundle=bundle, profile=lambda one: kept(pool, one, "brief"))
        run.lacking(subject)
        (file,) = (tmp_path / "cache").glob("profile-flushing-*.json")
        marked = {**json.loads(file.read_text()), "seconds": 12345.0}
        file.write_text(json.dumps(marked))
        assert kept(pool, platform, "brief", measure=False) == marked
        with pytest.raises(
            pytest.fail.Exception, match=r"(?s)flushing does not .* torch: subnormal operands, float32: "
        ):
            conclude(run, platform, note=lambda name, value: None)
    stored = profiles(read(tmp_path / "bundle").environment)["flushing"]
    assert {**stored, "seconds": 12345.0} == marked
    assert {one["answer"] for one in stored["answers"] if one["topic"] == "subnormal results"} >= {"flushed"}
    assert any(one["breaks"].startswith("subnormal operands, float32: ") for one in stored["answers"])
    assert reports(["show", str(tmp_path / "bundle")]) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("  flushing: "))
    assert "subnormals flushed" in line or "flushed of torch float32" in line


ANSWER = {"machine": "torch", "topic": "subnormal operands", "subject": "float32", "answer": "kept", "breaks": ""}


def bundle(directory: Path, host: str, **answers: str) -> str:
    """Return the folder of a bundle from ``host``, whose platforms have an answer each."""
    facts = {
        f"profile {name}": {"extent": "brief", "answers": [{**ANSWER, "answer": one}]} for name, one in answers.items()
    }
    with Bundle.create(directory / host, {"host": host, **facts}) as made:
        made.seal()
    return str(made.directory)


def test_profiles_that_differ_are_listed_and_those_of_one_platform_flagged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here, there, alike = (
        bundle(tmp_path, "a", cpu="kept"),
        bundle(tmp_path, "b", gpu="flushed"),
        bundle(tmp_path, "c", cpu="kept"),
    )
    other = bundle(tmp_path, "d", cpu="flushed")
    assert reports(["profiles", here, there]) == 0
    out = capsys.readouterr().out
    assert [line.split() for line in out.splitlines()[2:3]] == [
        ["torch", "subnormal", "operands", "float32", "kept", "flushed"]
    ]
    assert out.endswith("\n1 of 1 question on how platforms compute have answers that differ\n")
    assert reports(["profiles", here, alike]) == 0
    assert capsys.readouterr().out.startswith("0 of 1 question")
    assert reports(["profiles", here, other]) == 1
    out = capsys.readouterr().out
    assert "cpu@a" in out
    assert out.endswith("; FLAGGED: 1 between machines of one platform\n")
    assert reports(["compare", here, other]) == 1
    assert "FLAGGED: 1 between machines of one platform (python -m reports profiles)" in capsys.readouterr().out


def test_a_line_tells_the_commonest_answer_and_what_differs() -> None:
    other = {**ANSWER, "subject": "float16", "answer": "flushed"}
    more = {**ANSWER, "subject": "float64"}
    worst = {**ANSWER, "topic": "error of tanh", "answer": "12.50 ULP"}
    told = render({"profile here": {"extent": "brief", "answers": [ANSWER, other, more, worst]}}, width=200)
    wanted = "subnormals kept, but flushed of torch float16; functions within 12.50 ULP (tanh, torch float32)"
    assert told.splitlines()[1] == f"  here: {wanted}"
    assert render({"host": "there"}, width=200) == ""


def test_what_is_not_as_declared_is_told_first_three_of_many() -> None:
    broken = {**ANSWER, "breaks": "subnormal operands, float32: flushed, and should be kept"}
    told = render({"profile here": {"extent": "brief", "answers": [broken] * 5}}, width=200).splitlines()
    assert told[2:5] == ["    NOT AS DECLARED: torch: subnormal operands, float32: flushed, and should be kept"] * 3
    assert told[5] == "    and 2 more not as declared"
    assert (
        len(render({"profile here": {"extent": "brief", "answers": [broken] * 5}}, width=200, full=True).splitlines())
        == 7
    )


@pytest.mark.parametrize(
    ("profile", "said"),
    [
        ([], r'"profile here" must have an "extent", a text, and "answers", a list'),
        ({"extent": "brief", "answers": {}}, r'"profile here" must have'),
        ({"extent": "brief", "answers": [{**ANSWER, "answer": 1}]}, r'an answer in "profile here" must have the texts'),
    ],
)
def test_a_malformed_profile_is_named(profile: object, said: str) -> None:
    with pytest.raises(BundleError, match=said):
        profiles({"profile here": profile})
