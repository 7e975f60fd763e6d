"""Does the HTML audit say what the bundles hold, where a reader looks for it, and let nothing in them become markup?"""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reports import html
from reports.__main__ import main
from reports.heat import Arm
from reports.html.document import MOST_DRIFTS
from suites.meta.test_carrying import ROUNDS, TRUTHS, bundle, heat, two
from suites.meta.test_fleet import FAR, HOME, failed, record, run

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'{{ 7 * 7 }}"
VOID = {"meta", "input", "img", "br", "link"}


@dataclass
class Node:
    """An element of the document; ``text`` is all that stands in it, its children's too."""

    tag: str
    attributes: dict[str, str]
    children: list[Node] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join("".join(self.pieces).split())

    def all(self, tag: str, **attributes: str) -> list[Node]:
        """Return the elements below of that tag which have these attributes, in order."""
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
        return [one for one in everything(self) if one.tag == tag and wanted.items() <= one.attributes.items()]

    def one(self, tag: str, **attributes: str) -> Node:
        (found,) = self.all(tag, **attributes)
        return found


class _Reader(HTMLParser):
    """Reads a document in which every element is closed; anything else fails."""

    def __init__(self) -> None:
        super().__init__()
        self.open = [Node("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice: {attrs}"
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(Node(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        for node in self.open:
            node.pieces.append(data)


def page(tmp_path: Path, *bundles: Path, gate: str = "", status: int = 0) -> Node:
    written = tmp_path / "audit.html"
    assert main(["html", *map(str, bundles), "--out", str(written), "--fail-on", gate]) == status
    reader = _Reader()
    reader.feed(written.read_text(encoding="utf-8"))
    reader.close()
    (root,) = reader.open
    return root


def cells(table: Node) -> list[list[str]]:
    return [[cell.text for cell in row.children] for row in table.all("tr")]


def everything(node: Node) -> list[Node]:
    return [one for child in node.children for one in (child, *everything(child))]


def section(root: Node, name: str) -> Node:
    return root.one("section", id=name)


def answer(topic: str, said: str, **evidence: Any) -> dict[str, Any]:
    whose = {"machine": "sum/torch/eager", "topic": topic, "subject": "float32"}
    return {**whose, "answer": said, "breaks": "", "evidence": evidence}


def profile(platform: str, *answers: Any) -> dict[str, Any]:
    return {f"profile {platform}": {"extent": "brief", "seconds": 1.0, "answers": list(answers)}}


def test_the_page_answers_from_the_top_and_every_cell_leads_to_its_details(tmp_path: Path) -> None:
    home = run(tmp_path / "1", record("1"), record("2", implementation="gemm/b/b"), unrun=[["amd", "no device"]])
    far = run(tmp_path / "2", failed("1", cause="explained by: tf32"), record("2", implementation="gemm/b/b"), host=FAR)
    root = page(tmp_path, home, far, gate="wrong", status=1)
    assert root.one("h1").text == "1 of 4 results fails"
    assert "The gate is not met: wrong: 1 record" in root.one("header").text
    first, *_ = section(root, "moves").all("table")
    assert cells(first) == [
        ["from", f"to cpu@{HOME}", f"to cpu@{FAR}"],
        [f"cpu@{HOME}", "-", "1 no"],
        [f"cpu@{FAR}", "1 yes", "-"],
    ]
    assert [cell.attributes["class"] for cell in first.all("td")] == ["empty", "no", "yes", "empty"]
    matrix = root.one("table", id="matrix")
    assert cells(matrix) == [
        ["implementation", f"cpu@{HOME}", f"cpu@{FAR}"],
        ["gemm/torch/eager", "within 0.50", "wrong (1 of 1)"],
        ["gemm/b/b", "within 0.50", "within 0.50"],
    ]
    (bad,) = [cell for cell in matrix.all("td") if cell.attributes["class"] == "fail"]
    details = root.one("article", id=bad.one("a").attributes["href"].removeprefix("#"))
    replay = "python -m pytest --case 1 --implementation gemm/torch/eager --platform cpu"
    assert details.one("pre").text == replay
    assert "explained by: tf32" in details.text
    assert section(root, "failures").one("pre").text == replay
    assert "no device" in section(root, "unrun").text
    assert [row[:2] for row in cells(section(root, "machines").one("table"))[1:]] == [
        [HOME, "2026-01-01"],
        [FAR, "2026-01-01"],
    ]


def test_equal_failures_are_told_once(tmp_path: Path) -> None:
    names = [f"gemm/torch/a{number}" for number in range(10)]
    root = page(
        tmp_path, run(tmp_path / "1", *(failed(implementation=name) for name in names), failed(message="other"))
    )
    headings = [one.text for one in section(root, "failures").all("h3")]
    assert headings == ["wrong 10 results alike", "wrong gemm/torch/eager on cpu 1 of 1, error 7.00 of the bound"]
    replays = [one.text for one in section(root, "failures").all("pre")]
    assert all(any(name in replay for replay in replays) for name in names)


def test_drift_and_what_accounts_for_it_stand_beside_each_other(tmp_path: Path) -> None:
    drift = record(verdict="drift", share=2.0, accounted="declared numerics tf32", digest="b", rms_ulp=1.5)
    root = page(tmp_path, run(tmp_path / "1", record()), run(tmp_path / "2", drift, host=FAR))
    assert cells(section(root, "drift").one("table"))[1] == [
        *("gemm/torch/eager", f"cpu@{HOME}", f"cpu@{FAR}", "1", "0 %", "3.00", "+0", "0.50 to 2.00"),
        "declared numerics tf32",
    ]
    assert root.one("table", id="matrix").all("td")[1].attributes["class"] == "drift"
    (broken,) = [row for row in section(root, "moves").all("tr") if "with drift 1 of 1" in row.text]
    assert broken.children[0].text == "gemm"


def test_a_long_table_of_drifts_is_cut_and_says_so(tmp_path: Path) -> None:
    names = [f"gemm/torch/a{number}" for number in range(MOST_DRIFTS + 3)]
    folders = [
        run(tmp_path / host, *(record(implementation=name) for name in names), host=host) for host in (HOME, FAR)
    ]
    drift = section(page(tmp_path, *folders), "drift")
    assert len(cells(drift.one("table"))) == 1 + MOST_DRIFTS
    assert "And 3 more" in drift.text


def test_profiles_stand_side_by_side_and_their_trees_are_drawn(tmp_path: Path) -> None:
    common = answer("subnormal terms of sums", "kept")
    order = answer("order of sums", "sequential", tree="(((0 1) 2) 3)")
    other = answer("order of sums", "pairwise", tree="((0 1) (2 3))")
    root = page(
        tmp_path,
        run(tmp_path / "1", record(), **profile("cpu", common, order)),
        run(tmp_path / "2", record(platform="gpu"), host=FAR, **profile("gpu", common, other)),
    )
    differing, everything = section(root, "profiles").all("table")
    assert cells(differing) == [
        ["question", "of", "cpu: torch", "gpu: torch"],
        ["order of sums", "float32", "sequential", "pairwise"],
    ]
    assert len(cells(everything)) == 3
    pictures = section(root, "profiles").all("svg")
    assert [one.attributes["aria-label"] for one in pictures] == [
        "cpu, sum/torch/eager: sequential",
        "gpu, sum/torch/eager: pairwise",
    ]
    # A sum of four terms has three additions of two each.
    assert [one.one("path").attributes["d"].count("M") for one in pictures] == [6, 6]


@pytest.mark.parametrize("tree", ["0", "(0)", "(0 0)", "((0 1)", "(0 1))", "()", "(0 <svg>)", "(" * 40000, "(0 1) 2"])
def test_what_is_no_tree_is_not_drawn(tmp_path: Path, tree: str) -> None:
    said = profile("cpu", answer("order of sums", "odd", tree=tree))
    root = page(tmp_path, run(tmp_path / "1", record(), **said))
    assert section(root, "profiles").all("svg") == []


def test_optimizations_are_told_with_their_intervals_and_what_becomes_of_them(tmp_path: Path) -> None:
    here, there = two(1)
    folders = [bundle(tmp_path / "a", [here]), bundle(tmp_path / "b", [there])]
    table = section(page(tmp_path, *folders), "carryover").one("table")
    assert cells(table)[0] == ["technique", "operation", "size", "A", "B", "ratio", "class"]
    assert {row[0]: row[-1] for row in cells(table)[1:]} == {name: answer for name, (_, _, answer) in TRUTHS.items()}
    pictures = {row.children[0].text: row.one("svg") for row in table.one("tbody").children}
    assert [len(pictures[name].all("circle")) for name in ("tiles", "stages")] == [2, 1]
    assert pictures["stages"].attributes["aria-label"].endswith("times as fast; not timed")
    # Below 1 is left of the line, and 1/8 and 8 are the ends of the axis.
    even = float(pictures["online"].one("line", class_="even").attributes["x1"])
    first, second = (float(one.attributes["cx"]) for one in pictures["online"].all("circle"))
    assert second < even == 80.0 < first


def raced(tmp_path: Path, **seconds: dict[str, float]) -> list[Path]:
    """Bundles of a device each, named so, on which implementations take exactly so long."""
    rng = np.random.default_rng(0)
    folders = []
    for device, of in seconds.items():
        arms = [
            Arm(
                implementation=f"gemm/{paradigm}/{technique or 'base'}",
                status="timed",
                technique=technique,
                seconds=(each,) * ROUNDS,
            )
            for name, each in of.items()
            for paradigm, _, technique in [name.partition("/")]
        ]
        folders.append(bundle(tmp_path / device, [heat(rng, device, {}, arms=arms)]))
    return folders


def test_portability_is_the_harmonic_mean_of_efficiencies_and_is_drawn_as_a_cascade(tmp_path: Path) -> None:
    timed = {
        "A": {"cpp": 1.0, "triton": 8.0, "triton/tiles": 2.0},
        "B": {"cpp": 4.0, "triton": 2.0, "triton/tiles": 1.0},
        "C": {"triton": 1.0, "triton/tiles": 1.0},
    }
    root = section(page(tmp_path, *raced(tmp_path, **timed)), "portability")
    summary, paradigms, techniques = root.all("table")
    assert cells(summary) == [
        ["operation", "dtype", "cpp", "triton"],
        ["gemm", "float32", "0 %", "75 %"],  # triton: 3 / (2 + 1 + 1)
        ["median", "", "0 %", "75 %"],
    ]
    assert cells(paradigms) == [
        ["paradigm", "A", "B", "C", "portability"],
        ["cpp", "100 %", "25 %", "-", "0 %"],
        ["triton", "50 %", "100 %", "100 %", "75 %"],
    ]
    assert cells(techniques)[1:] == [
        ["none", "100 %", "50 %", "100 %", "75 %"],
        ["tiles", "50 %", "100 %", "100 %", "75 %"],
    ]
    first, _ = root.all("svg", class_="cascade")
    assert first.attributes["aria-label"].endswith(
        ": triton 75 %: 100 % on B, 100 % on C, 50 % on A; cpp 0 %: 100 % on A, 25 % on B, none on C"
    )
    # From left to right a line falls, to the bottom where nothing ran.
    lines = [[float(dot.attributes["cy"]) for dot in line.all("circle")] for line in first.all("g")]
    assert lines == [[8.0, 8.0, 78.0], [8.0, 113.0, 148.0]]
    assert [line.all("text")[-1].text for line in first.all("g")] == ["triton 75 %", "cpp 0 %"]


def test_the_names_of_a_cascade_keep_apart(tmp_path: Path) -> None:
    """Twelve techniques that are equally slow somewhere end at one point; their names do not."""
    alike = {f"triton/t{number}": 100.0 for number in range(12)}
    root = section(page(tmp_path, *raced(tmp_path, A={"cpp": 1.0, **alike}, B={"cpp": 1.0, **alike})), "portability")
    _, picture = root.all("svg", class_="cascade")
    height = float(picture.attributes["viewbox"].split()[-1])
    places = [float(line.all("text")[-1].attributes["y"]) for line in picture.all("g")]
    assert len(places) == 13
    assert all(later - earlier >= 14.0 for earlier, later in pairwise(places))
    assert places[-1] < height


def test_one_device_has_no_portability(tmp_path: Path) -> None:
    root = page(tmp_path, *raced(tmp_path, A={"cpp": 1.0, "triton": 2.0}))
    assert root.all("section", id="portability") == root.all("svg", class_="cascade") == []


def agreed(*groups: list[str], operation: str = "gemm", **pair: Any) -> dict[str, Any]:
    """What a run says of groups, and of the first and the last of them if it says anything."""
    known = {"open": 0, "differing": 1, "cause": "", **pair}
    pairs = [{"one": groups[0][0], "other": groups[-1][0], **known}] if pair else []
    return {f"agreement {operation}": [{"dtype": "float32", "cases": 1, "groups": list(groups), "pairs": pairs}]}


def test_groups_of_equal_outputs_are_told_of_each_machine_s_last_run(tmp_path: Path) -> None:
    eager, fused, unrolled = "gemm/torch/eager@cpu", "gemm/triton/fused@cpu", "gemm/triton/unrolled@cpu"
    folders = [
        run(tmp_path / "1", record(), started="2026-01-01", **agreed([eager, fused, unrolled])),
        run(tmp_path / "2", record(), started="2026-01-02", **agreed([eager], [fused, unrolled], share=1.5)),
        run(tmp_path / "3", record(), started="2026-01-03", **agreed(["gemm/torch/eager@card"])),
        run(tmp_path / "nobody", record(), **agreed(operation="sum")),
        run(tmp_path / "4", record(), host=FAR, **agreed([eager, fused], [unrolled], share=0.5, cause="tf32")),
    ]
    here, there = section(page(tmp_path, *folders), "agreement").all("table")
    assert [table.one("caption").text for table in (here, there)] == [
        f"Groups of equal outputs on {host}" for host in (HOME, FAR)
    ]
    assert cells(here)[1:] == [
        ["gemm", "float32", "triton/fused,unrolled@cpu", "", ""],
        ["gemm", "float32", "torch/eager@card", "", ""],
        ["gemm", "float32", "torch/eager@cpu", "1.50", ""],
    ]
    assert [one.text for one in here.all("td", class_="number fail")] == ["1.50"]
    assert cells(there)[1:] == [
        ["gemm", "float32", "torch/eager@cpu = triton/fused@cpu", "", ""],
        ["gemm", "float32", "triton/unrolled@cpu", "0.50", "tf32"],
    ]


def test_rules_that_are_broken_and_hardware_that_is_absent_are_told(tmp_path: Path) -> None:
    broken = {**answer("operands of products", "tf32, truncated"), "breaks": "declares ieee, and takes tf32"}
    compiled = {"compilers": ["ptxas 12.8"], "headings": ["target", "fits"], "rows": [["sm_120", 3]], "remarks": ["a"]}
    root = page(tmp_path, run(tmp_path / "1", record(), targets=compiled, **profile("cpu", broken)))
    (told,) = section(root, "profiles").all("li")
    assert told.text == "cpu, sum/torch/eager: declares ieee, and takes tf32"
    assert cells(section(root, "absent").one("table")) == [["target", "fits"], ["sm_120", "3"]]
    assert "ptxas 12.8" in section(root, "absent").text


@pytest.mark.parametrize("kind", ["html", "markdown", "json", "junit", "profiles"])
def test_profiles_of_earlier_versions_are_read_as_what_they_have(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything was declared no answer could break it, and before trees were drawn none had evidence."""
    early = {"machine": "sum/torch/eager", "topic": "order of sums", "subject": "float32", "answer": "pairwise"}
    late = answer("order of sums", "sequential", tree="(((0 1) 2) 3)")
    folders = [
        run(tmp_path / host, record(), host=host, **profile("cpu", said)) for host, said in ((HOME, early), (FAR, late))
    ]
    assert main([kind, *map(str, folders)]) == (kind == "profiles")  # that differ on one platform
    said = capsys.readouterr().out
    assert kind == "junit" or ("pairwise" in said and "sequential" in said)


def test_errors_are_counted_by_share_of_the_bound(tmp_path: Path) -> None:
    several = [record(str(share), share=share) for share in (0.0, 0.0, 0.3, 0.4, 0.9)]
    root = page(tmp_path, run(tmp_path / "1", *several, failed("x", share=float("inf"))))
    (picture,) = root.all("svg", class_="histogram")
    assert [bar.text for bar in picture.all("title")] == [
        *("exact: 2", "up to 0.01: 0", "0.01 to 0.10: 0", "0.10 to 0.25: 0", "0.25 to 0.50: 2", "0.50 to 0.75: 0"),
        *("0.75 to 1.00: 1", "1.00 to 10.00: 0", "above 10.00: 1"),
    ]


def test_nothing_in_a_bundle_becomes_markup_or_is_fetched(tmp_path: Path) -> None:
    one = run(
        tmp_path / "1",
        failed('{"x":"</pre><b>"}', message=HOSTILE, cause=HOSTILE, implementation="gemm/torch/<b>\"'"),
        record(verdict="drift", accounted=HOSTILE, platform="<i>cpu"),
        host=HOSTILE,
        unrun=[[HOSTILE, HOSTILE]],
        portolan=HOSTILE,
        **profile("<i>cpu", answer(HOSTILE, HOSTILE, tree=HOSTILE)),
        **agreed([f"gemm/torch/<b>@{HOSTILE}"], ["gemm/a/b@c"], operation=HOSTILE, share=1, cause=HOSTILE),
    )
    root = page(tmp_path, one, run(tmp_path / "2", record(platform="<i>cpu"), host="other", started=HOSTILE))
    assert root.all("img") == root.all("b") == root.all("i") == []
    assert "49" not in section(root, "failures").text
    assert HOSTILE in section(root, "failures").text
    assert section(root, "profiles").all("th", scope="row")[0].text == HOSTILE
    # Only the one script of the document may run, and nothing may be loaded.
    (script,) = root.all("script")
    digest = base64.b64encode(hashlib.sha256("".join(script.pieces).encode()).digest()).decode()
    policy = root.one("meta", http_equiv="Content-Security-Policy").attributes["content"]
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest}'" in policy
    for node in everything(root):
        assert not any(name.startswith("on") or name in ("src", "style") for name in node.attributes)
        assert node.attributes.get("href", "#").startswith("#")


def test_every_table_has_headings_and_a_name_and_every_field_a_label(tmp_path: Path) -> None:
    home = run(tmp_path / "1", record("1"), **profile("cpu", answer("a", "b")), unrun=[["x", "y"]])
    root = page(tmp_path, home, run(tmp_path / "2", failed("1", platform="gpu"), started="2027"))
    for table in root.all("table"):
        assert table.one("caption").text
        head, body = table.one("thead"), table.one("tbody")
        assert {cell.attributes["scope"] for cell in head.all("th")} == {"col"}
        assert all(row.children[0].attributes.get("scope") == "row" for row in body.children)
        assert {len(row.children) for row in (*head.children, *body.children)} == {len(head.children[0].children)}
    labelled = [child for label in root.all("label") for child in label.children]
    fields = [*root.all("input"), *root.all("select")]
    assert fields
    assert all(field in labelled for field in fields)
    # What axe asks: a name only on what has a role that takes one, and each landmark once by its name.
    roled = {"section", "nav", "form", "svg"}
    named = [node for node in everything(root) if "aria-label" in node.attributes]
    assert [node.tag for node in named if "role" not in node.attributes and node.tag not in roled] == []
    landmarks = [node for node in everything(root) if node.attributes.get("role") == "region" or node.tag == "section"]
    titles = {node.attributes["id"]: node.text for node in root.all("h2")}
    names = [node.attributes.get("aria-label") or titles[node.attributes["aria-labelledby"]] for node in landmarks]
    assert len(names) == len(set(names)) >= 4
    anchors = {node.attributes.get("id") for node in everything(root)}
    assert {link.attributes["href"].removeprefix("#") for link in root.all("a")} <= anchors
    levels = [int(node.tag[1]) for node in everything(root) if re.fullmatch(r"h\d", node.tag)]
    assert levels[0] == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))


@pytest.mark.parametrize("theme", [":root {", '[data-theme="light"]) {', '[data-theme="dark"] {'])
def test_texts_stand_out_from_what_is_behind_them(theme: str) -> None:
    """By the contrast that WCAG 2.2 asks of small texts."""
    style = (Path(html.__file__).parent / "style.css").read_text(encoding="utf-8")
    colours = dict(re.findall(r"--([\w-]+): #(\w{6});", style.partition(theme)[2].partition("}")[0]))
    behind: dict[str, tuple[str, ...]] = {
        "ink": ("paper", "raised"),
        "soft": ("paper", "raised"),
        "accent": ("paper", "raised"),
    }
    behind |= {f"{name}-ink": (name, "paper", "raised") for name in ("pass", "drift", "fail", "none")}
    assert len(colours) == 6 + 8
    for text, grounds in behind.items():
        for ground in grounds:
            lighter, darker = sorted((_luminance(colours[text]), _luminance(colours[ground])), reverse=True)
            assert (lighter + 0.05) / (darker + 0.05) >= 4.5, (text, ground)


def _luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.skipif(BROWSER is None, reason="no Chromium to open the page in")
def test_a_browser_opens_it_and_its_filters_work(tmp_path: Path) -> None:
    """The policy lets the script run, which shows the filters and counts what they leave."""
    page(tmp_path, run(tmp_path / "1", record("1"), failed("1", implementation="gemm/b/b")))
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'browser'}", "--dump-dom"]
    opened = subprocess.run(
        [str(BROWSER), *flags, (tmp_path / "audit.html").as_uri()], capture_output=True, text=True, timeout=120
    )
    reader = _Reader()
    reader.feed(opened.stdout)
    (root,) = reader.open
    form = section(root, "results").one("form")
    assert "hidden" not in form.attributes
    assert form.one("output").text == "2 of 2 implementations"


def test_what_judged_nothing_does_not_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = run(tmp_path / "1", unrun=[["amd", "no device"]])
    idle = run(tmp_path / "2", record(verdict="unsupported", share=None, rms_ulp=None, bias_ulp=None))
    for folder, sections in ((empty, ["unrun", "machines"]), (idle, ["results", "machines"])):
        root = page(tmp_path, folder)
        title = root.one("h1")
        assert (title.text, title.attributes["class"]) == ("Nothing was judged", "")
        assert [one.attributes["id"] for one in root.all("section")] == sections
        assert main(["markdown", str(folder)]) == 0
        assert capsys.readouterr().out.startswith("## Portolan: nothing was judged\n")


def test_facts_that_no_run_writes_are_one_clear_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd: dict[str, Any] = {"profile cpu": {"extent": "brief", "answers": ["fast"]}, "targets": {"rows": 3}}
    odd |= {"agreement gemm": [{"dtype": "float32", "groups": [["gemm"]], "pairs": []}]}
    for number, (name, said) in enumerate(odd.items()):
        bundle = run(tmp_path / str(number), record(), **{name: said})
        assert main(["html", str(bundle), "--out", str(tmp_path / "audit.html")]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert f'"{name}" must' in error
