"""What is tested: one folder an operation, whose ``__init__.py`` is its contract, then one file a paradigm.

Kernel files, here or anywhere else, need two names of this package::

    from kernels import implementation, Operation

Importing it needs neither a toolchain nor a device: the folders are read by :func:`kernels.registry.load`.
"""

from kernels.operation import Operation
from kernels.registry import implementation

__all__ = ["Operation", "implementation"]
