"""Which OpenCL devices there are: asked of each driver in a process of its own, as JSON on standard output.

The loader reads its list of drivers once a process, so what pip has installed, which is on no such list, needs another
process than what the system has.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from platforms.probe import OpenclDevice

TIME_LIMIT = 60.0
"""Seconds that a driver may take to list its devices."""

_BUNDLED = {"intel-opencl-rt": "libintelocl.so"}
"""Packages that hold a driver, and its library. The list of drivers that comes with one may name another folder."""


class DriverError(Exception):
    """An OpenCL driver could not be asked for its devices; the message says what it did instead."""


_ROOT = Path(__file__).resolve().parent.parent


def bundled() -> Iterator[str]:
    """Yield the path of each driver that pip has installed beside this interpreter."""
    for package, library in _BUNDLED.items():
        try:
            files = importlib.metadata.files(package) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        found = [Path(str(file.locate())) for file in files if file.name == library]
        yield from (str(path.resolve()) for path in found if path.exists())


def driver(library: str) -> dict[str, str]:
    """Return the environment in which the loader knows the driver ``library`` alone; "" for those that it finds."""
    # The one for ocl-icd, the other for Khronos's loader.
    return {"OCL_ICD_VENDORS": library, "OCL_ICD_FILENAMES": library} if library else {}


def listed(library: str = "") -> list[OpenclDevice]:
    """Return the devices of the driver ``library``, or of those that the loader finds; raises DriverError."""
    command = [sys.executable, "-m", "platforms.opencl_devices"]
    environment = {**os.environ, **driver(library)}
    try:
        ended = subprocess.run(
            command, cwd=_ROOT, env=environment, capture_output=True, text=True, timeout=TIME_LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        raise DriverError(f"gave no answer in {TIME_LIMIT:g} s") from None
    if ended.returncode:
        last = ended.stderr.strip().splitlines()[-1:] or [""]
        raise DriverError(f"{_how_it_ended(ended.returncode)} {last[0]}".strip()[:200])
    return [OpenclDevice(**value, library=library) for value in json.loads(ended.stdout.splitlines()[-1])]


def _how_it_ended(code: int) -> str:
    return f"crashed with {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"


# What follows runs in the subprocess.


def _devices() -> list[dict[str, str]]:
    import pyopencl as cl

    try:
        platforms = cl.get_platforms()
    except cl.LogicError as error:
        if error.code == -1001:  # CL_PLATFORM_NOT_FOUND_KHR: no driver, which is no fault
            return []
        raise
    kinds = {"cpu": cl.device_type.CPU, "gpu": cl.device_type.GPU, "accelerator": cl.device_type.ACCELERATOR}
    found = []
    for first, platform in enumerate(platforms):
        for second, device in enumerate(platform.get_devices()):
            one = OpenclDevice(
                platform=platform.name.strip(),
                name=device.name.strip(),
                version=device.version.strip(),
                driver=device.driver_version.strip(),
                kind=next((name for name, bit in kinds.items() if device.type & bit), "other"),
                choice=f"{first}:{second}",
            )
            found.append(asdict(one))
            del found[-1]["library"]
    return found


if __name__ == "__main__":
    print(json.dumps(_devices()))
    sys.stdout.flush()
    os._exit(0)  # a driver that crashes on its way out has said all it had to say
