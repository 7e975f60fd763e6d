"""Devices of one machine: which is odd, a device for each worker of pytest-xdist, and a bad card that shows itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import pytest

from platforms.simulated.platforms import Simulated
from platforms.vendors.nvidia import Nvidia
from reports.bundle import read
from suites.devices import Oddity, odd_ones, whole
from suites.meta.cli import Finished, run_pytest

BAD_CARD = """
from platforms.simulated.kinds import FLUSHED
from platforms.simulated.platforms import Simulated

def find(probe, claims):
    yield Simulated(
        name="two-cards", device="musa:0", simulates="mthreads", visible=("4", "7"), broken={"7": (FLUSHED,)}
    )
"""


def answers(**of_devices: str) -> dict[str, tuple[bytes, bytes]]:
    """Return two calls' bits of each device: ``"xy"`` is x and then y."""
    return {name: (bits[0].encode(), bits[-1].encode()) for name, bits in of_devices.items()}


@pytest.mark.parametrize(
    ("given", "failing", "odd"),
    [
        (answers(a="x", b="x", c="x"), (), []),
        (answers(a="x", b="y", c="x"), (), [Oddity("b", "answers otherwise than a, c")]),
        (answers(a="x", b="y"), ("a",), [Oddity("a", "answers otherwise than b")]),
        (
            answers(a="x", b="y"),
            (),
            [Oddity("a", "answers otherwise than b"), Oddity("b", "answers otherwise than a")],
        ),
        (
            answers(a="x", b="xy", c="x"),
            (),
            [Oddity("b", "does not agree with itself in two calls, and the others do")],
        ),
        (answers(a="xy", b="yx", c="x"), (), None),
        (answers(a="x", b="xy"), (), None),
    ],
)
def test_the_odd_device_is_named(
    given: dict[str, tuple[bytes, bytes]], failing: tuple[str, ...], odd: list[Oddity] | None
) -> None:
    assert odd_ones(given, failing) == odd


def test_a_worker_has_one_device_and_its_facts_are_of_that_one() -> None:
    platform = Nvidia(visible=("2", "GPU-a1", "5"))
    dealt = [cast(Nvidia, platform.for_worker(index)) for index in range(4)]
    assert [one.taken for one in dealt] == ["2", "GPU-a1", "5", "2"]
    assert [one.hardware for one in dealt] == ["nvidia 2", "nvidia GPU-a1", "nvidia 5", "nvidia 2"]


def test_each_device_is_a_platform_with_that_device_alone_also_in_a_worker_that_was_dealt_one() -> None:
    platform = Nvidia(name="nvidia@box", visible=("2", "GPU-a1"))
    for one in (platform, platform.for_worker(1)):
        devices = one.devices()
        assert [device.name for device in devices] == ["nvidia:2@box", "nvidia:GPU-a1@box"]
        assert [device.environment["CUDA_VISIBLE_DEVICES"] for device in devices] == ["2", "GPU-a1"]
        assert {device.place for device in devices} == {"box"}
        assert {whole(device.name) for device in devices} == {"nvidia@box"}
    assert Nvidia().devices() == (Nvidia(),)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("devices") / "bundle"


@pytest.fixture(scope="module")
def compared(bundle: Path) -> Finished:
    """One run over the processor, and two cards of which one flushes subnormal numbers of float32 in its arithmetic."""
    file = bundle.parent / "cards.py"
    file.write_text(BAD_CARD)
    asked = ["--platform", "cpu,two-cards", "--implementation", "add/torch/eager,relu/torch/eager"]
    smoke = ["--hypothesis-profile", "smoke"]
    return run_pytest("--platforms", file, *asked, *smoke, bundle=bundle, suite="devices", timeout=240)


def test_a_bad_card_is_named_and_where_it_is_good_they_agree(compared: Finished) -> None:
    assert compared.status == 1, compared.text
    inconsistent = [record for record in compared.records if record.verdict == "inconsistent"]
    assert {record.platform for record in inconsistent} == {"two-cards:7"}
    assert inconsistent[0].message == "two-cards:7 answers otherwise than two-cards:4"
    assert "test_devices[two-cards] ODD: two-cards:7" in compared.text
    assert {(record.implementation, record.dtype) for record in inconsistent} == {("relu/torch/eager", "float32")}
    good = [record for record in compared.records if record.platform == "two-cards:4" or record.dtype == "float64"]
    assert {(record.platform, record.verdict) for record in good} == {
        ("two-cards:4", "exact"),
        ("two-cards:7", "exact"),
    }


def test_what_was_compared_and_what_not_is_on_record(compared: Finished, bundle: Path) -> None:
    environment = read(bundle).environment
    assert environment["devices cpu"]["reason"] == "only one device of cpu here"
    assert environment["devices two-cards"]["compared"] == [["two-cards:4", "two-cards:7"]]
    assert environment["platform two-cards:7"]["facts"]["vendor"] == "Moore Threads (MUSA)"


def test_the_failure_replays_on_all_devices(compared: Finished, bundle: Path) -> None:
    case = next(record.case for record in compared.records if record.verdict == "inconsistent")
    assert "subnormal" in {tensor["regime"] for tensor in json.loads(case)["tensors"].values()}
    assert f"--case '{case}'" in compared.text


def test_simulated_cards_carry_their_fault_alone() -> None:
    cards = Simulated(
        name="two", device="musa:0", simulates="mthreads", visible=("0", "1"), broken={"1": ("subnormals",)}
    )
    assert [cards.broken.get(one.taken, ()) for one in cards.devices()] == [(), ("subnormals",)]  # type: ignore[attr-defined]
