"""Cambricon's MLUs through torch_mlu."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from kernels.toolchains.compiler import GUESS, NEEDED, OPTIMIZED, Compiler, numbered
from platforms.accelerator import Accelerator
from platforms.vendor import Card, Gap, Vendor, answers


@dataclass(frozen=True, kw_only=True)
class Cambricon(Accelerator):
    """Cambricon's MLUs."""

    name: str = "cambricon"
    device: str = "mlu:0"
    paradigms: tuple[str, ...] = ("torch", "inductor", "triton", "ninetoothed", "bang")
    vendor: ClassVar[Vendor] = Vendor(
        name="cambricon",
        title="Cambricon MLU (NeuWare)",
        toxenv="mlu",
        kind="mlu",
        sign=answers("mlu"),
        extension="torch_mlu",
        tool="cnmon",
        visible="MLU_VISIBLE_DEVICES",
        collective="cncl",
        graph="MLUGraph",
        compiler=Compiler(
            paradigm="bang",
            names=("cncc",),
            home=("NEUWARE_HOME",),
            folder="/usr/local/neuware",
            flags=OPTIMIZED,
            architecture="--bang-arch={}",
            called=numbered("compute_{}{}"),
            library=("--shared", "-fPIC", "-I{home}/include", "-L{home}/lib64", NEEDED, "-lcnrt", "-lstdc++"),
            suffix=".mlu",
            trial=Path(__file__).parent.with_name("bang_trial.mlu"),
            sources={
                "-O3 -std=c++17 -fPIC -I{home}/include -L{home}/lib64 -lcnrt": "InfiniCore, xmake/bang.lua",
                "--bang-arch=ARCH -lstdc++": "torch_mlu, examples/mlu_extension (compute_50: MLU590)",
                "--shared -Wl,--no-as-needed": GUESS,
            },
        ),
        products="torch.backends.mlu.matmul.allow_tf32; the flags of torch.backends.cuda are ignored",
        triton={"warps": "1", "stages": "0", "dot": "tf32 (ieee alone before isa 500)"},
        dtypes={
            "float64": "kept as float32",
            "int64": "kept as int32, with a warning, unless ENABLE_MLU_OVERFLOW_CHECK is set",
            "bfloat16": "since isa 500",
            "float8_e4m3fn": "since isa 600",
        },
        cards=(Card(name="MLU590", units=48, source="FlagTree, third_party/cambricon driver.py"),),
        gaps=(
            Gap("atomics of int64 and bfloat16 are absent", "FlagGems, _cambricon/ops/scatter_reduce.py"),
            Gap("two atomics on one place in one kernel lose updates", "FlagGems, _cambricon/ops/index_add.py"),
            Gap("a loop of compare-and-swap never ends at NaN", "FlagGems, _cambricon/ops/scatter_reduce.py"),
            Gap("comparing int8 is wrong", "FlagGems, _cambricon/ops/isclose.py"),
            Gap("a fork after first use is refused", "torch_mlu, torch_mlu/mlu"),
            Gap("FlagGems imports torch_mlu where there is no card, and dies", "FlagGems, _cambricon/__init__.py"),
            Gap("InfiniCore does not wait for it, so that it times launches", "InfiniCore, utils.py"),
        ),
        guesses=(
            "how many programs of Triton one launch may have",
            "bytes of NRAM that Triton gives to a tile",
            "torch.mlu.mem_get_info",
            "what cncc is told without a source, and the trial of BANG C",
            "whether torch.mlu tells the architecture by the two numbers that --bang-arch has",
        ),
        setup=(
            "use the torch, torch_mlu and triton of the NeuWare image; install none by pip",
            "export NEUWARE_HOME=/usr/local/neuware",
        ),
    )
