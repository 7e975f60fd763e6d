"""A no-op in the source changes no bit: a dead store at the head of every function, of those in C too.

The file of the implementation is written anew with it, and the sources in C++ of its name, and is imported from there.
"""

from __future__ import annotations

import ast
import atexit
import functools
import re
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from kernels import registry
from kernels.registry import Implementation
from platforms.contracts import NotApplicable
from platforms.contracts.bits import differing
from platforms.execution import Bench, Call, execute
from platforms.outcome import Damage
from platforms.paradigm import paradigm_of

_SOURCES = (".cpp", ".cu", ".mlu")

_BODY = re.compile(r"\)\s*\{")
"""Where a body begins in C, of a function or of a statement in one."""

_STORE = "{ int unused_by_anybody = 0; (void)unused_by_anybody; }"


def check(bench: Bench) -> Call:
    """Return a call; damaged if one of the reworded kernel returns other bits."""
    if paradigm_of(bench.implementation.paradigm).costly:
        raise NotApplicable("what it computes is built anew for nearly every case already")
    call = execute(bench)
    again = replace(bench, function=_reworded(bench.implementation).function).call()
    if call.message or again.message:
        if again.message and not call.message:
            raise NotApplicable(f"with a no-op in its source it does not run: {again.message.splitlines()[0]}")
        return call
    difference = differing(call.results, again.results)
    if difference and bench.implementation.deterministic and not differing(call.results, bench.call().results):
        call.damage.append(Damage("inconsistent", f"with a no-op in its source {difference}"))
    return call


class _DeadStores(ast.NodeTransformer):
    """Puts a dead store at the head of every function, and of every body in a string that is a kernel in C."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        after = 1 if ast.get_docstring(node, clean=False) is not None else 0
        node.body[after:after] = ast.parse("unused_by_anybody = 0").body
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if isinstance(node.value, str) and "__kernel" in node.value:
            return ast.copy_location(ast.Constant(_with_dead_stores(node.value)), node)
        return node


def _with_dead_stores(text: str) -> str:
    return _BODY.sub(lambda found: f"{found[0]} {_STORE}", text)


@functools.cache
def _reworded(implementation: Implementation) -> Implementation:
    """Return an implementation as its reworded file registers it; raises NotApplicable."""
    folder, source = Path(tempfile.mkdtemp(prefix="portolan-reworded-")), Path(implementation.source)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for other in (source.with_suffix(suffix) for suffix in _SOURCES):
        if other.is_file():
            (folder / other.name).write_text(_with_dead_stores(other.read_text()))
    file = folder / source.name
    file.write_text(ast.unparse(ast.fix_missing_locations(_DeadStores().visit(ast.parse(source.read_text())))))
    again = registry.load_again(implementation, file)
    if again is None:
        raise NotApplicable("it is not what its file registers")
    return again
