"""A case: a small JSON value that fixes one input completely.

It prints as one line, replays on any machine (``pytest --case '<line>'``), and is what travels to a platform's worker:
never the tensors, which the worker makes itself.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from golden import layout as layouts
from golden.dtypes import dtype_of

_FIELDS = ("operation", "dtype", "dims", "params", "tensors", "seed")
_EXAMPLE = '{"operation":"relu","dtype":"float32","dims":{"x":[3,17]},"seed":0}'


class CaseError(ValueError):
    """A case line is malformed; the message names the part and says what would be right."""


@dataclass(frozen=True)
class TensorSpec:
    """How one input tensor is made: the regime its values come from and its layout in memory."""

    regime: str = "normal"
    layout: str = "contiguous"


@dataclass(frozen=True)
class Form:
    """Shape and dtype of a tensor, and for an input of integers the range [low, high) that is asked of them.

    ``values``, in row-major order, are those of an integer tensor that the rest of the case fixes, such as the offsets
    of sequences whose lengths are dims: its regime then says nothing. Raises ValueError unless they fill the shape.
    """

    shape: tuple[int, ...]
    dtype: str
    low: int | None = None
    high: int | None = None
    values: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.values is not None and len(self.values) != self.size:
            raise ValueError(f"{len(self.values)} values do not fill a tensor of shape {self.shape}")

    @property
    def size(self) -> int:
        """How many elements the tensor has."""
        return math.prod(self.shape)


@dataclass(frozen=True, eq=False)
class Case:
    """One input, completely: operation, dtype, dims, parameters, each tensor's regime and layout, seed.

    ``dims`` maps the names of the operation's dims to an integer or a list of integers; ``params`` are the keyword
    arguments of the call. Two cases are equal when their lines are.
    """

    operation: str
    dtype: str
    dims: Mapping[str, Any]
    params: Mapping[str, Any] = field(default_factory=dict)
    tensors: Mapping[str, TensorSpec] = field(default_factory=dict)
    seed: int = 0

    def spec(self, tensor: str) -> TensorSpec:
        """Return how ``tensor`` is made; normal and contiguous when the case does not say."""
        return self.tensors.get(tensor, TensorSpec())

    @property
    def line(self) -> str:
        """The case as one line of canonical JSON; what is default is left out."""
        value: dict[str, Any] = {"operation": self.operation, "dtype": self.dtype, "dims": dict(self.dims)}
        if self.params:
            value["params"] = dict(self.params)
        tensors = {name: _spec_value(spec) for name, spec in self.tensors.items() if spec != TensorSpec()}
        if tensors:
            value["tensors"] = tensors
        value["seed"] = self.seed
        return json.dumps(value, separators=(",", ":"), allow_nan=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Case) and self.line == other.line

    def __hash__(self) -> int:
        return hash(self.line)

    @classmethod
    def parse(cls, line: str) -> Case:
        """Return the case that ``line`` says; raises CaseError for anything malformed."""
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            raise CaseError(f"a case is one line of JSON, like {_EXAMPLE}; {error} in {line!r}") from None
        if not isinstance(value, dict):
            raise CaseError(f"a case is a JSON object, like {_EXAMPLE}; not {line!r}")
        for name in value:
            if name not in _FIELDS:
                raise CaseError(f"unknown field {name!r} in the case; there are {', '.join(_FIELDS)}")
        for name in ("operation", "dtype", "dims"):
            if name not in value:
                raise CaseError(f"the case lacks {name!r}; a whole one is like {_EXAMPLE}")
        return cls(
            operation=_text(value, "operation"),
            dtype=_dtype(value["dtype"]),
            dims=_dims(value["dims"]),
            params=_object(value.get("params", {}), "params"),
            tensors={name: _spec(name, spec) for name, spec in _object(value.get("tensors", {}), "tensors").items()},
            seed=_natural(value.get("seed", 0), "seed"),
        )


def _spec_value(spec: TensorSpec) -> dict[str, str]:
    default = TensorSpec()
    pairs = (("regime", spec.regime, default.regime), ("layout", spec.layout, default.layout))
    return {name: value for name, value, usual in pairs if value != usual}


def _text(value: Mapping[str, Any], name: str) -> str:
    if not isinstance(value[name], str):
        raise CaseError(f"{name!r} must be a text, not {value[name]!r}")
    return value[name]


def _dtype(value: object) -> str:
    try:
        return dtype_of(str(value)).name
    except ValueError as error:
        raise CaseError(str(error)) from None


def _object(value: object, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise CaseError(f"{name!r} must be a JSON object, not {value!r}")
    return value


def _natural(value: object, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise CaseError(f"{name!r} must be an integer of 0 or more, not {value!r}")
    return value


def _dims(value: object) -> dict[str, Any]:
    dims = _object(value, "dims")
    for name, size in dims.items():
        for one in size if isinstance(size, list) else [size]:
            _natural(one, f"dims.{name}")
    return dims


def _spec(name: str, value: object) -> TensorSpec:
    spec = _object(value, f"tensors.{name}")
    for key, text in spec.items():
        if key not in ("regime", "layout") or not isinstance(text, str):
            raise CaseError(f'tensors.{name} takes "regime" and "layout", both texts; not {key!r}: {text!r}')
    result = TensorSpec(**spec)
    try:
        layouts.parse(result.layout)
    except layouts.LayoutError as error:
        raise CaseError(f"tensors.{name}: {error}") from None
    return result
