"""The other end of a gateway, when it is first reached: code arrives, once, and says what machine this is.

The source of this module is sent ahead of all other code and runs in whatever Python is there, so it imports nothing of
ours and takes nothing for granted.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import io
import os
import shutil
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

_OLDEST = (3, 10)
_KEPT = 14 * 86400  # seconds after which code that nobody has used since is removed


def arrive(channel: Any) -> None:
    """Tell of this machine through ``channel``, as :func:`platforms.survey.survey` does, where the code is here.

    The first message in is (digest of the archive, names of packages that must be here). Out comes ("send", "") if the
    archive is not here, which then follows; and ("failed", why), or ("arrived", root of the code, what was found).
    """
    digest, needed = channel.receive()
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < _OLDEST:
        channel.send(("failed", f"{sys.executable} is Python {version}; 3.10 is the oldest that will do"))
        return
    if missing:
        remedy = f"{sys.executable} -m pip install {' '.join(missing)}"
        channel.send(("failed", f"its Python {version} has no {', no '.join(missing)}; there: {remedy}"))
        return
    root = _folder() / digest
    if not root.is_dir():
        channel.send(("send", ""))
        _unpack(channel.receive(), digest, root)
    os.utime(root)
    os.chdir(root)
    sys.path.insert(0, str(root))
    channel.send(("arrived", str(root), importlib.import_module("platforms.survey").survey()))


def _folder() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(os.environ.get("PORTOLAN_CACHE") or Path(cache) / "portolan") / "sent"
    folder.mkdir(parents=True, exist_ok=True)
    return folder.resolve()


def _unpack(archive: bytes, digest: str, root: Path) -> None:
    """Have the code in ``root``, whole or not at all: others may be unpacking the same."""
    if hashlib.sha256(archive).hexdigest() != digest:
        raise ValueError("the code did not arrive as it was sent")
    for old in root.parent.iterdir():
        if time.time() - old.stat().st_mtime > _KEPT:
            shutil.rmtree(old, ignore_errors=True)
    fresh = Path(tempfile.mkdtemp(dir=root.parent))
    zipfile.ZipFile(io.BytesIO(archive)).extractall(fresh)
    try:
        fresh.rename(root)
    except OSError:
        shutil.rmtree(fresh)
        if not root.is_dir():
            raise


if __name__ == "__channelexec__":
    arrive(channel)  # type: ignore[name-defined]  # noqa: F821 - execnet gives it
