"""The precision contracts in writing: accuracies of functions, and what an implementation may declare."""

from __future__ import annotations

from golden.accuracy import TABLES, Accuracy
from golden.dtypes import FLOATS
from golden.numerics import WORDS
from golden.precision import Precision
from kernels.operation import Operation
from suites.tables.markdown import document, table


def precision() -> str:
    """Return the document."""
    columns = [("full", "float64"), ("full", "float32"), ("fast", "float32")]
    functions = [
        [name, *(_accuracy(TABLES[kind][dtype][name]) for kind, dtype in columns)] for name in TABLES["full"]["float32"]
    ]
    return document(
        "Precision",
        "What roundings a correct implementation may make, and so what its bound is made of. Made by "
        "`python -m suites.tables precision` from `golden/precision.py`, `accuracy.py` and `numerics.py`.",
        "## What contracts ask for",
        table(["dtype", "computed in", "operands of matrix products"], [_computed(dtype) for dtype in FLOATS]),
        "Additions and multiplications are rounded to nearest; a multiplication and the addition after it may be "
        "fused. Sums may be taken in any order: n roundings are granted, of which a good implementation's have random "
        "signs. Products, quotients and functions may flush subnormal results. A contract may say otherwise (add and "
        "relu make no rounding but the last).",
        "## Accuracy of functions, in ULP",
        "The OpenCL C specification's tables; x is the argument, and what follows *or* is an absolute error. `fast` is "
        'what `numerics="fast-math"` declares.',
        table(["function", *(f"{dtype}, {kind}" for kind, dtype in columns)], functions),
        "## What an implementation may declare",
        "`numerics=` takes one word or several joined by `+`. It is then judged by that, and the report lists it.",
        table(["word", "meaning"], [[f"`{word}`", sentence] for word, (sentence, _) in WORDS.items()]),
    )


def _computed(dtype: str) -> list[str]:
    asked: Precision = Operation().precision(dtype)
    fed = f"computed ones may be rounded to {asked.fed} first" if asked.fed else "as they are"
    return [dtype, asked.compute, fed]


def _accuracy(accuracy: Accuracy) -> str:
    if accuracy.ulp <= 0.5:
        return "rounded to nearest"
    slope = f" + {accuracy.slope:g} abs(x)" if accuracy.slope else ""
    return f"{accuracy.ulp:g}{slope}" + (f", or {accuracy.absolute:.2g}" if accuracy.absolute else "")
