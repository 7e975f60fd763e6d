"""Tables of the docs that are made one operation at a time."""

from __future__ import annotations

from suites.tables.markdown import Page, document, table

HEADERS = ("implementation", "median")


def test_rows_about_what_is_not_made_anew_stay_as_they_are() -> None:
    rows = [["gemm/torch/eager", "0.1"], ["gemm_bias/torch/eager", "a|b"], ["relu", ""]]
    text = document("Page", "Why | so.", table(HEADERS, rows), "And", table(["implementation", "why"], [["relu", "c"]]))
    assert Page(text, {"gemm_bias/torch/eager", "relu"}).rows(HEADERS) == rows[1:]
    assert Page(text, {"relu"}).rows(("implementation", "why")) == [["relu", "c"]]
    assert Page(text, {"relu"}).rows(("implementation", "cases")) == []
    assert Page().rows(HEADERS) == []
