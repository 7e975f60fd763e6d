"""Heats as bundles hold them, and what is said of them: drawn ones, whose truth is known, must be told as they are."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reports.__main__ import main
from reports.bundle import Bundle, BundleError, read_heats
from reports.heat import SIZES, Arm, Heat, HeatError
from reports.ladder.carrying import ways
from reports.ladder.page import Page
from reports.ladder.portability import pennycook
from reports.ladder.regressions import Repeated, regressions, repeated
from reports.ladder.rungs import SPREAD, drift, rungs, spreads
from reports.ladder.tuning import carried_settings

ROUNDS = 20

TRUTHS: dict[str, tuple[float | str, float | str, str]] = {
    "tiles": (3.0, 2.0, "carries over"),
    "shuffles": (1.5, 1.0, "neutral"),
    "online": (1.4, 0.6, "reversed"),
    "padding": (0.7, 1.8, "reversed"),
    "unrolling": (1.0, 1.6, "gained"),
    "pairing": (1.0, 0.5, "slower"),
    "exp2": (1.0, 1.0, "neutral"),
    "descriptors": (2.0, "does not compile", "does not compile"),
    "stages": (2.0, "does not fit", "does not fit"),
    "halves": (2.0, "wrong", "wrong"),
    "order": (2.0, "failed", "unresolved"),
    "small": (1.3, "noisy", "unresolved"),
}
"""By technique how many times as fast it is on two devices, or what keeps it from being timed, and its class."""


def heat(rng: np.random.Generator, device: str, gains: Mapping[str, float | str], **changed: Any) -> Heat:
    """A heat of one base and a rung for each of ``gains``, under a load that all share."""
    load = np.exp(np.cumsum(rng.normal(0, 0.02, ROUNDS)))

    def seconds(speed: float, noise: float = 0.015) -> tuple[float, ...]:
        return tuple((1e-3 / speed * load * np.exp(rng.normal(0, noise, ROUNDS))).tolist())

    arms = [Arm(implementation="gemm/triton/base", status="timed", verdict="within", seconds=seconds(1.0))]
    for technique, gain in gains.items():
        figures: dict[str, Any] = {"status": gain, "message": "no matter"}
        if gain == "noisy":
            figures = {"status": "timed", "seconds": seconds(1.3, noise=0.8)}
        elif not isinstance(gain, str):
            figures = {"status": "timed", "seconds": seconds(gain)}
        name = f"gemm/triton/{technique}"
        arms.append(Arm(implementation=name, optimizes="gemm/triton/base", technique=technique, **figures))
    fields: dict[str, Any] = {
        "operation": "gemm",
        "case": "{}",
        "dtype": "float32",
        "platform": "card",
        "device": device,
        "size": "filling",
        "clock": "a clock",
        "caches": "flushed",
        "sets": 3,
        "moved": 3 * 2**20,
        "operations": 2**30,
        "spins": tuple((1e-4 * np.ones(ROUNDS)).tolist()),
        "floors": {"copy": seconds(8.0), "product": seconds(4.0)},
        "arms": tuple(arms),
    }
    return Heat(**{**fields, **changed})


def two(seed: int) -> list[Heat]:
    """Heats of two devices with the gains of TRUTHS."""
    rng = np.random.default_rng(seed)
    here, there = ({name: truth[number] for name, truth in TRUTHS.items()} for number in (0, 1))
    return [heat(rng, "A", here), heat(rng, "B", there)]


def bundle(directory: Path, heats: list[Heat]) -> Path:
    with Bundle.create(directory, {}) as written:
        for one in heats:
            written.append_heat(one)
    written.seal()
    return directory


@pytest.mark.parametrize("seed", range(5))
def test_drawn_gains_are_classed_as_they_are(seed: int) -> None:
    found = {way.origin.arm.technique: way.answer for way in ways(list(rungs(two(seed))), "A", "B")}
    assert found == {name: expected for name, (_, _, expected) in TRUTHS.items()}


def test_two_runs_agree() -> None:
    first, second = (
        {way.origin.arm.technique: way.answer for way in ways(list(rungs(two(seed))), "A", "B")} for seed in (11, 12)
    )
    assert first == second


def test_a_page_says_each_class(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = two(1)
    folders = [bundle(tmp_path / "a", [one]), bundle(tmp_path / "b", [other])]
    page = tmp_path / "page.md"
    assert main(["carryover", *map(str, folders), "--write", str(page)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == (
        "From A to B: 12 techniques, 12 comparisons: 1 carries over, 1 gained, 2 neutral, 1 slower, 2 reversed, "
        "1 wrong, 1 does not compile, 1 does not fit, 2 unresolved."
    )
    gains = {name: line for name in TRUTHS for line in lines if line.startswith(f"- {name}: ")}
    assert gains["tiles"].startswith("- tiles: CARRIES OVER in gemm 3.0")
    assert gains["stages"].startswith("- stages: DOES NOT FIT in gemm 2.0")
    assert set(gains) == set(TRUTHS)
    text = page.read_text()
    assert "## From A to B" in text
    assert "| tiles" in text


def test_platforms_of_one_device_can_be_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = two(1)
    both = bundle(tmp_path / "both", [one, replace(other, device="A", platform="chip")])
    assert main(["carryover", str(both), "--by-platform"]) == 0
    assert capsys.readouterr().out.startswith("From card on A to chip on A: 12 techniques, 12 comparisons: 1 carries")
    assert main(["carryover", str(both)]) == 0
    assert capsys.readouterr().out.startswith("What optimizations bring on A")


def test_of_one_device_a_line_a_technique() -> None:
    text = Page([two(1)[0]]).brief()
    assert "- tiles: pays in gemm/triton 3.0" in text
    assert "- padding: costs in gemm/triton 0.7" in text
    assert "- exp2: neutral in gemm/triton 1.0" in text


def test_of_several_devices_each_is_told_and_what_they_share() -> None:
    one, other = two(1)
    apart = replace(other, arms=tuple(replace(arm, technique=f"other {arm.technique}") for arm in other.arms))
    assert Page([one, apart]).brief().startswith("What optimizations bring on A")
    assert "From A to B" not in Page([one, apart]).here()
    both = Page([one, other]).here()
    places = [both.index(said) for said in ("bring on A", "bring on B", "From A to B")]
    assert places == sorted(places)


def test_efficiency_is_a_share_of_the_slower_floor() -> None:
    (row,) = [line for line in Page([two(1)[0]]).whole().splitlines() if line.startswith("tiles")]
    assert row.split()[-1] in ("74%", "75%", "76%")  # three times the base's speed, of four times


def test_the_same_implementation_is_compared_with_itself() -> None:
    rng = np.random.default_rng(2)
    mixed = [
        heat(rng, "A", {"tiles": 3.0}),
        heat(rng, "B", {"tiles": 0.5}),
        replace(
            heat(rng, "B", {}),
            arms=tuple(
                replace(arm, implementation=arm.implementation.replace("triton", "cuda"), optimizes=base)
                for arm, base in zip(heat(rng, "B", {"tiles": 3.0}).arms, ("", "gemm/cuda/base"), strict=True)
            ),
        ),
    ]
    (way,) = ways(list(rungs(mixed)), "A", "B")
    assert way.answer == "reversed"


def test_a_rung_too_slow_to_be_timed_is_slower() -> None:
    one = heat(np.random.default_rng(3), "A", {"tiles": 2.0})
    base, rung = one.arms
    slow = replace(rung, status="too slow", seconds=(), call=0.8, message="a call takes 0.8 s")
    assert [(found.standing, found.gain) for found in rungs([replace(one, arms=(base, slow))])] == [("slower", None)]
    near = replace(slow, call=1.5e-3)
    assert [found.standing for found in rungs([replace(one, arms=(base, near))])] == ["unresolved"]
    late = replace(base, status="too slow", seconds=(), call=0.8)
    assert [found.standing for found in rungs([replace(one, arms=(late, rung))])] == ["faster"]


def test_a_ratio_that_changed_with_the_load_is_not_resolved() -> None:
    """Rounds are taken in turns: a load that slows both alike is none of their ratio, and one that does not is."""
    one = heat(np.random.default_rng(4), "A", {"tiles": 1.3, "order": 2.0})
    loaded = replace(one, spins=tuple([1e-4] * 10 + [1.5e-4] * 10))
    assert drift(one) == 1.0
    assert drift(loaded) == pytest.approx(1.5)
    assert [found.standing for found in rungs([one])] == ["faster", "faster"]
    assert [found.standing for found in rungs([loaded])] == ["faster", "faster"]
    base, tiles, order = loaded.arms
    slowed = replace(tiles, seconds=(*tiles.seconds[:10], *(1.4 * one for one in tiles.seconds[10:])))
    found, unmoved = rungs([replace(loaded, arms=(base, slowed, order))])
    assert (found.standing, found.reason) == ("unresolved", "clock or load changed by 1.50 meanwhile")
    assert found.gain
    assert found.gain.low < 1 < 1.25 < found.gain.high
    assert unmoved.standing == "faster"


def runs(seed: int, truths: Mapping[str, float], spread: float, number: int = 2) -> list[list[Heat]]:
    """Heats of ``number`` runs on one device, in each of which every gain is a little off, by ``spread``."""
    rng = np.random.default_rng(seed)
    return [
        [heat(rng, "A", {name: truth * math.exp(rng.normal(0, spread)) for name, truth in truths.items()})]
        for _ in range(number)
    ]


NEAR = {f"{number}": 0.9 * 1.006**number for number in range(40)}
"""Gains from 0.9 to 1.14: all that is near a border between two classes."""


@pytest.mark.parametrize("spread", [0.01, 0.03])
def test_runs_that_differ_do_not_contradict_each_other(spread: float) -> None:
    """Rounds of one run say little of the next; by how much runs differ in all is known from both."""
    found = [repeated(*runs(seed, NEAR, spread)) for seed in range(6)]
    assert sum(len(one.contradictions) for one in found) <= 1
    assert sum(one.same for one in found) > 0.7 * 6 * len(NEAR)


def test_by_how_much_runs_differ_is_measured() -> None:
    several = [heat for run in runs(3, NEAR, 0.04, 6) for heat in run]
    assert spreads(several)["A", "filling"] == pytest.approx(0.04, rel=0.2)
    assert spreads([one for run in runs(3, NEAR, 0.0) for one in run])["A", "filling"] == SPREAD
    assert not spreads(several[:1])  # one run cannot tell
    assert not spreads([one for run in runs(3, {"tiles": 1.0}, 0.04) for one in run])  # nor can few rungs


def test_several_runs_are_one_rung_that_is_better_known() -> None:
    truths = {"tiles": 1.09, **NEAR}
    several = [heat for run in runs(8, truths, 0.02, 8) for heat in run]
    alone = [next(rungs([one], spreads(several))).standing for one in several]
    together = next(rungs(several))
    assert "unresolved" in alone
    assert (together.standing, together.runs) == ("faster", 8)
    assert len(list(rungs(several))) == len(truths)
    assert "| 8      |" in Page(several, markdown=True).machines()


def test_one_run_that_says_otherwise_leaves_it_open() -> None:
    """However many agree: what a process start may turn round is not known."""
    found = [heat(np.random.default_rng(seed), "A", {"tiles": 0.5 if seed == 3 else 1.3}) for seed in range(5)]
    (rung,) = rungs(found)
    assert rung.standing == "unresolved"
    (wrong,) = rungs([*found, heat(np.random.default_rng(9), "A", {"tiles": "wrong"})])
    assert wrong.standing == "wrong"


def test_what_counts_say_is_told() -> None:
    one = heat(np.random.default_rng(14), "A", {"tiles": 1.0, "order": 1.0})
    base, tiles, order = one.arms
    counted = [replace(base, widest=128), replace(tiles, widest=32), replace(order, widest=128, compilations=20)]
    text = Page([replace(one, arms=tuple(counted))]).brief()
    assert "- narrower: gemm/triton/tiles moves 32 bits at once, and what it optimizes 128" in text
    assert "- recompiled: gemm/triton/order is compiled anew in equal calls" in text
    assert text.count("narrower") == 1


def test_a_halved_rung_is_flagged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(5)
    before = heat(rng, "A", {"tiles": 3.0, "order": 2.0})
    after = heat(rng, "A", {"tiles": 1.4, "order": 2.0})
    assert {one.what for one in regressions([before], [after])} == {
        "its gain over gemm/triton/base",
        "its speed as a share of the floor",
    }
    assert {one.implementation for one in regressions([before], [after])} == {"gemm/triton/tiles"}
    assert not list(regressions([before], [heat(rng, "A", {"tiles": 2.7, "order": 1.9})]))
    assert not list(regressions([before], [heat(rng, "B", {"tiles": 1.0, "order": 1.0})]))  # another device
    old, new = bundle(tmp_path / "old", [before]), bundle(tmp_path / "new", [after])
    assert main(["carryover", str(new), "--since", str(old)]) == 1
    assert "SLOWER: gemm/triton/tiles on card: its gain over gemm/triton/base was " in capsys.readouterr().out
    assert main(["carryover", str(old), "--since", str(old)]) == 0


def test_a_setting_tuned_elsewhere_is_held_against_the_best_here() -> None:
    rng = np.random.default_rng(13)

    def tuned(device: str, speeds: Mapping[str, float | str]) -> Heat:
        plain = heat(rng, device, speeds)
        arms = [replace(arm, setting=arm.technique, implementation="gemm/triton/tuned") for arm in plain.arms[1:]]
        return replace(plain, arms=tuple(replace(arm, optimizes="", technique="") for arm in arms))

    here = tuned("A", {"wide": 3.0, "tall": 2.0, "deep": 1.0})
    there = tuned("B", {"wide": 1.0, "tall": 2.0, "deep": "does not fit"})
    (one,) = carried_settings([here, there], "A", "B")
    assert (one.here, one.there) == ("wide", "tall")
    assert one.worth is not None
    assert one.worth.low < 0.5 < one.worth.high
    (back,) = carried_settings([here, tuned("B", {"wide": 1.0, "tall": 1.0, "deep": 4.0})], "B", "A")
    assert (back.here, back.there) == ("deep", "wide")
    assert back.worth is not None
    assert back.worth.ratio == pytest.approx(1 / 3, rel=0.05)
    (unfit,) = carried_settings([there, tuned("C", {"tall": "does not fit", "wide": 1.0})], "B", "C")
    assert (unfit.worth, unfit.reason) == (None, "does not fit: no matter")
    assert "Tuned on A, run on B" in Page([here, there]).whole()


def test_what_two_runs_contradict_each_other_in_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(15)
    before = heat(rng, "A", {"tiles": 3.0, "order": 2.0, "small": "noisy", "exp2": 1.0})
    after = heat(rng, "A", {"tiles": 2.0, "order": 0.7, "small": 1.3, "exp2": 1.0})
    found = repeated([before], [after])
    assert (found.same, found.open) == (2, 1)
    assert found.contradictions == ("gemm/triton/order on card, {}: faster, then slower",)
    assert repeated([before], [heat(rng, "B", {"tiles": 2.0})]) == Repeated(0, 0, ())
    old, new = bundle(tmp_path / "old", [before]), bundle(tmp_path / "new", [after])
    assert main(["carryover", str(new), "--since", str(old)]) == 1
    said = "2 stand as they did, 1 are unresolved in one of both, 1 contradict"
    assert f"Beside {old}: {said}.\ngemm/triton/order on card" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("efficiencies", "expected"),
    [([0.5, 0.5], 0.5), ([1.0, 0.25], 0.4), ([0.6], 0.6), ([0.9, None], 0.0), ([1.0, 0.5, 0.25], 3 / 7)],
)
def test_pennycook(efficiencies: list[float | None], expected: float) -> None:
    assert pennycook(efficiencies) == pytest.approx(expected)


@pytest.mark.parametrize("bad", [[], [0.0], [-1.0], [math.nan], [math.inf]])
def test_pennycook_refuses(bad: list[float | None]) -> None:
    with pytest.raises(ValueError, match=r"performance portability|positive and finite"):
        pennycook(bad)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    heats = two(6)
    assert read_heats(bundle(tmp_path / "one", heats)) == heats


def test_a_changed_time_is_noticed(tmp_path: Path) -> None:
    directory = bundle(tmp_path / "one", two(7))
    path = directory / "heats.jsonl"
    path.write_text(path.read_text().replace('"sets":3', '"sets":2'))
    with pytest.raises(BundleError, match=r"heats\.jsonl was changed after the run"):
        read_heats(directory)


def test_a_merged_bundle_keeps_its_heats(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    one, other = two(8)
    folders = [str(bundle(tmp_path / name, [heat])) for name, heat in (("a", one), ("b", other))]
    assert main(["merge", *folders, "--into", str(tmp_path / "all")]) == 0
    assert sorted(read_heats(tmp_path / "all"), key=lambda heat: heat.device) == [one, other]


def test_without_timings_there_is_one_clear_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["carryover", str(bundle(tmp_path / "none", []))]) == 2
    assert "no timings in" in capsys.readouterr().err


@pytest.mark.parametrize("bad", [0.0, -1e-6, math.nan, math.inf])
def test_a_clock_that_stands_still_is_one_clear_error(bad: float) -> None:
    with pytest.raises(HeatError, match=r"seconds of gemm/torch/eager, round 1, is .*; it must be a positive, finite"):
        Arm(implementation="gemm/torch/eager", status="timed", seconds=(1e-3, bad, 1e-3))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"size": "huge"}, f"size is 'huge'; it must be one of {', '.join(SIZES)}"),
        ({"spins": (1e-4,) * 3}, "it must be 3, the number of rounds"),
        ({"floors": {"copy": (1e-4,)}}, "seconds of copy is 1"),
        ({"operation": "softmax"}, "of the heat's own operation, softmax"),
    ],
)
def test_a_heat_is_consistent(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(HeatError, match=message):
        replace(two(9)[0], **changed)


@pytest.mark.parametrize("line", ["{}", "[]", "no", '{"arms":[{"speed":1}]}', '{"arms":[],"speed":1}'])
def test_what_is_no_heat_is_refused(line: str) -> None:
    with pytest.raises(HeatError):
        Heat.from_json(line)


def test_a_timed_arm_has_times() -> None:
    with pytest.raises(HeatError, match="there if it was timed; it is 'wrong'"):
        Arm(implementation="gemm/torch/eager", status="wrong", seconds=(1.0,))
    assert json.loads(two(10)[0].to_json())["arms"][0]["verdict"] == "within"
