"""The architectures that kernels are compiled for where there is no device, and the limits of each.

Sources: NVIDIA, CUDA C++ Programming Guide, "Technical Specifications per Compute Capability" (threads and shared
memory of a block, registers of a thread), and PTX ISA, "Tensor Memory" (its columns); AMD, the instruction set guides
of MI200, MI300, CDNA 4, RDNA 3 and RDNA 4 (LDS of a workgroup, lanes of a wave, vector registers of a lane).
"""

from __future__ import annotations

from dataclasses import dataclass

KIB = 1024


@dataclass(frozen=True)
class Architecture:
    """What a kernel may use there.

    Attributes:
        name: as its vendor calls it, such as ``"sm_90"`` or ``"gfx942"``.
        backend: Triton's name of the backend that compiles for it.
        lanes: threads of a warp or wave.
        shared: bytes of shared memory (LDS) that one block may have.
        registers: 32-bit registers that one thread may have.
        matrix: the matrix instructions that it has, as families; the best first.
        tensor_memory: columns of tensor memory that one block may have.
        threads: threads that one block may have.
        float8: whether matrix instructions multiply floats of eight bits.
    """

    name: str
    backend: str
    lanes: int
    shared: int
    registers: int
    matrix: tuple[str, ...]
    tensor_memory: int = 0
    threads: int = 1024
    float8: bool = False

    @property
    def number(self) -> int | str:
        """What Triton calls the architecture: the number of a compute capability, or the name."""
        return int(self.name.removeprefix("sm_")) if self.name.startswith("sm_") else self.name


ARCHITECTURES = {
    one.name: one
    for one in (
        Architecture("sm_75", "cuda", 32, 64 * KIB, 255, ("mma",)),
        Architecture("sm_80", "cuda", 32, 163 * KIB, 255, ("mma",)),
        Architecture("sm_86", "cuda", 32, 99 * KIB, 255, ("mma",)),
        Architecture("sm_89", "cuda", 32, 99 * KIB, 255, ("mma",), float8=True),
        Architecture("sm_90", "cuda", 32, 227 * KIB, 255, ("wgmma", "mma"), float8=True),
        Architecture("sm_100", "cuda", 32, 227 * KIB, 255, ("tcgen05", "mma"), tensor_memory=512, float8=True),
        Architecture("sm_120", "cuda", 32, 99 * KIB, 255, ("mma",), float8=True),
        Architecture("gfx90a", "hip", 64, 64 * KIB, 512, ("mfma",)),
        Architecture("gfx942", "hip", 64, 64 * KIB, 512, ("mfma",), float8=True),
        Architecture("gfx950", "hip", 64, 160 * KIB, 512, ("mfma",), float8=True),
        Architecture("gfx1100", "hip", 32, 64 * KIB, 256, ("wmma",)),
        Architecture("gfx1201", "hip", 32, 64 * KIB, 256, ("wmma",), float8=True),
    )
}
"""By name, in the order of tables."""
