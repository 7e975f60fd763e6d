"""Machines that nobody here has, each as a probe would find it, and what detection has to say of it.

Fingerprints are what a vendor's machine shows (``platforms/vendors/``, with their sources); traps are machines that a
hasty look takes for another vendor's, or that have several signs, or a driver that fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from platforms.probe import Device, Probe

BARE = Probe(torch_version="2.13.0+cpu", torch_distribution="2.13.0+cpu", triton_version="3.7.1", cpu_capability="AVX2")
"""A machine with PyTorch, Triton and nothing else."""


def machine(**changes: Any) -> Probe:
    """Return :data:`BARE` with other fields."""
    return replace(BARE, **changes)


def cuda(name: str, *, count: int = 1, arch: str = "", version: dict[str, str] | None = None, **changes: Any) -> Probe:
    """Return a machine on which torch.cuda is available and calls its devices ``name``."""
    devices = tuple(Device("cuda", index, name, 80 * 2**30, "9.0", arch) for index in range(count))
    changes = {"torch_version": "2.13.0+cu128", "torch_distribution": "2.13.0+cu128"} | changes
    return machine(available=("cuda",), devices=devices, version=version or {"cuda": "12.8"}, **changes)


def own(kind: str, **changes: Any) -> Probe:
    """Return a machine on which a vendor's extension has added device type ``kind`` to torch."""
    whole = {"available": (kind,), "devices": (Device(kind),), "modules": (f"torch_{kind}",), "private": kind}
    return machine(**{**whole, **changes})


@dataclass(frozen=True)
class Machine:
    """One machine.

    Attributes:
        probe: what it shows.
        vendor: whose card runs there; "" for nobody's.
        chosen: the vendor that somebody names with ``--platform``.
        said: of each platform that is absent, words of the reason that must be told.
        refused: words of the error where nothing can be decided.
    """

    probe: Probe
    vendor: str = ""
    chosen: str | None = None
    said: Mapping[str, str] = field(default_factory=dict)
    refused: str = ""


_BOTH = cuda("MetaX C550", version={"cuda": "11.6", "maca": "3.8.1.0"}, attributes=("corex",))
_LEFT_BEHIND = cuda("NVIDIA H100", env={"PPU_SDK": "/opt/left-behind"})


def _behind_cuda(vendor: str, sign: str, probe: Probe) -> Machine:
    return Machine(probe, vendor, said={"nvidia": f"torch.cuda answers for {vendor} here: {sign}"})


FINGERPRINTS: dict[str, Machine] = {
    **{
        f"NVIDIA, {name}": Machine(cuda(name), "nvidia")
        for name in ("NVIDIA H200", "Tesla T4", "NVIDIA GeForce RTX 4090", "Quadro RTX 8000")
    },
    "AMD": _behind_cuda(
        "amd", "torch.version.hip is '6.4'", cuda("AMD Instinct MI300X", version={"hip": "6.4"}, arch="gfx942:sramecc+")
    ),
    "MetaX by torch.version": _behind_cuda(
        "metax",
        "torch.version.maca is '3.8.1.0'",
        cuda("MetaX C550", version={"cuda": "11.6", "maca": "3.8.1.0"}),
    ),
    "MetaX by its build of torch": _behind_cuda(
        "metax", "torch is the build '2.8.0+metax3.8.1.0'", cuda("Device_4000", torch_version="2.8.0+metax3.8.1.0")
    ),
    "MetaX by its name": _behind_cuda("metax", "the device is called 'MXC500 MetaX'", cuda("MXC500 MetaX")),
    "Iluvatar by torch's attribute": _behind_cuda(
        "iluvatar", "torch.corex exists", cuda("BI-V150", attributes=("corex",))
    ),
    "Iluvatar by the installed package": _behind_cuda(
        "iluvatar",
        "torch is the build",
        cuda("x", torch_version="2.10.0", torch_distribution="2.10.0+corex.4.5.0"),
    ),
    "Iluvatar by its name": _behind_cuda(
        "iluvatar", "the device is called 'Iluvatar BI-V100'", cuda("Iluvatar BI-V100")
    ),
    "Hygon by torch's attribute": _behind_cuda(
        "hygon",
        "torch.__hcu_version__ exists",
        cuda("BW1000", version={"hip": "6.3"}, arch="gfx906", attributes=("__hcu_version__",)),
    ),
    "Hygon by its build of torch": _behind_cuda(
        "hygon", "torch is the build", cuda("BW", version={"hip": "6.3"}, torch_version="2.5.1+das.dtk2604")
    ),
    "Hygon by its architecture": _behind_cuda(
        "hygon", "the architecture is gfx936", cuda("BW", version={"hip": "6.3"}, arch="gfx936:sramecc-")
    ),
    "Kunlunxin": _behind_cuda(
        "kunlunxin",
        "torch_xmlir is installed and /proc/kunlun/version exists",
        cuda("P800", modules=("torch_xmlir",), files=("/proc/kunlun/version",)),
    ),
    "T-Head by its environment": _behind_cuda(
        "thead", "the environment has PPU_SDK", cuda("NVIDIA-like", env={"PPU_SDK": "/usr/local/PPU_SDK"})
    ),
    "T-Head by its name": _behind_cuda("thead", "the device is called 'PPU-ZW810E'", cuda("PPU-ZW810E")),
    **{
        title: Machine(own(kind), vendor, said={"nvidia": "without CUDA"})
        for title, kind, vendor in (
            ("Cambricon", "mlu", "cambricon"),
            ("Ascend", "npu", "ascend"),
            ("Moore Threads", "musa", "mthreads"),
            ("Enflame", "gcu", "enflame"),
        )
    },
    **{
        title: Machine(own(kind, modules=(), private="privateuseone"), vendor, said={"nvidia": "without CUDA"})
        for title, kind, vendor in (("Intel", "xpu", "intel"), ("Apple", "mps", "apple"))
    },
    **{
        title: Machine(
            own(kind),
            said={vendor: f"recognised (torch.{kind} is available), but there is no platform file for it yet"},
        )
        for title, kind, vendor in (
            ("Tsingmicro", "txda", "tsingmicro"),
            ("Sunrise", "ptpu", "sunrise"),
            ("Biren", "supa", "biren"),
            ("Arm China's Zhouyi", "aipu", "aipu"),
        )
    },
}

TRAPS: dict[str, Machine] = {
    "AMD, of an architecture that Hygon has too": _behind_cuda(
        "amd", "torch.version.hip is '6.4'", cuda("MI50", version={"hip": "6.4"}, arch="gfx906")
    ),
    "Kunlunxin's module without its driver": Machine(cuda("NVIDIA A100", modules=("torch_xmlir",)), "nvidia"),
    "a card that answers to CUDA and that nobody knows": Machine(
        cuda("Frobnicator 9000"), said={"nvidia": "calls itself 'Frobnicator 9000'"}
    ),
    "a migration shim: torch.cuda is a mask of torch.mlu": Machine(
        own("mlu", available=("cuda", "mlu"), devices=(Device("cuda", name="MLU590"), Device("mlu", name="MLU590"))),
        "cambricon",
    ),
    "a migration shim that calls its device as NVIDIA's are": Machine(
        own("npu", available=("cuda", "npu"), devices=(Device("cuda", name="NVIDIA A100"), Device("npu"))), "ascend"
    ),
    "a card of NVIDIA beside an Intel processor's graphics": Machine(
        replace(cuda("NVIDIA H200"), available=("cuda", "xpu")), "nvidia"
    ),
    "an extension without a card": Machine(
        machine(modules=("torch_mlu",), private="mlu"),
        said={"cambricon": "torch_mlu is installed, but torch.mlu is not available"},
    ),
    "an extension whose driver raises": Machine(
        machine(modules=("torch_npu",), errors={"npu": "RuntimeError: no driver"}),
        said={"ascend": "torch_npu is installed, but torch.npu: RuntimeError: no driver"},
    ),
    "a build for CUDA without a driver": Machine(
        machine(version={"cuda": "12.8"}, errors={"cuda": "RuntimeError: Found no NVIDIA driver"}),
        said={"nvidia": "torch.cuda: RuntimeError: Found no NVIDIA driver"},
    ),
    "a driver that crashes when it is asked": Machine(
        machine(errors={"cuda": "crashed with SIGSEGV"}), said={"nvidia": "torch.cuda: crashed with SIGSEGV"}
    ),
    "torch that does not import": Machine(
        Probe(errors={"torch": "OSError: libmkl"}),
        said={"cpu": "torch: OSError: libmkl", "nvidia": "torch: OSError: libmkl"},
    ),
    "Triton that does not import": Machine(
        machine(triton_version="", errors={"triton": "ImportError: libtriton.so"}),
        said={"interpreter": "triton: ImportError: libtriton.so"},
    ),
    "signs of two vendors": Machine(
        _BOTH,
        refused="several vendors claim this machine: metax (torch.version.maca is '3.8.1.0') and iluvatar (torch.corex "
        "exists); choose with --platform metax or --platform iluvatar",
    ),
    "signs of two vendors, one of them chosen": Machine(_BOTH, "iluvatar", chosen="iluvatar"),
    "NVIDIA, with a variable of T-Head left behind": Machine(_LEFT_BEHIND, "thead"),
    "the same, and NVIDIA chosen": Machine(_LEFT_BEHIND, "nvidia", chosen="nvidia"),
    "the same, and the processor chosen": Machine(_LEFT_BEHIND, "thead", chosen="cpu"),
}
