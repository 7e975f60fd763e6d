"""The process that runs kernels: it answers requests one after another until one of them kills it.

It is meant to die. What runs in it may write anywhere, never come back, or end the process; the keeper
(:mod:`platforms.worker`) sees that, says so, and makes another.
"""

from __future__ import annotations

import importlib
import json
import math
import time
from typing import Any, ClassVar

import numpy as np

from golden import inputs as making
from golden import layout
from golden.case import Case, CaseError
from golden.dtypes import dtype_of
from kernels.operation import Operation
from kernels.registry import Catalogue, Implementation
from platforms import contracts, wire
from platforms.execution import Bench, Call, CallLost, describe, execute, too_huge
from platforms.far import FAR, NoMemory
from platforms.log import tail_of
from platforms.outcome import Outcome
from platforms.platform import Platform

_SMALL = 2**30  # bytes that are there anyway


class RequestError(Exception):
    """A request makes no sense, whatever the kernel: an implementation that is not there, a malformed case."""


class Runner:
    """A platform in use in this process, with the catalogue of kernels that it can run.

    Functions that :meth:`platforms.pool.Pool.call` names find it as :attr:`current`.
    """

    current: ClassVar[Runner]
    """The runner whose request is being answered."""

    def __init__(self, platform: Platform, catalogue: Catalogue) -> None:
        self.platform = platform
        self.catalogue = catalogue.collectives if platform.spread and catalogue.collectives else catalogue
        self.spoilt = ""
        """Why this process should be replaced before it runs anything else, or ""."""
        self._lacking: dict[str, str] | None = None
        self._last: tuple[str, dict[str, np.ndarray]] = ("", {})

    def run(
        self,
        implementation_id: str,
        line: str,
        lacking: dict[str, str] | None = None,
        contract: str = "",
        limit: float = math.inf,
    ) -> Outcome:
        """Return what came of running an implementation on the case that ``line`` says.

        ``lacking`` is what the platform cannot do, if that is known; ``contract`` names one of
        :mod:`platforms.contracts` to hold it to, instead of one call; ``limit`` is how many seconds a call may take, as
        far as a platform can tell by itself. Raises RequestError and CaseError.
        """
        if self._lacking is None:
            self._lacking = lacking
        implementation = self._implementation(implementation_id)
        if isinstance(implementation, str):
            return Outcome("unsupported", message=implementation)
        case = Case.parse(line)
        reason = self._why_unsupported(implementation, case)
        if reason:
            return Outcome("unsupported", message=reason)
        operation = self.catalogue.operations[implementation.operation]
        reason = self._too_large(operation, case)
        if reason:
            return Outcome("unsupported", message=reason)
        inputs = self._inputs(operation, case)
        digest = making.digest(inputs)
        started = time.perf_counter()
        try:
            function, once = implementation.function, bool(contract)
            bench = Bench(self.platform, operation, implementation, case, inputs, function, limit, once=once)
            call = contracts.check_of(contract)(bench) if contract else execute(bench)
        except (NoMemory, contracts.NotApplicable) as error:
            return Outcome("unsupported", message=str(error))
        except CallLost as error:
            seconds = time.perf_counter() - started
            return Outcome(error.status, message=str(error), seconds=seconds, input_digest=digest)
        return self._outcome(call, digest)

    def describe(self) -> dict[str, Any]:
        """Return the platform's facts and what it cannot do."""
        return {"facts": self.platform.facts(), "capabilities": self._capabilities()}

    def call(self, target: str, arguments: dict[str, Any]) -> Any:
        """Return what the function ``"module:name"`` returns for keyword ``arguments``; raises RequestError."""
        module, _, name = target.partition(":")
        try:
            function = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError) as error:
            raise RequestError(f"no function {target!r} to call: {error}") from None
        result = function(**arguments)
        try:
            return json.loads(json.dumps(result))
        except (TypeError, ValueError) as error:
            raise RequestError(f"{target} returned what is not JSON: {error}") from None

    def _implementation(self, name: str) -> Implementation | str:
        """Return the implementation called ``name``, or why its toolchain is absent; raises RequestError."""
        if name in self.catalogue.implementations:
            return self.catalogue.implementations[name]
        family = name.rpartition("/")[0]
        if family in self.catalogue.absent:
            return self.catalogue.absent[family]
        known = [one for one in self.catalogue.implementations if one.startswith(f"{name.split('/')[0]}/")]
        raise RequestError(f"no implementation {name!r}; of that operation there are {', '.join(known) or 'none'}")

    def _why_unsupported(self, implementation: Implementation, case: Case) -> str:
        paradigm, dtype = implementation.paradigm, case.dtype
        if implementation.operation != case.operation:
            raise RequestError(f"{implementation.id} cannot run a case of {case.operation}: {case.line}")
        if refusal := self.platform.refusal(paradigm) or self.platform.lack(implementation.needs):
            return refusal
        if implementation.dtypes is not None and dtype not in implementation.dtypes:
            return f"{implementation.id} is written for {', '.join(implementation.dtypes)}, not {dtype}"
        for key in (paradigm, dtype, f"{paradigm}/{dtype}"):
            if key in self._capabilities():
                return f"{self.platform.name} cannot do {key}: {self._capabilities()[key]}"
        return ""

    def _too_large(self, operation: Operation, case: Case) -> str:
        """Return why a huge case cannot be run or judged here, or ""."""
        if reason := too_huge(self.platform, operation, case):
            return reason
        forms = operation.forms(case)
        # On a CPU what nobody touches is never mapped; an output is there twice, as it is and in a copy.
        extents = {name: layout.place(form.shape, case.spec(name).layout).extent for name, form in forms.items()}
        mapped = self.platform.device != "cpu"
        inputs = sum(
            extent * dtype_of(forms[name].dtype).itemsize for name, extent in extents.items() if mapped or extent < FAR
        )
        needed = inputs + 3 * sum(one.size * dtype_of(one.dtype).itemsize for one in operation.results(case).values())
        free = self.platform.free_bytes() if needed >= _SMALL else None
        if free is None or needed <= free:
            return ""
        return f"it needs about {needed / 2**30:.1f} GiB, and {self.platform.name} has {free / 2**30:.1f} GiB free"

    def _capabilities(self) -> dict[str, str]:
        if self._lacking is None:
            self._lacking = self.platform.capabilities()
        return self._lacking

    def _inputs(self, operation: Operation, case: Case) -> dict[str, np.ndarray]:
        """Make the inputs, or take the last ones again: several implementations run one case in a row.

        Their digest is taken anew each time, so that a kernel that wrote into them from afar is found out.
        """
        if self._last[0] != case.line:
            operation.check(case)
            self._last = (case.line, making.make_inputs(case, operation.forms(case)))
        return self._last[1]

    def _outcome(self, call: Call, digest: str) -> Outcome:
        if call.lost:
            self.spoilt = "the device does not answer after an error"
            message = "\n".join(filter(None, [*(one.detail for one in call.damage), call.message, _last_words()]))
            damage = tuple(call.damage)
            return Outcome("crashed", damage=damage, seconds=call.seconds, message=message, input_digest=digest)
        if self.platform.sanitizer and call.damage:
            self.spoilt = "a sanitizer may tell of each place only once"
        if (
            any(one.kind == "out of bounds" for one in call.damage)
            and self.platform.device == "cpu"
            and not call.message
        ):
            self.spoilt = "a kernel wrote out of bounds, perhaps into the memory of this process"
        status = "raised" if call.message else "returned"
        return Outcome(
            status,
            results=() if call.message else tuple(call.results),
            damage=tuple(call.damage),
            seconds=call.seconds,
            message=call.message or call.note,
            input_digest=digest,
            others=tuple((said, tuple(results)) for said, results in call.others),
        )


def answer(runner: Runner, request: dict[str, Any]) -> dict[str, Any]:
    """Return the reply to one request: ``{"ok": value}``, or ``{"error": text}`` for one that makes no sense."""
    Runner.current = runner
    try:
        if request["what"] == "run":
            outcome = runner.run(
                request["implementation"],
                request["case"],
                request["lacking"],
                request.get("contract", ""),
                request.get("limit", math.inf),
            )
            return {"ok": wire.outcome_to_value(outcome)}
        if request["what"] == "describe":
            return {"ok": json.dumps(runner.describe())}
        return {"ok": json.dumps(runner.call(request["target"], json.loads(request["arguments"])))}
    except (RequestError, CaseError) as error:
        return {"error": str(error)}
    except Exception as error:  # not a kernel's fault, and whoever asked must know
        return {"error": describe(error, "")}


def _last_words() -> str:
    """Return what was printed last: a device says on standard error which assertion failed."""
    try:
        return tail_of(2)
    except OSError:
        return ""  # standard error is no file; then whoever runs this sees it anyway
