"""Broker processes that end during a run: which ends were planned, and which were not.

1. If one of our actions ends a process, its end is expected: once a process, until some time after
   it was started again. Every other end is unplanned.
2. Signals 9 and 15, an out-of-memory kill and a command to the container engine come from outside.
   Another exit status means that the broker ended by itself. An unknown status and 0 leave it
   open: a broker that ends in good order may have been asked to.
3. A process that was started again was down until then, whatever had ended it.
"""

import signal
from dataclasses import dataclass, field, replace

from faults.core.actions import ENDING, Action, Start
from faults.core.model import Executor, Receipt
from faults.core.places import overlap
from harness.cluster.port import Ended
from spark_analysis.schema.facts import Cause, ProcessEnd

LATE_NS = 5_000_000_000  # the longest delay of the notice that a restarted process had ended
_SIGNALLED = 128
_FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM)


@dataclass(slots=True)
class _PlannedEnd:
    """An action of ours that ends the processes of a place."""

    place: str
    over_ns: int | None = None  # from then on it explains no end
    ended: set[str] = field(default_factory=set)

    def explains(self, ended: Ended) -> bool:
        return (
            overlap(self.place, ended.place)
            and ended.place not in self.ended
            and (self.over_ns is None or ended.at_ns <= self.over_ns)
        )


class ProcessEnds:
    """The process ends of one run. `unplanned`: those known so far, in run time. `watch_lost`: why
    others may not be known; "" if the watch goes on."""

    def __init__(self, origin_ns: int) -> None:
        self._origin_ns = origin_ns
        self._planned: list[_PlannedEnd] = []
        self.unplanned: list[ProcessEnd] = []
        self.watch_lost = ""

    def expect(self, place: str) -> None:
        """Expect that an action ends the processes of a place."""
        self._planned.append(_PlannedEnd(place))

    def started(self, place: str, at_ns: int) -> None:
        """Note that the processes of a place have been started again."""
        for planned in self._planned:
            if planned.over_ns is None and overlap(planned.place, place):
                planned.over_ns = at_ns + LATE_NS
        self.unplanned = [
            replace(one, until_ns=at_ns - self._origin_ns)
            if one.until_ns is None and overlap(one.place, place)
            else one
            for one in self.unplanned
        ]

    def saw(self, ended: Ended) -> ProcessEnd | None:
        """Return the record of an unplanned end; None if it was planned."""
        for planned in self._planned:
            if planned.explains(ended):
                planned.ended.add(ended.place)
                return None
        cause, detail = _explained(ended)
        found = ProcessEnd(ended.place, ended.at_ns - self._origin_ns, cause, detail)
        self.unplanned.append(found)
        return found


class NotingExecutor:
    """A faults.core.model.Executor that notes which processes its actions end and start."""

    def __init__(self, executor: Executor, process_ends: ProcessEnds) -> None:
        self._executor = executor
        self._process_ends = process_ends

    async def perform(self, action: Action) -> Receipt:
        if isinstance(action, ENDING):
            self._process_ends.expect(action.host)
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
        return Cause.UNKNOWN, "how it ended is unknown"
    if code - _SIGNALLED in _FROM_OUTSIDE:
        return Cause.OUTSIDE, f"killed from outside: {_code(code)}"
    if code == 0:
        return Cause.UNKNOWN, "it ended normally (status 0), perhaps on request"
    return Cause.ITSELF, f"it ended by itself: {_code(code)}"


def _code(code: int) -> str:
    try:
        return f"signal {code - _SIGNALLED} ({signal.Signals(code - _SIGNALLED).name})"
    except ValueError:
        return f"status {code}"
