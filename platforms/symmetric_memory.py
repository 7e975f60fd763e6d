"""PyTorch's symmetric memory, which ranks of one machine read and write in each other: tried, and never assumed."""

from __future__ import annotations

import os

SINGLE = "TORCH_SYMM_MEM_DISABLE_MULTICAST"
"""The environment variable that has it leave NVLink's multicast alone, which not every machine lets programs set up."""


def why_absent(device: str) -> str:
    """Return why the ranks of the default group have no symmetric memory on ``device``, or "" if they have.

    Every rank calls it. Each writes its number into its own part, and reads that of the next one from there; where one
    cannot, all say so.
    """
    import torch.distributed as dist

    os.environ.setdefault(SINGLE, "1")
    why = _tried(device, dist.get_rank(), dist.get_world_size())
    said: list[str] = [""] * dist.get_world_size()
    dist.all_gather_object(said, why)
    return next(filter(None, said), "")


def _tried(device: str, rank: int, size: int) -> str:
    import torch
    import torch.distributed as dist

    try:
        from torch.distributed import _symmetric_memory as symmetric

        mine = symmetric.empty(16, dtype=torch.float32, device=torch.device(device))
        handle = symmetric.rendezvous(mine, dist.group.WORLD)
        mine.fill_(rank + 1)
        handle.barrier()
        following = (rank + 1) % size
        seen = handle.get_buffer(following, (16,), torch.float32).tolist()
        handle.barrier()
    except Exception as error:  # whatever torch or the driver raises is the reason
        return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    return "" if seen == [following + 1.0] * 16 else f"rank {rank} reads {seen[0]} where rank {following} wrote another"
