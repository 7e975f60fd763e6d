"""A card that torch reaches through a namespace of its own (``torch.cuda``, ``torch.mlu``): what all vendors share.

The namespaces are alike by intent: ``Stream``, ``Event``, ``synchronize``, a graph, free memory. What is called
otherwise is in the vendor's description (:mod:`platforms.vendor`), and what works otherwise in the vendor's file.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from platforms.platform import Platform
from platforms.probe import Probe
from platforms.vendor import Vendor

if TYPE_CHECKING:
    from platforms.stopwatch import Stopwatch


@dataclass(frozen=True, kw_only=True)
class Accelerator(Platform):
    """A vendor's cards. ``visible`` lists the devices there are, as the vendor's environment variable names them.

    Its runners are started afresh, since most runtimes cannot be used in a process that was forked after they were.
    """

    vendor: ClassVar[Vendor]

    paradigms: tuple[str, ...] = ("torch", "inductor", "triton", "ninetoothed")
    start_method: str = "spawn"
    filling: int = 2**24
    operations: int = 2**35
    visible: tuple[str, ...] = ("0",)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "visible", tuple(self.visible))

    @classmethod
    def of(cls, probe: Probe) -> Accelerator:
        """Return the platform of a machine that is known to be this vendor's."""
        return cls(visible=visible(probe, cls.vendor), wave=wave(probe, cls.vendor.kind))  # type: ignore[call-arg]

    def prepare(self) -> None:
        super().prepare()
        if self.vendor.extension:
            importlib.import_module(self.vendor.extension)
        if self.vendor.compiler:
            from kernels.toolchains.native import bring

            bring(self.vendor.compiler)

    def open(self) -> None:
        import torch

        super().open()
        self._namespace().set_device(torch.device(self.device))
        torch.zeros(1, device=self.device)
        self.synchronize()

    def synchronize(self) -> None:
        self._namespace().synchronize()

    def facts(self) -> dict[str, Any]:
        import torch

        namespace, kind = self._namespace(), self.vendor.kind
        facts = {**super().facts(), "vendor": self.vendor.title, **_triton_version()}
        if version := getattr(torch.version, kind, None):
            facts[kind] = str(version)
        if hasattr(namespace, "get_device_name"):
            facts["name"] = str(namespace.get_device_name(0))
        return facts

    def capabilities(self) -> dict[str, str]:
        from platforms.triton_trial import lacking_in_triton

        lacking = {**super().capabilities(), **(lacking_in_triton(self.device) if "triton" in self.paradigms else {})}
        if "triton" in lacking:
            why = f"it generates Triton kernels here, and triton: {lacking['triton']}"
            lacking |= {paradigm: why for paradigm in ("inductor", "ninetoothed") if paradigm in self.paradigms}
        if self.vendor.compiler and self.vendor.compiler.paradigm in self.paradigms:
            from platforms.native_trial import lacking_in_native

            lacking |= lacking_in_native(self.vendor.compiler, self.device)
        if "cuda" in self.paradigms:
            from platforms.cuda_trial import lacking_in_cuda

            lacking |= lacking_in_cuda(self.device)
        return lacking

    def free_bytes(self) -> int | None:
        namespace = self._namespace()
        if not hasattr(namespace, "mem_get_info"):
            return None
        namespace.empty_cache()  # what earlier cases left in torch's cache is free as well
        return int(namespace.mem_get_info()[0])

    def stopwatch(self) -> Stopwatch:
        from platforms.device_stopwatch import Events

        namespace = self._namespace()
        return Events(namespace, self.device, self._cache()) if hasattr(namespace, "Event") else super().stopwatch()

    def beside(self) -> AbstractContextManager[None] | None:
        namespace = self._namespace()
        if not (hasattr(namespace, "Stream") and hasattr(namespace, "stream")):
            return None
        return namespace.stream(namespace.Stream(self.device))  # type: ignore[no-any-return]

    def occupy(self) -> None:
        import torch

        side = 2048
        one = torch.ones(side, side, device=self.device)
        for _ in range(8):
            one = one @ one

    def capture(self, function: Callable[[], Any]) -> tuple[Any, Callable[[], None]] | None:
        namespace = self._namespace()
        if not self.vendor.graph or not hasattr(namespace, self.vendor.graph):
            return None
        graph = getattr(namespace, self.vendor.graph)()
        with namespace.graph(graph):
            result = function()
        return result, graph.replay

    def for_worker(self, index: int) -> Platform:
        """Return this platform with one device visible: the devices are dealt out to the processes in turn."""
        return self._on(self.visible[index % len(self.visible)]) if self.vendor.visible else self

    def devices(self) -> tuple[Platform, ...]:
        if len(self.visible) < 2 or not self.vendor.visible:
            return (self,)
        name, at, place = self.name.partition("@")
        return tuple(replace(self._on(one), name=f"{name}:{one}{at}{place}") for one in self.visible)

    def _on(self, device: str) -> Accelerator:
        return replace(self, environment={**self.environment, self.vendor.visible: device})

    @property
    def taken(self) -> str:
        """Its device as the vendor's environment variable names it: the one it was dealt, else the first."""
        return self.environment.get(self.vendor.visible, self.visible[0])

    @property
    def hardware(self) -> str:
        return f"{self.vendor.name} {self.taken} {self.gateway}".strip()

    @property
    def collective(self) -> str:
        return self.vendor.collective

    @property
    def most_ranks(self) -> int:
        return len(self.visible)

    def _cache(self) -> int:
        """Return the bytes of the device's last cache; 0 where torch does not say."""
        import torch

        namespace = self._namespace()
        if not hasattr(namespace, "get_device_properties"):
            return 0
        return int(getattr(namespace.get_device_properties(torch.device(self.device)), "L2_cache_size", 0))

    def _namespace(self) -> Any:
        import torch

        return getattr(torch, self.vendor.kind)


def visible(probe: Probe, vendor: Vendor) -> tuple[str, ...]:
    """Return the devices as the vendor's variable names them; what it names already is all there is, in its words."""
    count = len(probe.devices_of(vendor.kind))
    named = probe.env.get(vendor.visible, "")
    names = [name.strip() for name in named.split(",") if name.strip()][:count]
    return tuple(names) or tuple(str(index) for index in range(count)) or ("0",)


def wave(probe: Probe, kind: str) -> int:
    """Return how many threads the largest device of torch type ``kind`` runs at once; 0 where it does not say."""
    limits = [device.limits for device in probe.devices_of(kind)]
    sizes = [one.get("multi_processor_count", 0) * one.get("max_threads_per_multi_processor", 0) for one in limits]
    return max(sizes, default=0)


def _triton_version() -> dict[str, str]:
    try:
        import triton
    except ImportError:
        return {}
    return {"triton": triton.__version__}
