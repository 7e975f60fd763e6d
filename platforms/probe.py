"""A probe: everything that detection may look at, as plain data.

It goes to other processes as JSON, and tests write their own; :mod:`platforms.gather` fills one from the machine.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields


@dataclass(frozen=True)
class Device:
    """One device as torch describes it: memory in bytes, ``limits`` the other integers of its properties."""

    type: str
    index: int = 0
    name: str = ""
    memory: int = 0
    capability: str = ""
    arch: str = ""
    limits: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class OpenclDevice:
    """One OpenCL device as its driver describes it.

    ``platform`` is what the driver calls itself, ``version`` the OpenCL that the device has, ``kind`` "cpu", "gpu",
    "accelerator" or "other", ``choice`` the numbers of driver and device as ``PYOPENCL_CTX`` takes them, and
    ``library`` the driver's file if the loader does not find it by itself.
    """

    platform: str
    name: str = ""
    version: str = ""
    driver: str = ""
    kind: str = "cpu"
    choice: str = "0:0"
    library: str = ""


@dataclass(frozen=True)
class Probe:
    """What a machine shows of itself. An empty ``torch_version`` means that torch does not import.

    Attributes:
        torch_version, triton_version: as the modules say; "" when they do not import.
        torch_distribution: the version that the installed package has, which some vendors mark instead.
        version: the texts in ``torch.version``: cuda, hip, maca, musa, ...
        attributes: those of :data:`platforms.claims.ATTRIBUTES` that torch has.
        modules: vendor modules that are installed (none is imported for this).
        private: the name of torch's out-of-tree device type; "privateuseone" when no extension has taken it.
        available: torch device types of which ``torch.<type>.is_available()`` is true.
        devices: every device of these types.
        pyopencl_version: as the package says; "" when it is not installed.
        opencl: every OpenCL device.
        cpu_capability: the code path that torch's CPU kernels take.
        machine: the processor's architecture, such as "x86_64".
        tools: those of :data:`platforms.tools.TOOLS` that are on PATH.
        env, files: what was set, and what exists, of the names that detection looks at.
        errors: what failed, and how: a step's name to one line.
    """

    torch_version: str = ""
    torch_distribution: str = ""
    triton_version: str = ""
    version: dict[str, str] = field(default_factory=dict)
    attributes: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    private: str = "privateuseone"
    available: tuple[str, ...] = ()
    devices: tuple[Device, ...] = ()
    pyopencl_version: str = ""
    opencl: tuple[OpenclDevice, ...] = ()
    cpu_capability: str = ""
    machine: str = ""
    tools: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    errors: dict[str, str] = field(default_factory=dict)

    def devices_of(self, kind: str) -> list[Device]:
        """Return the devices of torch device type ``kind``."""
        return [device for device in self.devices if device.type == kind]

    @property
    def why_no_torch(self) -> str:
        """Why there is no torch, in words."""
        return f"torch: {self.errors.get('torch', 'is not installed')}"

    def to_json(self) -> str:
        """Return the probe as one line of JSON."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Probe:
        """Return the probe that :meth:`to_json` wrote; raises ValueError for anything else."""
        value = json.loads(text)
        known = {one.name for one in fields(cls)}
        if not isinstance(value, dict) or not value.keys() <= known:
            raise ValueError(f"not a probe: {text[:80]!r}; it has the fields {', '.join(sorted(known))}")
        for name in ("attributes", "modules", "available", "files", "tools"):
            value[name] = tuple(value.get(name, ()))
        value["devices"] = tuple(Device(**device) for device in value.get("devices", ()))
        value["opencl"] = tuple(OpenclDevice(**device) for device in value.get("opencl", ()))
        return cls(**value)
