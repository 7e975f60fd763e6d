"""What a probe asks of a machine, and what it gets when the machine cannot do it."""

from __future__ import annotations

import numpy as np


class Unable(Exception):
    """A machine has not got what a probe asks for; the message says what and why."""


class Machine:
    """Something that computes. Each method may raise :class:`Unable`, and here all do.

    Numbers travel as NumPy arrays, float64 for floating dtypes and int64 for integers, and are always such as the dtype
    named beside them has. Both hold them exactly.
    """

    name = "machine"

    def elementwise(self, function: str, dtype: str, *operands: np.ndarray) -> np.ndarray:
        """Return ``function`` of vectors of ``dtype``, in that dtype.

        The functions are ``add``, ``subtract``, ``multiply``, ``divide``, ``multiply_add`` (a * b + c, written as one
        expression), ``maximum``, ``minimum``, and those of :mod:`golden.functions`; of integers also ``floor_divide``
        (spelled ``//``), ``remainder`` (``%``), ``shift_left`` and ``shift_right``.
        """
        raise Unable(f"{self.name} has no {function} of {dtype}")

    def convert(self, x: np.ndarray, source: str, target: str) -> np.ndarray:
        """Return a vector of dtype ``source`` in dtype ``target``."""
        raise Unable(f"{self.name} does not convert {source} to {target}")

    def sums(self, x: np.ndarray, dtype: str) -> np.ndarray:
        """Return the sum of each row of ``x`` (rows, n)."""
        raise Unable(f"{self.name} has no sum of {dtype}")

    def product(self, a: np.ndarray, b: np.ndarray, dtype: str) -> np.ndarray:
        """Return the matrix product of ``a`` (m, k) and ``b`` (k, n) of ``dtype``, in the dtype that it gives."""
        raise Unable(f"{self.name} has no matrix product of {dtype}")
