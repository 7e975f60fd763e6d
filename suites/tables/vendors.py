"""The vendors in writing: what a platform's file says of each, and what the first contact with a card has to settle."""

from __future__ import annotations

from collections.abc import Iterator

from kernels.toolchains.compiler import GUESS, NVCC, Compiler
from platforms.claims import KNOWN
from platforms.vendor import Card, Vendor
from platforms.vendors import VENDORS
from suites.tables.markdown import document, table


def vendors() -> str:
    """Return the document."""
    there = [one.vendor for one in VENDORS]
    without = [vendor.title for vendor in KNOWN if vendor not in there]
    return document(
        "Vendors",
        "What is known of each vendor's software and cards, from its file in `platforms/vendors/`. Portolan has run on "
        f"cards of {', '.join(one.title for one in there if one.met)} alone: **all else on this page was read, "
        "not measured**, with the source beside it. A dtype, a compiler or a limit is tried on the machine and "
        f"never taken from here. Recognised, and without a file yet: {', '.join(without)}. Made by "
        "`python -m suites.tables vendors`.",
        "## Names",
        table(
            [
                "platform",
                "vendor",
                "device",
                "extension",
                "its tool",
                "visible devices",
                "collectives",
                "graph",
                "runs",
            ],
            [
                [
                    one.name,
                    one.title,
                    f"`{one.kind}`",
                    _code(one.extension),
                    _code(one.tool),
                    _code(one.visible),
                    f"{_code(one.collective)} ({one.library})" if one.library else _code(one.collective),
                    _code(one.graph),
                    ", ".join(platform.paradigms),
                ]
                for platform in VENDORS
                for one in [platform.vendor]
            ],
        ),
        "## Limits",
        table(
            ["platform", "card", "lanes", "threads of a block", "shared memory, bytes", "grid", "units", "source"],
            [[one.name, *_limits(card)] for one in there for card in one.cards],
        ),
        "## Numbers",
        table(
            ["platform", "torch multiplies float32 by", "Triton's dot of float32", "warps", "stages", "dtypes"],
            [
                [
                    one.name,
                    one.products,
                    one.triton.get("dot", ""),
                    one.triton.get("warps", ""),
                    one.triton.get("stages", ""),
                    "; ".join(f"{dtype}: {said}" for dtype, said in one.dtypes.items()),
                ]
                for one in there
            ],
        ),
        "## Compilers",
        "What has C++ of a vendor compiled, and what it is told, with where that was read. None but nvcc has been met.",
        table(
            ["platform", "paradigm", "compiler", "its toolkit", "told", "where that was read"],
            [[name, *_compiler(compiler)] for name, compiler in _COMPILERS.items()],
        ),
        *(part for one in there for part in _of(one)),
    )


def _of(vendor: Vendor) -> Iterator[str]:
    yield f"## {vendor.title}"
    if not vendor.met:
        yield f"Not met yet. On its machine: `tox -e {vendor.toxenv}`, after these steps:"
    yield "\n".join(f"{number}. {step}" for number, step in enumerate(vendor.setup, 1))
    if vendor.gaps:
        yield table(["reported", "source"], [[gap.what, gap.source] for gap in vendor.gaps])
    if not vendor.met:
        yield "At the first contact with a card, settle what is a guess so far:"
        yield "\n".join(f"- [ ] {one}" for one in (*_EVERYWHERE, *vendor.guesses))


_EVERYWHERE = (
    "`python -m platforms` names the platform and the sign that it went by",
    "`python -m platforms --try` starts its worker and tells which dtypes and paradigms it lacks",
    "`python -m platforms profile` answers, and `pytest suites/test_numerics.py` finds nothing undeclared",
    "`pytest suites/test_contracts.py` runs streams and graphs, or says why not",
)
"""What is to be tried on every new card."""


_COMPILERS = {"nvidia": NVCC, **{one.vendor.name: one.vendor.compiler for one in VENDORS if one.vendor.compiler}}


def _compiler(one: Compiler) -> list[object]:
    places = f"{', '.join(one.home)}; {one.folder}"
    read = "; ".join(
        f"`{flags}`: {'**a guess**' if source == GUESS else source}" for flags, source in one.sources.items()
    )
    return [one.paradigm, " or ".join(map(_code, one.names)), places, _code(one.told()), read]


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _limits(card: Card) -> list[object]:
    numbers = [card.lanes, card.threads, card.shared, " x ".join(map(str, card.grid)), card.units]
    return [card.name, *("" if number is None else number for number in numbers), card.source]
