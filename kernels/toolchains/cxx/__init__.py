"""What the files of C++ and CUDA C++ share: a kernel is a C function, built when it is first called.

A Python file registers implementations and gives the tensors; the source of the same name beside it computes::

    SOURCE = Source(__file__, ".cpp")

    @implementation("relu", paradigm="cpp")
    def flat(x):
        out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        SOURCE.call("flat", x, out)
        return out

Which compiler builds it, and whether an emulator runs it, is said by the process's target (:mod:`.target`).
"""
