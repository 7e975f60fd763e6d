"""Programs beside Python that a platform may need; a probe says which of them are on PATH."""

COMPILERS = ("g++", "clang++", "c++")
"""C++ compilers for the machine itself, the best known first."""

CROSS = {
    "aarch64": "aarch64-linux-gnu-g++",
    "riscv64": "riscv64-linux-gnu-g++",
    "s390x": "s390x-linux-gnu-g++",
    "ppc64le": "powerpc64le-linux-gnu-g++",
}
"""Cross compilers by the architecture that they compile for, which is also how emulators call it."""

EMULATORS = {architecture: (f"qemu-{architecture}", f"qemu-{architecture}-static") for architecture in CROSS}
"""Emulators of a process by architecture; the two names are those of the Debian packages of either linkage."""

TOOLS = (*COMPILERS, *CROSS.values(), *(name for names in EMULATORS.values() for name in names))
"""Everything that a probe looks for."""


def first_of(names: tuple[str, ...], there: tuple[str, ...]) -> str:
    """Return the first of ``names`` that is ``there``, or ""."""
    return next((name for name in names if name in there), "")
