"""A process group of a simulated device, under the name of its vendor's backend: one rank of many that are not there.

What moves between ranks is PyTorch's fake backend's, which moves nothing: no result of a collective here is one. What
is kept is what an adapter can do wrong: which collective was called, on tensors of which device, in which stream, and
whether what comes next waits for it. A collective has a stream of its own, which waits for the current one, as those of
NCCL and its kin do; until somebody waits for its work, reading what it writes is an error
(:class:`platforms.simulated.streams.Unsynchronized`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeProcessGroup
from torch.utils import _pytree as tree

from platforms.simulated.device import DeviceTensor
from platforms.simulated.graphs import Graph
from platforms.simulated.streams import Stream, Timeline

_METHODS = {
    **{name: name for name in ("allreduce", "broadcast", "allgather", "reduce_scatter", "alltoall", "barrier")},
    **{name: name for name in ("_allgather_base", "_reduce_scatter_base", "alltoall_base")},
    "all_gather_single": "_allgather_base",
    "reduce_scatter_single": "_reduce_scatter_base",
    "all_to_all_single": "alltoall_base",
}
"""What versions of torch call a collective of a process group, and what the fake backend calls it."""


@dataclass(frozen=True)
class Collective:
    """One call of a collective: its name, the devices of its tensors, and the number of the stream it was called in."""

    name: str
    devices: tuple[str, ...]
    stream: int


class Ranks(dist.ProcessGroup):
    """The process group of one rank. ``calls`` are the collectives that were called, in order."""

    def __init__(self, backend: str, kind: str, rank: int, size: int) -> None:
        super().__init__(rank, size)
        self.calls: list[Collective] = []
        self._backend = backend
        self._fake = FakeProcessGroup._create_internal(rank, size, FakeProcessGroup.Options())
        self._stream = Stream()
        self._register_backend(torch.device(kind), dist.ProcessGroup.BackendType.CUSTOM, self._fake)

    def getBackendName(self) -> str:
        return self._backend

    def begin(self, name: str, *arguments: Any) -> Waiting:
        """Note the collective, and have the fake one called on the tensors' numbers; what it writes comes first.

        Raises RuntimeError for tensors that are not of the device, and Unsynchronized where the current stream does not
        know of what is read. A graph that is being captured calls it again.
        """
        tensors = [one for one in tree.tree_leaves(arguments) if isinstance(one, torch.Tensor)]
        if strangers := [str(one.device) for one in tensors if not isinstance(one, DeviceTensor)]:
            raise RuntimeError(f"{self._backend} has no tensors of {strangers[0]}")
        timeline = Timeline.current
        call = Collective(name, tuple(str(one.device) for one in tensors), timeline.stream.number)
        self.calls.append(call)
        if Graph.capturing is not None:
            Graph.capturing.add(lambda: self.calls.append(call))
        self._stream.wait_stream(timeline.stream)
        with timeline.entered(self._stream):
            for one in tensors:
                timeline.read(one.host.untyped_storage().data_ptr())
            getattr(self._fake, name)(*tree.tree_map(_on_host, arguments))
            for one in tree.tree_leaves(arguments[0]):
                if isinstance(one, DeviceTensor):
                    timeline.wrote(one.host.untyped_storage().data_ptr())
        return Waiting(self._stream)


def _method(name: str) -> Any:
    return lambda group, *arguments, **options: group.begin(name, *arguments, *options.values())


for _name, _fake in _METHODS.items():
    setattr(Ranks, _name, _method(_fake))


class Waiting(dist.Work):
    """A collective that was begun. Waiting for it has the current stream wait, and not the host."""

    def __init__(self, stream: Stream) -> None:
        super().__init__()
        self._behind = stream.record_event()

    def wait(self, timeout: Any = None) -> bool:
        Timeline.current.stream.wait_event(self._behind)
        return True

    def is_completed(self) -> bool:
        return True


def register(backend: str, kind: str) -> None:
    """Have torch.distributed know ``backend``, the vendor's name, for device type ``kind``.

    A name that torch keeps for a backend of its own, such as nccl, stays that one's.
    """
    if backend in dist.Backend.backend_list:
        return

    def create(store: Any, rank: int, size: int, timeout: Any) -> Ranks:
        return Ranks(backend, kind, rank, size)

    dist.Backend.register_backend(backend, create, devices=[kind])


def _on_host(one: Any) -> Any:
    return one.host if isinstance(one, DeviceTensor) else one
