"""Which operations and implementations there are: the decorator that registers one, and the catalogue of all.

A file whose toolchain is not installed is reported absent, with the reason; any other fault in a kernel file is one
clear :class:`KernelFileError`.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import pkgutil
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from golden import numerics as declarations
from golden.case import Case
from kernels import features
from kernels.operation import DECLARED, Operation

TOOLCHAINS = {
    "torch": "torch",
    "inductor": "torch",
    "triton": "triton",
    "ninetoothed": "ninetoothed",
    "tilelang": "tilelang",
    "opencl": "pyopencl",
}
"""The module that each paradigm's files need. A paradigm that is not listed needs whatever its file imports."""

_BUILT_IN = Path(__file__).parent
_SHARED = "toolchains"  # the folder of what the files of one paradigm share; it holds no operation


class KernelFileError(Exception):
    """A kernel file cannot be used; the message names the file and says what would be right."""


def nothing(case: Case) -> str:
    """What an implementation refuses that is written for every case of its dtypes."""
    return ""


@dataclass(frozen=True)
class Implementation:
    """One way to compute an operation.

    Attributes:
        operation, paradigm, name: the three parts of its ``id``.
        function: takes torch tensors and keyword parameters, returns a new tensor.
        optimizes, technique: the name of the implementation that it makes faster, and how; one of another paradigm is
            named with it, as "torch/eager".
        numerics: what it declares of its arithmetic, words of :data:`golden.numerics.WORDS`.
        dtypes: the element types it is written for; None for all that the operation has.
        needs: what it needs of a platform beside its paradigm, of :data:`kernels.features.FEATURES`.
        deterministic: whether it declares that equal calls return equal bits. One that does not, made of atomics say,
            has its spread measured.
        refuses: says of a case why it is not written for it, or "".
        batch_invariant: whether it declares that no bit of a row depends on other rows, or on how many there are; of a
            message between ranks, on what is sent with it.
        helpers: operators of torch that do a part of the work, such as "sort", where another paradigm does the rest.
        source: the file that it stands in.
    """

    operation: str
    paradigm: str
    name: str
    function: Callable[..., Any] = field(repr=False)
    optimizes: str | None = None
    technique: str | None = None
    numerics: str = "ieee"
    dtypes: tuple[str, ...] | None = None
    needs: tuple[str, ...] = ()
    deterministic: bool = True
    refuses: Callable[[Case], str] = nothing
    batch_invariant: bool = False
    helpers: tuple[str, ...] = ()
    source: str = ""

    @property
    def id(self) -> str:
        return f"{self.operation}/{self.paradigm}/{self.name}"

    @property
    def base(self) -> str:
        """The id of the implementation that it makes faster, or ""."""
        if not self.optimizes:
            return ""
        paradigm = "" if "/" in self.optimizes else f"{self.paradigm}/"
        return f"{self.operation}/{paradigm}{self.optimizes}"


@dataclass(frozen=True)
class Catalogue:
    """Everything that was loaded. ``absent`` maps ``operation/paradigm`` or a file to why it could not be.

    ``collectives`` holds the operations that are spread over ranks, and what computes them: an implementation of one is
    what each of several processes does, and cannot be called by itself.
    """

    operations: dict[str, Operation]
    implementations: dict[str, Implementation]
    absent: dict[str, str]
    collectives: Catalogue | None = None

    @property
    def whole(self) -> Catalogue:
        """This catalogue with the operations over ranks among the others: to be told of, and not to be run."""
        spread = self.collectives
        if spread is None:
            return self
        return replace(
            self,
            operations=dict(sorted({**self.operations, **spread.operations}.items())),
            implementations={**self.implementations, **spread.implementations},
        )


_IMPLEMENTATIONS: list[Implementation] = []
_ABSENT: dict[str, tuple[str, str]] = {}  # module name -> (what is absent, why)


def implementation(
    operation: str,
    *,
    paradigm: str,
    name: str | None = None,
    optimizes: str | None = None,
    technique: str | None = None,
    numerics: str = "ieee",
    dtypes: Sequence[str] | None = None,
    needs: Sequence[str] = (),
    deterministic: bool = True,
    refuses: Callable[[Case], str] = nothing,
    batch_invariant: bool = False,
    helpers: Sequence[str] = (),
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that registers a function as one implementation of ``operation``.

    Its name is the function's, unless ``name`` says another. Raises KernelFileError for numerics or needs that are not
    known.
    """
    try:
        declarations.check(numerics)
        features.check(needs)
    except ValueError as error:
        raise KernelFileError(f"{operation}/{paradigm}: {error}") from None

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        _IMPLEMENTATIONS.append(
            Implementation(
                operation=operation,
                paradigm=paradigm,
                name=name or function.__name__,
                function=function,
                optimizes=optimizes,
                technique=technique,
                numerics=numerics,
                dtypes=tuple(dtypes) if dtypes is not None else None,
                needs=tuple(needs),
                deterministic=deterministic,
                refuses=refuses,
                batch_invariant=batch_invariant,
                helpers=tuple(helpers),
                source=function.__code__.co_filename if hasattr(function, "__code__") else function.__module__,
            )
        )
        return function

    return register


def load(paths: Iterable[str | Path] = ()) -> Catalogue:
    """Return the catalogue of this package and of the kernel files and folders in ``paths``.

    May be called again, with other paths too: a file is imported once. Raises KernelFileError.
    """
    modules = [_import_built_in(name) for name in _built_in_modules()]
    modules += [_import_file(file) for path in paths for file in _files_of(Path(path))]
    # In the order of the files, also where one of them has imported another before its turn.
    order = {module: number for number, module in enumerate(modules)}
    operations: dict[str, Operation] = {}
    contracts = [one for one in DECLARED if one.__module__ in order]
    for contract in sorted(contracts, key=lambda one: order[one.__module__]):
        _add_operation(operations, contract)
    implementations: dict[str, Implementation] = {}
    registered = [one for one in _IMPLEMENTATIONS if one.function.__module__ in order]
    for one in sorted(registered, key=lambda one: order[one.function.__module__]):
        _add_implementation(implementations, one, operations)
    _check_ladders(implementations)
    absent = dict(_ABSENT[module] for module in modules if module in _ABSENT)
    spread = {name for name, operation in operations.items() if operation.spread}
    return replace(
        _part(operations, implementations, set(operations) - spread, absent),
        collectives=_part(operations, implementations, spread, absent),
    )


def _part(
    operations: dict[str, Operation],
    implementations: dict[str, Implementation],
    names: set[str],
    absent: dict[str, str],
) -> Catalogue:
    """Return the catalogue of the operations called ``names``."""
    return Catalogue(
        {name: one for name, one in operations.items() if name in names},
        {name: one for name, one in implementations.items() if one.operation in names},
        absent,
    )


def load_again(one: Implementation, file: Path) -> Implementation | None:
    """Return ``one`` as ``file``, another copy of its source, registers it; None if it does not.

    No catalogue has it. Raises whatever the file raises.
    """
    before = len(_IMPLEMENTATIONS)
    try:
        _execute(f"{one.function.__module__}_again_{file.parent.name}", file)
        return next((other for other in _IMPLEMENTATIONS[before:] if other.id == one.id), None)
    finally:
        del _IMPLEMENTATIONS[before:]


def _built_in_modules() -> list[str]:
    names = []
    for folder in pkgutil.iter_modules([str(_BUILT_IN)]):
        if folder.ispkg and folder.name != _SHARED:
            names.append(f"kernels.{folder.name}")
            files = pkgutil.iter_modules([str(_BUILT_IN / folder.name)])
            names += [f"kernels.{folder.name}.{file.name}" for file in files if not file.name.startswith("_")]
    return names


def _files_of(path: Path) -> list[Path]:
    if path.is_dir():
        files = sorted(file for file in path.rglob("*.py") if not file.name.startswith("_"))
        if not files:
            raise KernelFileError(f"no kernel file (*.py) in the folder {path}")
        return files
    if not path.is_file():
        raise KernelFileError(f"no kernel file or folder {path}")
    return [path]


def _import_built_in(module: str) -> str:
    _, operation, *paradigm = module.split(".")
    what = f"{operation}/{paradigm[0]}" if paradigm else operation
    return _import(module, what, lambda: importlib.import_module(module))


def _import_file(file: Path) -> str:
    file = file.resolve()
    module = f"kernel_file_{hashlib.sha256(str(file).encode()).hexdigest()[:12]}_{file.stem}"
    return _import(module, str(file), lambda: _execute(module, file))


def _execute(name: str, file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise KernelFileError(f"{file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _import(module: str, what: str, execute: Callable[[], ModuleType]) -> str:
    """Import a kernel module once; an absent toolchain is noted, everything else is a KernelFileError."""
    if module in sys.modules or module in _ABSENT:
        return module
    try:
        execute()
    except KernelFileError:
        raise
    except ImportError as error:
        if (error.name or "").split(".")[0] not in TOOLCHAINS.values():
            raise KernelFileError(_describe(what, error)) from error
        _ABSENT[module] = (what, f"its toolchain does not import: {error}{_remedy(what)}")
    except Exception as error:
        raise KernelFileError(_describe(what, error)) from error
    return module


def _remedy(what: str) -> str:
    """Return how to install the toolchain of ``operation/paradigm``, where pip can; else ""."""
    file = f"requirements-{what.partition('/')[2]}.txt"
    return f"; python -m pip install -r {file}" if (_BUILT_IN.parent / file).is_file() else ""


def _describe(what: str, error: Exception) -> str:
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: {error.msg}: {(error.text or '').strip()}"
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{what} does not import: {type(error).__name__}: {error} ({place.filename}:{place.lineno})"


def _add_operation(operations: dict[str, Operation], contract: type[Operation]) -> None:
    if not contract.name:
        raise KernelFileError(f"the operation {contract.__qualname__} in {contract.__module__} has no name")
    if contract.name in operations:
        raise KernelFileError(f"the operation {contract.name!r} is defined twice, the second time as {contract}")
    operations[contract.name] = contract()


def _add_implementation(
    known: dict[str, Implementation], one: Implementation, operations: dict[str, Operation]
) -> None:
    if one.operation not in operations:
        raise KernelFileError(
            f"{one.source} registers {one.id!r}, but there is no operation {one.operation!r}; "
            f"there are {', '.join(sorted(operations))}"
        )
    if one.id in known:
        raise KernelFileError(f"{one.id!r} is registered twice: in {known[one.id].source} and in {one.source}")
    unknown = set(one.dtypes or ()) - set(operations[one.operation].dtypes)
    if unknown:
        raise KernelFileError(f"{one.source}: {one.id} names dtypes that {one.operation} lacks: {sorted(unknown)}")
    known[one.id] = one


def _check_ladders(implementations: dict[str, Implementation]) -> None:
    for one in implementations.values():
        if one.base and one.base not in implementations:
            raise KernelFileError(f"{one.source}: {one.id} optimizes {one.base}, which is not there")
