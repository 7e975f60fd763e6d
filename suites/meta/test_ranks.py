"""What talks between ranks: backends by their vendors' names, and a simulated rank that sees what nobody waits for."""

from __future__ import annotations

import json

import pytest

from kernels.spread import MOVED
from platforms.backends import described, why_absent
from platforms.cpu import Cpu
from platforms.interpreter import Interpreter
from platforms.platform import Absent
from platforms.pool import Pool
from platforms.ranks.platform import Ranks, ranks_of
from platforms.simulated.platforms import SIMULATED
from platforms.vendors import VENDORS
from platforms.vendors.nvidia import Nvidia
from suites.meta.test_simulated_devices import START, python
from suites.tables.vendors import vendors

BACKENDS = {
    "amd": "nccl (RCCL)",
    "apple": "gloo",
    "ascend": "hccl",
    "cambricon": "cncl",
    "enflame": "nccl (ECCL)",
    "hygon": "nccl",
    "iluvatar": "nccl",
    "intel": "xccl",
    "kunlunxin": "nccl",
    "metax": "nccl (MCCL)",
    "mthreads": "mccl",
    "nvidia": "nccl",
    "thead": "nccl",
}


def test_every_vendor_names_its_backend_and_the_page_shows_it() -> None:
    named = {one.vendor.name: (one.vendor.collective, one.vendor.library) for one in VENDORS}
    assert {name: f"{one} ({library})" if library else one for name, (one, library) in named.items()} == BACKENDS
    rows = [line.split("|") for line in vendors().splitlines() if line.startswith("|")]
    shown = {row[1].strip(): row[7].strip().replace("`", "") for row in rows if len(row) == 11}
    assert {name: shown[name] for name in BACKENDS} == BACKENDS


def test_a_platform_says_which_backend_is_its() -> None:
    assert Cpu().collective == "gloo"
    assert Interpreter().collective == ""
    assert {one.name: one.collective for one in SIMULATED} == {
        "simulated-mlu": "cncl",
        "simulated-npu": "hccl",
        "simulated-musa": "mccl",
        "simulated-gcu": "nccl",
    }


def test_ranks_are_where_a_backend_moves_something_and_there_are_devices() -> None:
    said = {one.name: ranks_of(one, 2) for one in (Cpu(), Interpreter(), Nvidia(), SIMULATED[0])}
    assert said.pop("cpu").name == "cpu:ranks"
    assert {name: one.reason for name, one in said.items() if isinstance(one, Absent)} == {
        "interpreter": "no backend of torch.distributed is known for interpreter",
        "nvidia": "nvidia has room for 1 ranks, not 2",
        "simulated-mlu": "cncl is played here by PyTorch's fake backend, which moves nothing between ranks",
    }
    both = ranks_of(Nvidia(visible=("0", "1")), 2)
    assert isinstance(both, Ranks)
    assert [both.of.for_worker(rank).worker_environment["CUDA_VISIBLE_DEVICES"] for rank in range(2)] == ["0", "1"]


def test_what_a_backend_does_not_send_is_found_by_trying() -> None:
    ranks = ranks_of(Cpu(), 2)
    assert isinstance(ranks, Ranks)
    with Pool() as pool:
        lacking = pool.describe(ranks)["capabilities"]
    refused = "gloo: RuntimeError: Invalid scalar type"
    assert {dtype: lacking.get(dtype, "") for dtype in MOVED} == {
        **dict.fromkeys(MOVED, ""),
        "float8_e4m3fn": refused,
        "float8_e5m2": refused,
    }


def test_what_is_absent_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch.distributed as dist

    assert why_absent("gloo") == ""
    assert why_absent("cncl").startswith("torch.distributed knows no backend cncl; it has undefined, gloo, ")
    monkeypatch.setattr(dist, "is_nccl_available", lambda: False)
    assert why_absent("nccl").endswith("was built without nccl")
    monkeypatch.setattr(dist, "is_mpi_available", lambda: False)
    assert why_absent("mpi").startswith("torch was built without MPI; mpi4py is")
    monkeypatch.setattr(dist, "is_mpi_available", lambda: True)
    monkeypatch.setenv("PATH", "")
    assert why_absent("mpi") == "neither mpirun nor mpiexec is on PATH"
    assert described("gloo") == {"gloo": "here", "mpi": "neither mpirun nor mpiexec is on PATH"}


COLLECTIVES = """
import json
import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore
from kernels.spread import MOVED
from platforms.backends import described
dist.init_process_group(
    platform.collective, rank=1, world_size=4, store=FakeStore(), device_id=torch.device(platform.device)
)
calls = dist.group.WORLD.calls
x, out = torch.ones(4, device=platform.device), torch.empty(16, device=platform.device)
said = {"name": dist.get_backend(), "ranks": [dist.get_rank(), dist.get_world_size()]}
said["backends"] = described(platform.collective)
dist.all_reduce(x)
said["waited"] = tried(lambda: x.cpu().tolist())
dist.broadcast(x, 0)
dist.all_gather_into_tensor(out, x)
dist.reduce_scatter_tensor(x, out)
dist.all_to_all_single(out, out.clone(), [0, 4, 4, 8], [8, 4, 4, 0])
dist.barrier()
said["calls"] = [[one.name, list(one.devices), one.stream] for one in calls]
said["host"] = tried(lambda: dist.all_reduce(torch.ones(2)))
work = dist.all_reduce(x, async_op=True)
said["missing wait"] = tried(lambda: x.cpu())
work.wait()
said["wait"] = tried(lambda: x.cpu().tolist())
platform.synchronize()
with platform.beside():
    dist.all_reduce(2 * x)
    said["stream"] = calls[-1].stream
    y = 3 * x
said["not waited for"] = tried(lambda: dist.all_reduce(y))
platform.synchronize()
before = len(calls)
_, replay = platform.capture(lambda: dist.all_reduce(x))
replay()
said["replayed"] = [one.name for one in calls[before:]]
dist.destroy_process_group()
print(json.dumps(said))
"""


def test_a_simulated_rank_is_called_by_its_vendors_name_on_its_device_and_streams() -> None:
    said = json.loads(python(START.format(name="simulated-mlu") + COLLECTIVES).splitlines()[-1])
    one = "mlu:0"
    assert said["name"] == "cncl"
    assert said["ranks"] == [1, 4]
    assert said["backends"]["cncl"] == "here"
    assert said["waited"] == [1.0, 1.0, 1.0, 1.0]
    assert said["calls"] == [
        ["allreduce", [one], 0],
        ["broadcast", [one], 0],
        ["_allgather_base", [one, one], 0],
        ["_reduce_scatter_base", [one, one], 0],
        ["alltoall_base", [one, one], 0],
        ["barrier", [], 0],
    ]
    assert said["host"] == "RuntimeError: cncl has no tensors of cpu"
    assert said["missing wait"].startswith("Unsynchronized: stream 0 reads what stream 1 may still be writing")
    assert said["wait"] == [1.0, 1.0, 1.0, 1.0]
    assert said["stream"] not in (0, 1)
    assert said["not waited for"].startswith("Unsynchronized: stream 1 reads what stream")
    assert said["replayed"] == ["allreduce", "allreduce"]
