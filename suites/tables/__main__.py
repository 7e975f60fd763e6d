"""Print or write the tables of the docs: ``python -m suites.tables``, with the kinds of table or nothing for all."""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from kernels.registry import Catalogue, load
from suites.tables.detection import detection
from suites.tables.differences import explained_differences
from suites.tables.markdown import Page
from suites.tables.policies import policies
from suites.tables.precision import precision
from suites.tables.profiles import drawings, profiles
from suites.tables.teeth import teeth
from suites.tables.vendors import vendors

KINDS = ("policies", "precision", "teeth", "tightness", "profiles", "causes", "differences", "vendors", "detection")
DOCS = Path(__file__).resolve().parents[2] / "docs"


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the tables that were asked for, all by default."""
    parser = argparse.ArgumentParser(prog="python -m suites.tables", description="the tables of the docs")
    parser.add_argument("kinds", nargs="*", default=[], metavar="KIND", help=f"{', '.join(KINDS)} (default: all)")
    parser.add_argument("--write", action="store_true", help="write them to docs/ instead of printing them")
    parser.add_argument("--cases", type=int, default=200, help="drawn cases for each operation and dtype (default 200)")
    parser.add_argument("--budget", type=int, default=2**13, help="elements a tensor (default 8192)")
    parser.add_argument("--platform", action="append", default=[], help="for tightness: only this platform; repeatable")
    parser.add_argument(
        "--bundle", action="append", default=[], type=Path, metavar="DIR", help="for differences: a run's; repeatable"
    )
    parser.add_argument(
        "--operation",
        action="append",
        default=[],
        help="only this operation, whose rows replace those of it in the written table; repeatable",
    )
    parser.add_argument(
        "--paradigm", action="append", default=[], help="for tightness: only this paradigm, likewise; repeatable"
    )
    parser.add_argument("--seeds", type=int, default=3, help="for causes: inputs of each planted drift (default 3)")
    parser.add_argument("-j", type=int, default=os.cpu_count() or 1, help="for causes: processes (default: all cores)")
    asked = parser.parse_args(arguments)
    unknown = [kind for kind in asked.kinds if kind not in KINDS]
    if unknown:
        parser.error(f"unknown kind of table {unknown[0]!r}; there are {', '.join(KINDS)}")
    if "differences" in asked.kinds and not asked.bundle:
        parser.error("differences are read from what runs have left: give --bundle DIR, for each of them")
    for name, text in _documents(asked, load()):
        if asked.write:
            DOCS.mkdir(exist_ok=True)
            (DOCS / f"{name}.md").write_text(text, encoding="utf-8")
            print(f"wrote docs/{name}.md", flush=True)
            if name == "profiles":
                for picture, svg in drawings(DOCS / "profiles"):
                    (DOCS / "profiles" / picture).write_text(svg, encoding="utf-8")
        else:
            print(text, flush=True)


def _documents(asked: argparse.Namespace, catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    kinds = asked.kinds or KINDS
    every = catalogue.whole.operations
    operations = {name: one for name, one in every.items() if not asked.operation or name in asked.operation}
    if "policies" in kinds:
        yield "policies", policies(operations)
    if "precision" in kinds:
        yield "precision", precision()
    if "teeth" in kinds:
        page = _page("teeth", asked, set(every) - set(operations))
        yield "teeth", teeth(operations, cases=asked.cases, budget=asked.budget, page=page)
    if "profiles" in kinds:
        yield "profiles", profiles(DOCS / "profiles")
    if "vendors" in kinds:
        yield "vendors", vendors()
    if "detection" in kinds:
        yield "detection", detection()
    if "causes" in kinds:
        from suites.tables.causes import planted  # which needs torch

        yield "causes", planted(DOCS / "explained", seeds=asked.seeds, processes=asked.j)
    if "differences" in kinds and asked.bundle:
        page = _page("differences", asked, set(catalogue.operations) - set(operations))
        yield "differences", explained_differences(asked.bundle, page)
    if "tightness" in kinds:
        yield from _tightness(asked, catalogue)


def _page(name: str, asked: argparse.Namespace, others: Collection[str]) -> Page:
    """Return the page of that name as it is written, of which rows about ``others`` stay."""
    path = DOCS / f"{name}.md"
    return Page(path.read_text(encoding="utf-8"), others) if asked.write and path.exists() else Page()


def _tightness(asked: argparse.Namespace, catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    # Only this table needs torch and a machine to run kernels on.
    from platforms.detect import detect
    from platforms.gather import probe
    from platforms.pool import Pool
    from suites.subject import Selection, select
    from suites.tables.tightness import tightness

    selection = Selection.of(asked.platform, asked.operation, asked.paradigm, [])
    subjects, _ = select(catalogue, detect(probe()), selection)
    plain = [one for one in subjects if one.implementation.numerics == "ieee"]
    with Pool() as pool:
        for platform in dict.fromkeys(one.platform.name for one in plain):
            here = [one for one in plain if one.platform.name == platform]
            name = f"tightness-{platform}"
            page = _page(name, asked, set(catalogue.implementations) - {one.implementation.id for one in here})
            yield name, tightness(here, here[0].platform, pool, cases=asked.cases, budget=asked.budget, page=page)


if __name__ == "__main__":
    main()
