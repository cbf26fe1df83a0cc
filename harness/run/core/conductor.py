"""The order of a run: what is to be done now, given what happened (docs/verdicts.md 3).

1. Pure: events in, dispatches out; time is a field of an event. The shell carries them out.
2. Phases only go forward: preparing, baseline, windows, recovery, settle, drain, audit, closing,
   finished.
3. Every window goes its own way (waiting, arming, holding, undoing, leaving, over), but one that
   is to open after another's end waits until that one is over, and keeps the pause between them.
   A window that was opened is always undone.
4. Operations come one by one, each when its time has come and what was to be over before it (an
   earlier operation, a window that was to end) is over, with the pause between them kept. They
   stand in the phase of the windows.
5. The load ends only after the last window is over and the last operation has returned, and
   `recovery_s` more have passed.
6. An interrupt stops the load at once, undoes what is armed, breaks an operation off and closes;
   nothing is drained or audited.

window:  waiting --opens--> arming --Opened--> holding --closes--> undoing --Undone--> leaving
         --Left--> over;  arming --Missed--> over
operation:  waiting --due--> performing --Performed--> over
"""

from dataclasses import dataclass, field
from enum import Enum, auto

from harness.plan.model import OperationStep, Schedule, Window
from harness.run.core.conductor_protocol import (
    Audit,
    Audited,
    BreakOff,
    Closed,
    CloseLoad,
    Dispatch,
    Drained,
    Enter,
    Event,
    Finish,
    Interrupted,
    Left,
    Missed,
    Open,
    Opened,
    Perform,
    Performed,
    Ready,
    RunPhase,
    StopLoad,
    Tick,
    Undo,
    Undone,
)

NS = 1_000_000_000


class _Stand(Enum):
    WAITING = auto()
    ARMING = auto()
    HOLDING = auto()
    UNDOING = auto()
    LEAVING = auto()
    PERFORMING = auto()
    OVER = auto()


_Name = tuple[type, int]  # Window or OperationStep, and its number


@dataclass(slots=True)
class _Item:
    """A window or an operation."""

    opens_ns: int  # at the earliest
    lasts_ns: int
    awaited_ns: dict[_Name, int]  # what must be over, and how long before
    closes_ns: int = 0
    undone_ns: int = 0
    over_ns: int = 0
    stand: _Stand = _Stand.WAITING


@dataclass(slots=True)
class Conductor:
    """One run. Feed it events; do what it answers, in order."""

    schedule: Schedule
    phase: RunPhase = RunPhase.PREPARING
    load_starts_ns: int = 0
    _items: dict[_Name, _Item] = field(default_factory=dict)
    _quiet_since_ns: int = 0  # baseline's end, or when the last item was over, if that is later
    _settle_ends_ns: int = 0
    _interrupted: bool = False

    def handle(self, event: Event) -> list[Dispatch]:
        match event:
            case Ready():
                return self._begin(event)
            case Tick():
                return self._tick(event)
            case Opened():
                return self._opened(event)
            case Undone():
                left = self._items[Window, event.window]
                left.stand, left.undone_ns = _Stand.LEAVING, event.now_ns
                return self._undo_last() if self._interrupted else []
            case Missed(number, now_ns) | Left(number, now_ns):
                return self._over((Window, number), now_ns)
            case Performed(number, now_ns):
                return self._over((OperationStep, number), now_ns)
            case Drained():
                return self._follow(RunPhase.DRAIN, RunPhase.AUDIT, Audit())
            case Audited():
                return self._follow(RunPhase.AUDIT, RunPhase.CLOSING, Finish())
            case Closed():
                return self._enter(RunPhase.FINISHED)
            case Interrupted():
                return self._interrupt()

    def armed(self) -> list[int]:
        """The windows whose fault may be in force, in order."""
        return self._windows(_Stand.ARMING, _Stand.HOLDING, _Stand.UNDOING, _Stand.LEAVING)

    def to_undo(self) -> list[int]:
        """The windows whose undo has not returned, in order."""
        return self._windows(_Stand.ARMING, _Stand.HOLDING, _Stand.UNDOING)

    def awaits_undo(self) -> bool:
        """Return whether the undo of a planned fault is still to come or to return."""
        left = {*self._windows(_Stand.WAITING), *self.to_undo()}
        return any(one.number in left and one.fault.returns for one in self.schedule.windows)

    def undoing(self) -> dict[int, int]:
        """Return the windows whose fault is being undone, each with since when."""
        found = self._windows(_Stand.UNDOING)
        return {number: self._items[Window, number].closes_ns for number in found}

    def leaving(self) -> dict[int, int]:
        """Return the windows whose fault is not yet seen to have ended, and since when."""
        found = self._windows(_Stand.LEAVING)
        return {number: self._items[Window, number].undone_ns for number in found}

    def _windows(self, *stands: _Stand) -> list[int]:
        return [
            number
            for (of, number), item in self._items.items()
            if of is Window and item.stand in stands
        ]

    def left_s(self, now_ns: int) -> float:
        """At least so long until the load ends and has settled; 0 when it did."""
        if self.phase in (
            RunPhase.PREPARING,
            RunPhase.BASELINE,
            RunPhase.WINDOWS,
            RunPhase.RECOVERY,
        ):
            ends_ns = self.load_starts_ns + round(self.schedule.load_s * NS)
            if self.phase is RunPhase.RECOVERY:  # a late undo has moved its end
                ends_ns = max(ends_ns, self._quiet_since_ns + _ns(self.schedule.recovery_s))
            return max(0.0, (ends_ns - now_ns) / NS) + self.schedule.settle_s
        if self.phase is RunPhase.SETTLE:
            return max(0.0, (self._settle_ends_ns - now_ns) / NS)
        return 0.0

    def _begin(self, event: Ready) -> list[Dispatch]:
        assert self.phase is RunPhase.PREPARING, self.phase
        start = self.load_starts_ns = event.load_starts_ns
        schedule = self.schedule
        self._quiet_since_ns = start + _ns(schedule.baseline_s)
        for window in schedule.windows:
            self._items[Window, window.number] = _Item(
                opens_ns=start + _ns(window.opens_s),
                lasts_ns=_ns(window.lasts_s),
                awaited_ns=_awaited(schedule.awaited(window), schedule.steps_before(window)),
            )
        for step in schedule.steps:
            self._items[OperationStep, step.number] = _Item(
                opens_ns=start + _ns(step.at_s),
                lasts_ns=0,
                awaited_ns=_awaited(schedule.windows_before(step), schedule.steps_before(step)),
            )
        return self._enter(RunPhase.BASELINE)

    def _tick(self, event: Tick) -> list[Dispatch]:
        now_ns = event.now_ns
        dispatches: list[Dispatch] = []
        for name, item in self._items.items():
            dispatches += self._move(name, item, now_ns)
        if self.phase in (RunPhase.BASELINE, RunPhase.WINDOWS, RunPhase.RECOVERY):
            dispatches += self._advance_load(now_ns)
        elif self.phase is RunPhase.SETTLE and now_ns >= self._settle_ends_ns:
            dispatches += self._enter(RunPhase.DRAIN, CloseLoad(drain=True))
        return dispatches

    def _move(self, name: _Name, item: _Item, now_ns: int) -> list[Dispatch]:
        of, number = name
        if item.stand is _Stand.WAITING and self._may_begin(item, now_ns):
            item.stand = _Stand.ARMING if of is Window else _Stand.PERFORMING
            first = self._enter(RunPhase.WINDOWS) if self.phase is not RunPhase.WINDOWS else []
            return [*first, Open(number) if of is Window else Perform(number)]
        if item.stand is _Stand.HOLDING and now_ns >= item.closes_ns:
            item.stand = _Stand.UNDOING
            return [Undo(number)]
        return []

    def _may_begin(self, item: _Item, now_ns: int) -> bool:
        if self._interrupted or now_ns < item.opens_ns:
            return False
        return all(
            self._items[name].stand is _Stand.OVER
            and now_ns >= self._items[name].over_ns + pause_ns
            for name, pause_ns in item.awaited_ns.items()
        )

    def _opened(self, event: Opened) -> list[Dispatch]:
        window = self._items[Window, event.window]
        window.stand = _Stand.HOLDING
        window.closes_ns = event.now_ns + window.lasts_ns
        if self._interrupted:  # the interrupt came while the action was on its way
            return self._undo_last()
        return []

    def _over(self, name: _Name, now_ns: int) -> list[Dispatch]:
        item = self._items[name]
        item.stand, item.over_ns = _Stand.OVER, now_ns
        self._quiet_since_ns = max(self._quiet_since_ns, now_ns)
        if self._interrupted:
            return self._close_when_healed()
        if self.phase is RunPhase.WINDOWS and self._all_over():
            return self._enter(RunPhase.RECOVERY)
        return []

    def _all_over(self) -> bool:
        return all(item.stand is _Stand.OVER for item in self._items.values())

    def _advance_load(self, now_ns: int) -> list[Dispatch]:
        ends_ns = self._quiet_since_ns + _ns(self.schedule.recovery_s)
        if not self._all_over() or now_ns < ends_ns:
            return []
        self._settle_ends_ns = now_ns + _ns(self.schedule.settle_s)
        return [StopLoad(), *self._enter(RunPhase.SETTLE)]

    def _follow(self, after: RunPhase, phase: RunPhase, then: Dispatch) -> list[Dispatch]:
        # An interrupt went ahead: what it overtook says nothing any more.
        return self._enter(phase, then) if self.phase is after else []

    def _interrupt(self) -> list[Dispatch]:
        if self._interrupted or self.phase in (RunPhase.CLOSING, RunPhase.FINISHED):
            return []
        self._interrupted = True
        end: list[Dispatch] = []
        for (_, number), item in self._items.items():
            if item.stand is _Stand.PERFORMING:
                end.append(BreakOff(number))
        end += self._undo_last()
        # What failed is tried again while things settle, too.
        loading = self.phase.value <= RunPhase.SETTLE.value
        stop = [StopLoad(at_once=True)] if loading else []
        return [*stop, *end, *self._close_when_healed()]

    def _undo_last(self) -> list[Dispatch]:
        """After an interrupt: one fault after the other, the last one first. An earlier slow link
        cannot be undone while a later hang holds it."""
        if self._windows(_Stand.UNDOING):
            return []
        for number in reversed(self._windows(_Stand.HOLDING)):
            self._items[Window, number].stand = _Stand.UNDOING
            return [Undo(number)]
        return []

    def _close_when_healed(self) -> list[Dispatch]:
        performing = any(item.stand is _Stand.PERFORMING for item in self._items.values())
        if self.armed() or performing or self.phase is RunPhase.CLOSING:
            return []
        return self._enter(RunPhase.CLOSING, CloseLoad(drain=False))

    def _enter(self, phase: RunPhase, *then: Dispatch) -> list[Dispatch]:
        assert phase.value >= self.phase.value, (self.phase, phase)
        self.phase = phase
        return [Enter(phase), *then]


def _awaited(windows: dict[int, float], steps: dict[int, float]) -> dict[_Name, int]:
    """What must be over before, by its name, and how long before."""
    named: dict[_Name, float] = {(Window, number): pause_s for number, pause_s in windows.items()}
    named.update({(OperationStep, number): pause_s for number, pause_s in steps.items()})
    return {name: _ns(pause_s) for name, pause_s in named.items()}


def _ns(seconds: float) -> int:
    return round(seconds * NS)
