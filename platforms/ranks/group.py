"""What a rank talks to the others through: the one door to torch.distributed, which notes who is in it.

Every call is noted when it begins and when it is over, where the process that started the ranks can see it. When time
is up, the rank that the others wait for is the one that is in no call, or in an earlier one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
import torch.distributed as dist

_REDUCTIONS = {
    "sum": dist.ReduceOp.SUM,
    "max": dist.ReduceOp.MAX,
    "min": dist.ReduceOp.MIN,
    "avg": dist.ReduceOp.AVG,
}

# Newer versions of torch have other names for these, and warn of the old ones.
_reduce_scatter = getattr(dist, "reduce_scatter_single", None) or dist.reduce_scatter_tensor
_all_gather = getattr(dist, "all_gather_single", None) or dist.all_gather_into_tensor


class Progress(NamedTuple):
    """How many calls a rank has begun, and how many are over."""

    begun: int
    over: int


class Group:
    """One rank's way to the others.

    Attributes:
        rank: its number.
        size: how many ranks there are.
        backend: the name of what moves the data.

    Tensors must be contiguous, whatever a backend makes of others: each raises ValueError. What is given ``wait=False``
    returns at once, with work that must be waited for before its tensors are read or written; everything else returns
    when the result may be used.
    """

    def __init__(self, rank: int, size: int, noted: Any) -> None:
        self.rank, self.size, self.backend = rank, size, dist.get_backend()
        self._noted = noted

    def all_reduce(self, x: torch.Tensor, op: str = "sum", *, wait: bool = True) -> Pending | None:
        """Put the reduction of ``x`` over all ranks into ``x``."""
        return self._begun(wait, (x,), lambda: dist.all_reduce(x, op=_REDUCTIONS[op], async_op=not wait))

    def reduce_scatter(
        self, out: torch.Tensor, x: torch.Tensor, op: str = "sum", *, wait: bool = True
    ) -> Pending | None:
        """Put this rank's part of the reduction of ``x`` into ``out``, which has the shape of that part."""
        return self._begun(wait, (out, x), lambda: _reduce_scatter(out, x, op=_REDUCTIONS[op], async_op=not wait))

    def all_gather(self, out: torch.Tensor, x: torch.Tensor, *, wait: bool = True) -> Pending | None:
        """Put the ``x`` of all ranks, one after the other, into ``out``."""
        return self._begun(wait, (out, x), lambda: _all_gather(out, x, async_op=not wait))

    def broadcast(self, x: torch.Tensor, source: int, *, wait: bool = True) -> Pending | None:
        """Put the ``x`` of rank ``source`` into that of all others."""
        return self._begun(wait, (x,), lambda: dist.broadcast(x, source, async_op=not wait))

    def all_to_all(
        self, out: torch.Tensor, x: torch.Tensor, received: Sequence[int], sent: Sequence[int], *, wait: bool = True
    ) -> Pending | None:
        """Send ``sent[r]`` rows of ``x`` to each rank r, in order, and put ``received[r]`` rows of its into ``out``."""

        def begin() -> Any:
            return dist.all_to_all_single(out, x, list(received), list(sent), async_op=not wait)

        return self._begun(wait, (out, x), begin)

    def exchange(self, sent: torch.Tensor | None, to: int, received: torch.Tensor | None, source: int) -> None:
        """Send a tensor to rank ``to`` and receive one of rank ``source`` at once; None of either is nothing."""
        _check_contiguous([one for one in (sent, received) if one is not None])
        operations = [dist.P2POp(dist.isend, sent, to)] if sent is not None and sent.numel() else []
        if received is not None and received.numel():
            operations.append(dist.P2POp(dist.irecv, received, source))
        if operations:
            with self._inside():
                for work in dist.batch_isend_irecv(operations):
                    work.wait()

    def symmetric(self, elements: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        """Return memory of so many ``elements`` that all ranks reach, each with its own; all must ask for the same.

        It begins where messages of any alignment may; raises whatever torch raises where it has none.
        """
        import torch.distributed._symmetric_memory as symmetric

        with self._inside():
            buffer = symmetric.empty(elements, dtype=dtype, device=device)
            symmetric.rendezvous(buffer, group=_name())
        return buffer

    def summed_at_once(self, buffer: torch.Tensor) -> torch.Tensor:
        """Return the sum of what lies in all ranks' :meth:`symmetric` memory, which each reads for itself."""
        with self._inside():
            return torch.ops.symm_mem.one_shot_all_reduce(buffer, "sum", _name())  # type: ignore[no-any-return]

    def summed_in_place(self, buffer: torch.Tensor) -> None:
        """Put the sum into all ranks' :meth:`symmetric` memory: each makes a part of it and writes that to all."""
        with self._inside():
            torch.ops.symm_mem.two_shot_all_reduce_(buffer, "sum", _name())

    def barrier(self) -> None:
        """Wait until all ranks have come here."""
        with self._inside():
            dist.barrier()

    def _begun(self, wait: bool, tensors: Sequence[torch.Tensor], begin: Any) -> Pending | None:
        _check_contiguous(tensors)
        with self._inside():
            work = begin()
        return None if wait else Pending(self, work)

    @contextlib.contextmanager
    def _inside(self) -> Iterator[None]:
        self._noted[2 * self.rank] += 1
        try:
            yield
        finally:
            self._noted[2 * self.rank + 1] += 1


def _name() -> str:
    assert dist.group.WORLD is not None
    return str(dist.group.WORLD.group_name)


def _check_contiguous(tensors: Sequence[torch.Tensor]) -> None:
    for one in tensors:
        if not one.is_contiguous():
            raise ValueError(
                f"ranks send and receive contiguous tensors, not one of shape {list(one.shape)} and strides "
                f"{list(one.stride())}"
            )


class Pending:
    """A collective that was begun, and must be waited for."""

    def __init__(self, group: Group, work: Any) -> None:
        self._group, self._work = group, work

    def wait(self) -> None:
        """Return when its tensors may be read and written."""
        with self._group._inside():
            self._work.wait()
