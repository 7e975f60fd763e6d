"""swiglu_backward(grad, gate, up): the gradients of swiglu, that of the gate and that of up."""

from __future__ import annotations

from typing import Any, ClassVar

from golden import enclosure
from golden.case import Case, Form
from kernels.elementwise import Elementwise
from kernels.silu import silu, silu_slope


class SwigluBackward(Elementwise):
    """grad up silu'(gate), and grad silu(gate), of tensors of one shape.

    float16 and bfloat16 are computed in float32. Products of three may be taken in any order.
    """

    name = "swiglu_backward"
    policies: ClassVar = {
        "NaN": "propagates from all",
        "inf": "open where the gate is infinite, or meets what may be 0",
    }

    def results(self, case: Case) -> dict[str, Form]:
        form = Form(self.output_shape(case), case.dtype)
        return {"grad_gate": form, "grad_up": form}

    def independent_axis(self, case: Case) -> tuple[int, dict[str, int]] | None:
        return None

    def regimes(self, dtype: str, tensor: str) -> tuple[str, ...]:
        return self.without_overflow(self.without_flushed(super().regimes(dtype, tensor), dtype), dtype)

    def reference(self, grad: Any, gate: Any, up: Any) -> Any:
        slope = silu_slope(gate)
        of_gate = enclosure.either(grad * up * slope, grad * (up * slope))
        return of_gate, grad * silu(gate)
