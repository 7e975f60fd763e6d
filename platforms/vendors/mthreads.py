"""Moore Threads' GPUs through torch_musa."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kernels.toolchains.compiler import DIALECTS, GUESS, NEEDED, OPTIMIZED, Compiler, numbered
from platforms.accelerator import Accelerator
from platforms.vendor import Card, Gap, Vendor, answers


@dataclass(frozen=True, kw_only=True)
class MooreThreads(Accelerator):
    """Moore Threads' GPUs."""

    name: str = "mthreads"
    device: str = "musa:0"
    paradigms: tuple[str, ...] = ("torch", "inductor", "triton", "ninetoothed", "cuda", "musa")
    vendor: ClassVar[Vendor] = Vendor(
        name="mthreads",
        title="Moore Threads (MUSA)",
        toxenv="musa",
        kind="musa",
        sign=answers("musa"),
        extension="torch_musa",
        tool="mthreads-gmi",
        visible="MUSA_VISIBLE_DEVICES",
        collective="mccl",
        graph="MUSAGraph",
        compiler=Compiler(
            paradigm="musa",
            names=("mcc",),
            home=("MUSA_HOME", "MUSA_PATH"),
            folder="/usr/local/musa",
            flags=(*OPTIMIZED, "-x", "musa"),
            architecture="--offload-arch={}",
            called=numbered("mp_{}{}"),
            library=("-shared", "-fPIC", "-I{home}/include", "-L{home}/lib", NEEDED, "-lmusart"),
            suffix=".mu",
            dialect=DIALECTS / "musa.hpp",
            sources={
                "-O3 -std=c++17 -fPIC -I{home}/include -L{home}/lib -lmusart": "InfiniCore, xmake/moore.lua",
                "-x musa --offload-arch=ARCH": "torch_musa, musa_extension.py",
                "-shared -Wl,--no-as-needed": GUESS,
            },
        ),
        products="tf32, unless it is switched off",
        triton={"warps": "4", "dot": "tf32"},
        dtypes={
            "float64": "absent in parts of Triton",
            "bfloat16": "since capability 2.2",
            "float8_e4m3fn": "since capability 3.1",
            "int64": "absent in some kernels",
        },
        cards=(
            Card(
                name="MTT S5000",
                lanes=32,
                threads=1024,
                grid=(2**31 - 1,),
                source="FlagTree, third_party/mthreads; torch_musa, TensorModeKernel.mu",
            ),
            Card(name="capability 2 and older", lanes=128, source="FlagTree, third_party/mthreads driver.py"),
        ),
        gaps=(
            Gap("atomic additions of float16 and bfloat16 are absent", "FlagGems, _mthreads/ops/histc.py"),
            Gap("div_rn is floor(x / y + 0.5), which is wrong", "FlagGems, _mthreads/ops/div.py"),
            Gap("division of float16 and bfloat16 that rounds down is off by 1 to 5", "FlagGems, test_div.py"),
            Gap("a product of 128 by 256 by 64 in 3 stages fails in float32", "FlagGems, _mthreads tune_configs.yaml"),
            Gap("processes cannot be forked after first use", "FlagGems #2826"),
            Gap("without torch_musa everything ran with the meaning of CUDA", "FlagSparse, MUSA notes"),
        ),
        guesses=(
            "whether 4 warps a block are the most (FlagGems), or 32 (its code generator)",
            "torch.musa.mem_get_info",
            "whether mcc takes what it is told, and the header by which it reads CUDA C++",
        ),
        setup=(
            "use the torch (2.7.1 exactly, for torch_musa), torch_musa and triton of its image; install none by pip",
            "export MUSA_HOME=/usr/local/musa",
        ),
    )
