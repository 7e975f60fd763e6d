"""Timing implementations in turns, in one process and on the same inputs; called in a platform's worker.

First each is tried alone: what it returns on the very case is what the judge gets to see. Those that were judged right
then race. Every round calls each once, the order turning from round to round, each with caches cleared unless the case
is far larger than they are; a round has inputs of its own, of two or three equal sets, so that no place in memory
favours anybody. Compilation and tuning are over by then: a trial's calls come before. The device is locked meanwhile,
and nobody waits behind that lock for a compiler.
"""

from __future__ import annotations

import base64
import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from typing import Any, cast

import torch

from golden import layout
from golden.case import Case
from golden.inputs import make_inputs
from kernels.operation import Operation
from kernels.work import Work, work
from platforms.accesses import widest_of
from platforms.bare import BareInputs
from platforms.compilations import counter
from platforms.contracts.tuned import tuners
from platforms.execution import describe
from platforms.obstacles import obstacle
from platforms.patterns import integer_type
from platforms.runner import Runner
from platforms.turns import alone, beside_others

Pick = Sequence[tuple[int, Sequence[int]]]
"""Which elements of a result are looked at: axes, each with the indices that are taken along it."""

SETS = 3
"""Equal sets of inputs that rounds take turns with."""

LARGEST_SETS = 2**30
"""Bytes that these may take together."""

FURTHER, BRIEF = 5, 0.5
"""How many times as many rounds there are of what is so brief, in seconds, that they cost nothing."""

BEYOND = 4
"""A case that moves so many times the bytes of the caches needs none cleared."""


def settings(*, implementation: str) -> list[str]:
    """Return the settings that the tuner of ``implementation`` may choose; none where there is no tuner."""
    function = Runner.current.catalogue.implementations[implementation].function
    found = list(dict.fromkeys(tuners(function)))
    return [str(config) for config in found[0].configs] if len(found) == 1 else []


def trial(*, entrant: str, case: str, picks: Sequence[Pick]) -> dict[str, Any]:
    """Return what ``entrant`` makes of ``case``: status, message, seconds, and what ``picks`` take of it.

    It is an implementation's id, with one of its settings in brackets if it is held to that. Seconds are those of a
    second call, by the host's clock. Status is "returned", an obstacle, or "wrong" where it changed an input.
    """
    runner = Runner.current
    one = runner.catalogue.implementations[entrant.partition("[")[0]]
    track = _track(Case.parse(case))
    call = track.call(entrant)
    try:
        first = _first(track, entrant)
        with beside_others(runner.platform.hardware):
            runner.platform.synchronize()
            taken = _taken(first, picks)
            del first
            started = time.perf_counter()
            call(0)
            runner.platform.synchronize()
            seconds = time.perf_counter() - started
    except Exception as error:  # whatever a kernel raises is its outcome
        _end_if_lost(runner)
        return {"status": obstacle(error), "message": describe(error, one.source), "seconds": 0.0, "taken": []}
    if changed := track.changed():
        _Track.latest = None  # nobody else is to get these inputs
        return {"status": "wrong", "message": changed, "seconds": 0.0, "taken": []}
    return {"status": "returned", "message": "", "seconds": seconds, "taken": taken}


def race(*, entrants: Sequence[str], case: str, picks: Sequence[Pick], rounds: int) -> dict[str, Any]:
    """Return the seconds of each round by entrant, and what they returned in the last, as ``picks`` take it.

    There are up to :data:`FURTHER` times as many ``rounds`` if they are over in :data:`BRIEF` seconds: the interval of
    what takes microseconds is then as narrow as others.

    Beside them how often each was compiled anew meanwhile, and the bits that it moves at once; the seconds of two
    floors: a copy of as many bytes as the case must move, and a matrix product of as many operations as there are in
    it; and of work that tells clock and load. Raises whatever a kernel raises.
    """
    runner = Runner.current
    platform = runner.platform
    track = _track(Case.parse(case))
    watch = platform.stopwatch()
    calls = {name: track.call(name) for name in entrants} | track.floors()
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    spins: list[float] = []
    counters = {paradigm: counter(paradigm) for paradigm in {name.split("/")[1] for name in entrants}}
    compilations = dict.fromkeys(calls, 0)
    flushed = track.work.moved < BEYOND * watch.cache
    with alone(platform.hardware), _no_collection():
        started = time.perf_counter()
        for number in range(-1, FURTHER * rounds):  # the first one warms up
            if number >= rounds and time.perf_counter() - started > BRIEF:
                break
            spin = watch.spin()
            for name in _turned(list(calls), number):
                compiled = counters.get(name.split("/")[1]) if name in entrants else None
                before = compiled() if compiled else 0
                took = watch.seconds(partial(calls[name], number), cleared=flushed)
                if number >= 0:
                    seconds[name].append(took)
                    compilations[name] += compiled() - before if compiled else 0
            spins += [spin] if number >= 0 else []
        taken = {name: _taken(calls[name](rounds), picks) for name in entrants}
    return {
        "clock": watch.clock,
        "caches": "flushed" if flushed else "exceeded",
        "sets": track.sets,
        "moved": track.work.moved,
        "operations": track.work.operations,
        "seconds": seconds,
        "compilations": compilations,
        "widest": {name: widest_of(_function(name)) for name in entrants},
        "spins": spins,
        "taken": taken,
    }


class _Track:
    """The inputs of one case on the device, several times, and calls on them."""

    latest: tuple[str, _Track] | None = None

    def __init__(self, case: Case) -> None:
        runner = Runner.current
        self._case, self._device = case, runner.platform.device
        self._operation: Operation = runner.catalogue.operations[case.operation]
        forms = self._operation.forms(case)
        inputs = make_inputs(case, forms)
        places = {name: layout.place(values.shape, case.spec(name).layout) for name, values in inputs.items()}
        dtypes = {name: form.dtype for name, form in forms.items()}
        self.work: Work = work(self._operation, case)
        self.sets = max(1, min(SETS, LARGEST_SETS // max(1, self.work.moved)))
        self._first = BareInputs(inputs, places, dtypes, self._device)
        tensors = self._first.tensors
        copies = ({name: tensor.clone() for name, tensor in tensors.items()} for _ in range(self.sets - 1))
        self._tensors = [tensors, *copies]

    def changed(self) -> str:
        """Return what was done to the first set of inputs, or ""."""
        return next((one.detail for one in self._first.damage()), "")

    def call(self, entrant: str) -> Callable[[int], Any]:
        """Return what calls ``entrant`` with the set of inputs of a round."""
        function, (_, _, setting) = _function(entrant), entrant.partition("[")
        if setting:
            function = _held(function, setting.removesuffix("]"))

        def run(number: int) -> Any:
            with torch.no_grad():
                return self._operation.call(function, self._tensors[number % self.sets], self._case)

        return run

    def floors(self) -> dict[str, Callable[[int], Any]]:
        """Return the floors by name: "copy", and "product" where there is one in the case."""
        words = max(1, self.work.moved // 8)  # 4 bytes each, read and written
        source, target = (torch.zeros(words, dtype=torch.int32, device=self._device) for _ in range(2))
        floors: dict[str, Callable[[int], Any]] = {"copy": lambda number: target.copy_(source)}
        if self.work.operations:
            side = 16 * max(1, round((self.work.operations / 2) ** (1 / 3) / 16))
            left, right = (torch.ones((side, side), dtype=self._matrix_dtype, device=self._device) for _ in range(2))
            floors["product"] = lambda number: torch.mm(left, right)
        return floors

    @property
    def _matrix_dtype(self) -> torch.dtype:
        """The case's dtype if products of it are torch's own, else float16: those of narrower types are no slower."""
        dtype = cast(torch.dtype, getattr(torch, self._case.dtype))
        return dtype if dtype in (torch.float64, torch.float32, torch.bfloat16) else torch.float16


def _first(track: _Track, entrant: str) -> Any:
    """Return the result of the first call of ``entrant``, in which it is compiled.

    That takes seconds, in which others may have the device, unless the device is the host that compiles. Where a tuner
    measures in that call, it has the device alone, and each setting has been compiled before.
    """
    platform = Runner.current.platform
    name, _, setting = entrant.partition("[")
    measures = not setting and any(tuners(_function(name)))
    with beside_others(platform.hardware) if platform.device == "cpu" else nullcontext():
        for one in settings(implementation=name) if measures else ():
            with suppress(Exception):  # the tuner meets what does not compile again
                track.call(f"{name}[{one}]")(0)
        if not measures:
            return track.call(entrant)(0)
    with alone(platform.hardware):
        return track.call(entrant)(0)


def _function(entrant: str) -> Callable[..., Any]:
    return Runner.current.catalogue.implementations[entrant.partition("[")[0]].function


def _held(function: Callable[..., Any], setting: str) -> Callable[..., Any]:
    """Return ``function`` with its tuner held to one setting: of one alone it takes no measurements."""
    (tuner,) = dict.fromkeys(tuners(function))
    chosen = [config for config in tuner.configs if str(config) == setting]

    def held(*args: Any, **kwargs: Any) -> Any:
        configs, tuner.configs = tuner.configs, chosen
        try:
            return function(*args, **kwargs)
        finally:
            tuner.configs = configs

    return held


def _track(case: Case) -> _Track:
    """Return the track of ``case``; the last one again if it was that, since many calls of one case come in a row."""
    if _Track.latest is None or _Track.latest[0] != case.line:
        _Track.latest = None  # before the next one needs memory
        _Track.latest = case.line, _Track(case)
    return _Track.latest[1]


def _turned(names: list[str], number: int) -> list[str]:
    """Return ``names`` in the order of round ``number``: each is first once, and every other round goes backwards."""
    start = number // 2 % len(names)
    order = names[start:] + names[:start]
    return order[::-1] if number % 2 else order


def _taken(results: Any, picks: Sequence[Pick]) -> list[list[dict[str, Any]]]:
    """Return, for each pick, what it takes of each result: dtype, shape and bits."""
    several = results if isinstance(results, tuple) else (results,)
    return [[_packed(result, pick) for result in several] for pick in picks]


def _packed(result: torch.Tensor, pick: Pick) -> dict[str, Any]:
    bits = result.view(integer_type(result.dtype))
    for axis, indices in pick:
        bits = bits.index_select(axis, torch.tensor(indices, device=bits.device))
    array = bits.contiguous().cpu().numpy()
    name = str(result.dtype).removeprefix("torch.")
    return {"dtype": name, "shape": list(array.shape), "bits": base64.b64encode(array.tobytes()).decode()}


def _end_if_lost(runner: Runner) -> None:
    """Have this process replaced if its device does not answer any more: everything after such an error fails too."""
    try:
        runner.platform.synchronize()
    except Exception:  # that it raises is the answer
        runner.spoilt = "the device does not answer after an error"


@contextmanager
def _no_collection() -> Iterator[None]:
    """A context in which Python collects no garbage, which would take part in somebody's time."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
