"""What a contract is: everything an operation promises, said once, for every implementation and platform.

A contract is a subclass of :class:`Operation`. Its ``reference`` is the formula, written over enclosures
(:mod:`golden.enclosure`), whose signature is also the signature of every implementation: tensors first, in order,
parameters keyword-only, new tensors returned.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from golden.case import Case, CaseError, Form
from golden.dtypes import FLOATS, dtype_of
from golden.inputs import known_regimes, regimes_of
from golden.precision import Precision
from kernels.relations import Relation

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

DECLARED: list[type[Operation]] = []
"""Every contract defined so far, in order; :mod:`kernels.registry` makes the catalogue of them."""


class Operation:
    """A contract. Subclass it, give it a ``name``, and define ``shapes``, ``output_shape``, ``dims`` and ``reference``.

    One with several results defines ``results`` instead of ``output_shape``, and its reference returns a tuple.

    Attributes:
        name: what the operation is called, also in case lines and in ``operation/paradigm/name``.
        dtypes: the element types it is defined for.
        tensor_dtypes: the dtypes of tensors that do not have the case's, by name, such as an index.
        neutral: the value that, put in the place of an element, takes that element out of the reduction.
        multiplies_matrices: whether matrix units may take part, whose peculiarities may then account for a drift.
        spread: whether its input lies on several ranks (:mod:`kernels.spread`).
        scatters: whether elements are added up in memory, where the hardware's own additions may account for a drift.
        column_axis: the axis of a matrix product's result along which its second operand varies.
        also_drawn: laws of values that drawn cases have beside the ``regimes``, by tensor. Frozen cases, by which
            machines are compared, lack them.
        policies: what happens where platforms may disagree, a sentence for each topic (NaN, signed zero, empty, ...).
            A sentence that begins with "open:" says what is recorded and compared between platforms, not judged.
        relations: what its results on other inputs say of its result, by name.
        toothless: why fewer than nine in ten cases refuse a corruption of :mod:`golden.teeth`, by its name, where that
            cannot be mended.
    """

    name: ClassVar[str] = ""
    dtypes: ClassVar[tuple[str, ...]] = FLOATS
    tensor_dtypes: ClassVar[Mapping[str, str]] = {}
    neutral: ClassVar[float] = 0.0
    multiplies_matrices: ClassVar[bool] = False
    spread: ClassVar[bool] = False
    scatters: ClassVar[bool] = False
    column_axis: ClassVar[int] = -1
    also_drawn: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    policies: ClassVar[Mapping[str, str]] = {}
    relations: ClassVar[Mapping[str, Relation]] = {}
    toothless: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, *, abstract: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not abstract:
            DECLARED.append(cls)

    # What a contract's author defines.

    def shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        """Return the shape of every input tensor, by name and in the order of the call; raises CaseError."""
        raise NotImplementedError

    def output_shape(self, case: Case) -> tuple[int, ...]:
        """Return the shape of the result, of an operation that has one."""
        raise NotImplementedError

    def dims(self, budget: int) -> SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        """Return a strategy of (dims, params), aimed at where faults live; at most ``budget`` elements a tensor."""
        raise NotImplementedError

    def reference(self, *tensors: Any, **params: Any) -> Any:
        """Return the formula's result, a tuple of several; the arguments are enclosures or plain float64 arrays.

        Integer tensors are plain int64 arrays. An integer result is a plain array that must be met exactly, a masked
        one (:class:`numpy.ma.MaskedArray`) whose masked elements are open, or an enclosure of whole numbers.
        """
        raise NotImplementedError

    def limits(self, case: Case, tensor: str) -> tuple[int, int] | None:
        """Return the range [low, high) of an integer tensor's values, such as an index; None for all, by default."""
        return None

    def values(self, case: Case, tensor: str) -> Sequence[int] | None:
        """Return all values of an integer tensor in row-major order, where the case's dims fix them; None by default.

        Offsets of sequences whose lengths are dims are an example.
        """
        return None

    def output_dtype(self, case: Case) -> str:
        """Return the dtype of the result; the case's, by default."""
        return case.dtype

    def results(self, case: Case) -> dict[str, Form]:
        """Return shape and dtype of every result, by name and in order; one, ``out``, by default."""
        return {"out": Form(tuple(self.output_shape(case)), self.output_dtype(case))}

    def contradiction(self, case: Case, inputs: Mapping[str, np.ndarray], results: Mapping[str, np.ndarray]) -> str:
        """Return how ``results`` contradict ``inputs`` or each other where golden results leave them open, or "".

        Both are decoded, by name. An example are indices of equal elements, any of which may come first, but each once.
        """
        return ""

    def reduced_axes(self, case: Case) -> dict[str, int]:
        """Return, for each tensor that is summed over, the axis that the reduction runs along; none by default."""
        return {}

    def independent_axis(self, case: Case) -> tuple[int, dict[str, int]] | None:
        """Return an axis of the result along which no element depends on another's inputs; None for none, by default.

        With it come the axes of the tensors that go along with it, by name; other tensors are needed whole. An
        operation of several results has none.
        """
        return None

    def precision(self, dtype: str) -> Precision:
        """Return how precisely the contract wants ``dtype`` computed: narrow types in float32, by default.

        What such a computation multiplies as matrices may be rounded to the narrow type first, since matrix units take
        nothing else: attention's P, dequantized weights.
        """
        return Precision(dtype) if dtype in ("float64", "float32") else Precision("float32", fed=dtype)

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        """Return the regimes that values of ``tensor`` may come from; all that its dtype has, by default."""
        return tuple(regimes_of(self.tensor_dtypes.get(tensor, dtype)))

    # What everything else asks.

    def forms(self, case: Case) -> dict[str, Form]:
        """Return what is asked of every input tensor, by name and in the order of the call; raises CaseError."""
        return {name: self._form(case, name, shape) for name, shape in self.shapes(case).items()}

    def _form(self, case: Case, name: str, shape: tuple[int, ...]) -> Form:
        low, high = self.limits(case, name) or (None, None)
        values = self.values(case, name)
        dtype = self.tensor_dtypes.get(name, case.dtype)
        return Form(tuple(shape), dtype, low, high, values if values is None else tuple(values))

    @functools.cached_property
    def signature(self) -> str:
        """The signature as people write it: ``softmax(x, *, dim)``."""
        parameters = inspect.signature(self.reference).parameters.values()
        plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
        return f"{self.name}{inspect.Signature(plain)}"

    @functools.cached_property
    def tensors(self) -> tuple[str, ...]:
        """The names of the input tensors in the order of the call."""
        return self._names(inspect.Parameter.POSITIONAL_OR_KEYWORD)

    @functools.cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of the keyword-only parameters."""
        return self._names(inspect.Parameter.KEYWORD_ONLY)

    def call(self, function: Callable[..., Any], tensors: Mapping[str, Any], case: Case) -> Any:
        """Return ``function`` called with the tensors in order and the case's parameters."""
        return function(*(tensors[name] for name in self.tensors), **case.params)

    def check(self, case: Case) -> None:
        """Raise CaseError unless ``case`` is one of this operation, with all that it needs and nothing else."""
        if dtype_of(case.dtype).name not in self.dtypes:
            raise CaseError(f"{self.name} is not defined for {case.dtype}; it is for {', '.join(self.dtypes)}")
        if set(case.params) != set(self.parameters):
            raise CaseError(f"{self.signature} takes the params {list(self.parameters)}, not {sorted(case.params)}")
        forms = self.forms(case)
        for tensor, spec in case.tensors.items():
            if tensor not in forms:
                raise CaseError(f"{self.signature} has no tensor {tensor!r}")
            dtype = forms[tensor].dtype
            if spec.regime not in known_regimes(dtype):
                known = ", ".join(known_regimes(dtype))
                raise CaseError(f"tensors.{tensor}: {dtype} has no regime {spec.regime!r}; it has {known}")

    def size(self, case: Case, *names: str) -> tuple[int, ...]:
        """Return dims ``names`` of the case, which must be single integers; raises CaseError."""
        return tuple(self._dim(case, name, int) for name in names)

    def shape(self, case: Case, name: str) -> tuple[int, ...]:
        """Return dim ``name`` of the case, which must be a list of integers; raises CaseError."""
        return tuple(self._dim(case, name, list))

    def rows(self, case: Case, name: str) -> tuple[int, ...]:
        """Return dim ``name`` of the case, a shape whose last axis has one element or more; raises CaseError."""
        shape = self.shape(case, name)
        if not shape or not shape[-1]:
            raise CaseError(f"{self.name} needs rows of one element or more, not dims.{name} = {list(shape)}")
        return shape

    @staticmethod
    def without_overflow(regimes: tuple[str, ...], dtype: str) -> tuple[str, ...]:
        """Return ``regimes`` without the largest numbers, unless squares and products of them stay in float32's range.

        Where they do not, all would be left open.
        """
        return regimes if dtype == "float16" else tuple(regime for regime in regimes if regime != "large")

    @staticmethod
    def without_flushed(regimes: tuple[str, ...], dtype: str) -> tuple[str, ...]:
        """Return ``regimes`` without subnormal numbers, where results as small may be flushed to zero.

        Nothing could be refused there; the subnormal numbers of float16 are normal ones in float32.
        """
        return regimes if dtype == "float16" else tuple(regime for regime in regimes if regime != "subnormal")

    def _dim(self, case: Case, name: str, kind: type) -> Any:
        value = case.dims.get(name)
        if not isinstance(value, kind):
            what = "an integer" if kind is int else "a list of integers"
            raise CaseError(f"{self.name} needs dims.{name}, {what}; the case has {dict(case.dims)}")
        return value

    def _names(self, kind: Any) -> tuple[str, ...]:
        parameters = inspect.signature(self.reference).parameters.values()
        return tuple(parameter.name for parameter in parameters if parameter.kind == kind)
