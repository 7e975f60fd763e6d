"""One Triton launch compiled for one architecture, and its code read. Where it may be killed: some take minutes."""

from __future__ import annotations

import contextlib
import io
import re
import tempfile
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import triton
from triton import knobs
from triton.compiler import ASTSource

from platforms.targets import code
from platforms.targets.architecture import Architecture
from platforms.targets.reading import Reading, refused
from platforms.targets.triton_driver import target_of

if TYPE_CHECKING:
    from platforms.targets.triton_builds import Launch


@contextlib.contextmanager
def _fresh() -> Iterator[None]:
    """Let nothing be taken from Triton's cache: of what is found there the assembler says nothing."""
    with knobs.cache.scope(), knobs.nvidia.scope(), tempfile.TemporaryDirectory() as folder:
        knobs.cache.dir = folder
        knobs.nvidia.dump_ptxas_log = True
        yield


def read(launch: Launch, one: Architecture) -> Reading:
    """Return what the compiler makes of ``launch`` for an architecture; what it refuses is a reading too."""
    started = time.perf_counter()
    source = ASTSource(launch.kernel, dict(launch.signature), dict(launch.constants), dict(launch.attributes))
    log = io.StringIO()
    try:
        with contextlib.redirect_stdout(log), _fresh():
            compiled = triton.compile(source, target=target_of(one), options=dict(launch.options))
    except Exception as error:  # whatever it is, it is what there is to know
        return refused(one, error, seconds=time.perf_counter() - started)
    text = compiled.asm.get("ptx") or compiled.asm["amdgcn"]
    dot = re.search(r"tt\.dot\b.*", compiled.asm["ttir"])
    figures = code.of_ptx(text, log.getvalue()) if "ptx" in compiled.asm else code.of_metadata(text)
    return Reading(
        target=one.name,
        shared=compiled.metadata.shared,
        tensor_memory=getattr(compiled.metadata, "tmem_size", None) or 0,
        **figures,
        **code.instructions(text),
        dots=bool(dot),
        narrow=bool(dot and re.search(r"f8E\w+>|xi8>", dot[0])),
        seconds=time.perf_counter() - started,
    )
