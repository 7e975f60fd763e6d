"""Filling a probe: what a machine shows, asked once in a process of its own.

Drivers hang, crash and print; some initialise a device when they are merely imported. So the gathering runs in a
subprocess with a time limit, reports step by step, and what went wrong in a step is a finding like any other.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from platforms import claims
from platforms.opencl_devices import bundled, listed
from platforms.probe import Device, Probe
from platforms.tools import TOOLS

TIME_LIMIT = 120.0
"""Seconds that the gathering may take; importing torch from a cold disk takes many of them."""

_ROOT = Path(__file__).resolve().parent.parent


def probe(*, time_limit: float = TIME_LIMIT, python: str = sys.executable) -> Probe:
    """Return what this machine shows, asked in a subprocess of interpreter ``python``.

    Never raises for what a driver does: a step that fails, crashes, or is not over after ``time_limit`` seconds is in
    ``errors`` with all that was learnt before it kept.
    """
    # With this variable torch would name the code path that somebody chose, not the best one.
    environment = {name: value for name, value in os.environ.items() if name != "ATEN_CPU_CAPABILITY"}
    command = [python, "-m", "platforms.gather"]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            command,
            cwd=_ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        try:
            ended = _how_it_ended(process.wait(time_limit))
        except subprocess.TimeoutExpired:
            ended = f"gave no answer in {time_limit:g} s"
        finally:
            _kill(process)
        out.seek(0)
        err.seek(0)
        return _collect(out, ended, err.read().decode(errors="replace"))


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _how_it_ended(code: int) -> str:
    if code == 0:
        return ""
    return f"crashed with {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"


def _collect(lines: IO[bytes], ended: str, stderr: str) -> Probe:
    """Make a probe of the reports that the subprocess got out before it ended."""
    values: dict[str, Any] = {"errors": {}}
    step = "probe"
    for line in lines:
        if not line.endswith(b"\n"):
            break  # the subprocess was killed in the middle of a report
        report = json.loads(line)
        step = report["step"]
        values["errors"] |= {step: report["error"]} if "error" in report else {}
        for name, value in report.get("found", {}).items():
            values[name] = values.get(name, []) + value if isinstance(value, list) else value
    if ended or step != "end":
        words = stderr.strip().splitlines()[-1:] or [""]
        values["errors"][step] = f"{ended or 'ended early'} {words[0]}".strip()[:300]
    return Probe.from_json(json.dumps(values))


# What follows runs in the subprocess.

_Finding = dict[str, Any]


def _gather(report: Callable[[dict[str, Any]], None]) -> None:
    for step, ask in _steps():
        report({"step": step})
        try:
            report({"step": step, "found": ask()})
        except BaseException as error:  # drivers raise anything, and what they raise is the finding
            report({"step": step, "error": f"{type(error).__name__}: {error}".splitlines()[0][:300]})
    report({"step": "end"})


def _steps() -> Iterator[tuple[str, Callable[[], _Finding]]]:
    yield "machine", _machine
    if importlib.util.find_spec("torch") is not None:
        yield "torch", _torch
    if "torch" in sys.modules:
        for kind in claims.DEVICE_TYPES:
            yield kind, lambda kind=kind: _device_type(kind)  # type: ignore[misc]
    if importlib.util.find_spec("triton") is not None:
        yield "triton", _triton
    if importlib.util.find_spec("pyopencl") is not None:
        yield "opencl", _opencl
        for library in bundled():
            yield Path(library).name, lambda library=library: _opencl(library)  # type: ignore[misc]


def _machine() -> _Finding:
    return {
        "modules": [name for name in claims.MODULES if importlib.util.find_spec(name)],
        "env": {name: os.environ[name] for name in claims.ENVIRONMENT if name in os.environ},
        "machine": platform.machine(),
        "tools": [name for name in TOOLS if shutil.which(name)],
        "files": [name for name in claims.FILES if Path(name).exists()],
    }


def _torch() -> _Finding:
    import torch

    return {
        "torch_version": str(torch.__version__),
        "torch_distribution": _installed_version("torch"),
        "version": {
            name: value for name, value in vars(torch.version).items() if name[0] != "_" and type(value) is str
        },
        "attributes": [name for name in claims.ATTRIBUTES if hasattr(torch, name)],
        "private": torch._C._get_privateuse1_backend_name(),
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
    }


def _installed_version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""  # imported from where it was built


def _device_type(kind: str) -> _Finding:
    import torch

    module = getattr(torch, kind, None)
    if module is None or not hasattr(module, "is_available"):
        return {}
    if not module.is_available():
        if kind == "cuda" and (torch.version.cuda or torch.version.hip):
            module.init()  # raises, and says why
        return {}
    count = int(getattr(module, "device_count", lambda: 1)())
    return {"available": [kind], "devices": [asdict(_device(module, kind, index)) for index in range(count)]}


def _device(module: Any, kind: str, index: int) -> Device:
    if not hasattr(module, "get_device_properties"):
        return Device(kind, index)
    properties = module.get_device_properties(index)
    numbers = {name: getattr(properties, name) for name in dir(properties) if not name.startswith("_")}
    numbers = {name: value for name, value in numbers.items() if type(value) is int}
    version = [str(numbers.pop(name)) for name in ("major", "minor") if name in numbers]
    return Device(
        type=kind,
        index=index,
        name=str(getattr(properties, "name", "")),
        memory=numbers.pop("total_memory", 0),
        capability=".".join(version),
        arch=str(getattr(properties, "gcnArchName", "")),
        limits=numbers,
    )


def _triton() -> _Finding:
    import triton

    return {"triton_version": triton.__version__}


def _opencl(library: str = "") -> _Finding:
    return {
        "pyopencl_version": _installed_version("pyopencl"),
        "opencl": [asdict(device) for device in listed(library)],
    }


def _main() -> None:
    # Imports print banners; the reports go out by a copy of standard output that nobody else has.
    reports = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    _gather(lambda report: print(json.dumps(report), file=reports))
    reports.flush()
    os._exit(0)  # a driver that crashes on its way out has said all it had to say


if __name__ == "__main__":
    _main()
