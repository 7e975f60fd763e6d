"""What an exception says of a kernel that cannot run on a device: it does not compile, or it does not fit.

Toolchains are known by the names of their exceptions, so that none of them is imported here.
"""

from __future__ import annotations

from platforms.far import NoMemory
from platforms.limits import out_of_memory

_FIT = ("OutOfResources",)
_COMPILE = ("CompilationError", "CompileTimeAssertionFailure", "BuildError", "InductorError", "BackendCompilerFailed")


def obstacle(error: BaseException) -> str:
    """Return "does not fit", "does not compile", or "failed" for anything else that a kernel raised."""
    chain = []
    one: BaseException | None = error
    while one is not None and one not in chain:
        chain.append(one)
        one = one.__cause__ or one.__context__
    names = {kind.__name__ for one in chain for kind in type(one).__mro__}
    if names.intersection(_FIT) or any(isinstance(one, NoMemory) or out_of_memory(one) for one in chain):
        return "does not fit"
    return "does not compile" if names.intersection(_COMPILE) else "failed"
