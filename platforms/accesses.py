"""How many bits code moves at once between a device's memory and its registers, as Triton's compilers wrote it.

Whether tensors are aligned is told to the compiler; where it is not told, each element is moved alone, which no value
shows and on a fast memory hardly a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import FunctionType
from typing import Any

_PTX = re.compile(r"\b(?:ld|st)\.[\w.:]*\bglobal\b[\w.:]*?(?:\.v(\d))?\.[bfsu](\d+)\b")
_AMDGCN = re.compile(r"\b(?:global|buffer|flat)_(?:load|store)_(?:dword(?:x(\d))?|[biu](\d+)|[us]?(short|byte))\b")
_NARROW = {"short": 16, "byte": 8}


def widest(text: str) -> int:
    """Return the bits of the widest access to memory in PTX or AMDGCN; 0 without any."""
    found = [int(vector or 1) * int(bits) for vector, bits in _PTX.findall(text)]
    found += [_NARROW.get(kind) or int(bits or 32 * int(words or 1)) for words, bits, kind in _AMDGCN.findall(text)]
    return max(found, default=0)


def widest_of(function: Any) -> int:
    """Return the same of all that ``function`` has had compiled in this process, through kernels that it names."""
    return max(map(widest, _codes(function)), default=0)


def _codes(function: Any, seen: frozenset[str] = frozenset()) -> Iterator[str]:
    if not isinstance(function, FunctionType):
        return
    for name in function.__code__.co_names:
        named = function.__globals__.get(name)
        if isinstance(named, FunctionType) and name not in seen:
            yield from _codes(named, seen | {name})
        elif type(named).__module__.startswith("triton."):
            yield from _compiled(named)


def _compiled(kernel: Any) -> Iterator[str]:
    """Yield the code of a kernel, whatever is wrapped around it."""
    while not hasattr(kernel, "device_caches") and hasattr(kernel, "fn"):
        kernel = kernel.fn
    for compiled, *_ in getattr(kernel, "device_caches", {}).values():
        for one in compiled.values():
            yield from (one.asm[kind] for kind in ("ptx", "amdgcn") if kind in getattr(one, "asm", {}))
