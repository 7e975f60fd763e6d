"""Which backends of torch.distributed there are in this process, found by asking torch and what is installed."""

from __future__ import annotations

import importlib.util
import shutil
from typing import Any


def why_absent(backend: str) -> str:
    """Return why torch.distributed cannot talk by ``backend``, or "" if it can as far as is known without a device."""
    import torch
    import torch.distributed as dist

    if not dist.is_available():
        return f"torch {torch.__version__} was built without torch.distributed"
    if backend == "mpi":
        return _why_no_mpi(dist)
    available = getattr(dist, f"is_{backend}_available", None)
    if available is not None and not available():
        return f"torch {torch.__version__} was built without {backend}"
    if backend not in dist.Backend.backend_list:
        return f"torch.distributed knows no backend {backend}; it has {', '.join(dist.Backend.backend_list)}"
    return ""


def described(backend: str) -> dict[str, Any]:
    """Return what reports say of a platform's ``backend``, and of MPI beside it: a name, and why it is absent or ""."""
    return {name: why_absent(name) or "here" for name in dict.fromkeys([backend, "mpi"]) if name}


def _why_no_mpi(dist: Any) -> str:
    """Return why ranks cannot talk by MPI: torch must be built with it, and there must be what starts its ranks."""
    if dist.is_mpi_available():
        return "" if shutil.which("mpirun") or shutil.which("mpiexec") else "neither mpirun nor mpiexec is on PATH"
    wrapper = "is" if importlib.util.find_spec("mpi4py") else "is not"
    return f"torch was built without MPI; mpi4py {wrapper} installed, and torch.distributed does not use it"
