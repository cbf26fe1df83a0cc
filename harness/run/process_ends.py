"""Processes of brokers that end while a run goes on: which were told to, and which were not.

1. Whoever is told to end by an action of ours is expected to: once a process, until some time
   after it was started again. Whoever else ends, nobody had planned it.
2. Signals 9 and 15, a kernel short of memory, and whoever told the engine come from outside.
   Another status is the broker's own. One that is not known, and 0, leave it open: a broker that
   ends in good order may have been asked to.
3. One that was started again was down until then, whoever had ended it.
"""

import signal
from dataclasses import dataclass, field, replace

from faults.actions import ENDING, Action, Start
from faults.model import Executor, Receipt
from faults.places import overlap
from harness.cluster.port import Ended
from spark_analysis.schema.facts import Cause, ProcessEnd

LATE_NS = 5_000_000_000  # so late at most the end of a process that was started again is told
_SIGNALLED = 128
_FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM)


@dataclass(slots=True)
class _Told:
    """An action of ours that ends the processes of a place."""

    place: str
    over_ns: int | None = None  # from then on nobody is expected to end by it
    ended: set[str] = field(default_factory=set)

    def explains(self, ended: Ended) -> bool:
        return (
            overlap(self.place, ended.place)
            and ended.place not in self.ended
            and (self.over_ns is None or ended.at_ns <= self.over_ns)
        )


class ProcessEnds:
    """Those of one run. `unplanned` always says what is known; its times are run time."""

    def __init__(self, origin_ns: int) -> None:
        self._origin_ns = origin_ns
        self._told: list[_Told] = []
        self.unplanned: list[ProcessEnd] = []

    def tell(self, place: str) -> None:
        """Before an action ends the processes of a place."""
        self._told.append(_Told(place))

    def started(self, place: str, at_ns: int) -> None:
        """When the processes of a place have been started again."""
        for told in self._told:
            if told.over_ns is None and overlap(told.place, place):
                told.over_ns = at_ns + LATE_NS
        self.unplanned = [
            replace(one, until_ns=at_ns - self._origin_ns)
            if one.until_ns is None and overlap(one.place, place)
            else one
            for one in self.unplanned
        ]

    def saw(self, ended: Ended) -> ProcessEnd | None:
        """What it is on record as; None where it was told to end."""
        for told in self._told:
            if told.explains(ended):
                told.ended.add(ended.place)
                return None
        cause, detail = _explained(ended)
        found = ProcessEnd(ended.place, ended.at_ns - self._origin_ns, cause, detail)
        self.unplanned.append(found)
        return found


class NotingExecutor:
    """faults.model.Executor that says beforehand whom it will end, and afterwards whom it has
    started."""

    def __init__(self, executor: Executor, process_ends: ProcessEnds) -> None:
        self._executor = executor
        self._process_ends = process_ends

    async def perform(self, action: Action) -> Receipt:
        if isinstance(action, ENDING):
            self._process_ends.tell(action.host)
        receipt = await self._executor.perform(action)
        if isinstance(action, Start):
            self._process_ends.started(action.host, receipt.returned_ns)
        return receipt

    def mechanism(self, kind: str) -> str:
        return self._executor.mechanism(kind)


def _explained(ended: Ended) -> tuple[Cause, str]:
    code = ended.exit_code
    if ended.ended_by:
        return Cause.OUTSIDE, f"ended by {ended.ended_by}" + (f": {_code(code)}" if code else "")
    if code is None:
        return Cause.UNKNOWN, "nobody knows how it ended"
    if code - _SIGNALLED in _FROM_OUTSIDE:
        return Cause.OUTSIDE, f"killed from outside: {_code(code)}"
    if code == 0:
        return Cause.UNKNOWN, "it ended in good order (status 0): somebody may have asked it to"
    return Cause.ITSELF, f"it ended by itself: {_code(code)}"


def _code(code: int) -> str:
    try:
        return f"signal {code - _SIGNALLED} ({signal.Signals(code - _SIGNALLED).name})"
    except ValueError:
        return f"status {code}"
