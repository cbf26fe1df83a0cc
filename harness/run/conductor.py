"""The order of a run: what is to be done now, given what happened (DESIGN.md 3, Drain).

1. Pure: events in, dispatches out; time is a field of an event. The shell carries them out.
2. Phases only go forward: preparing, baseline, windows, recovery, settle, drain, audit, closing,
   finished.
3. Every window goes its own way (waiting, arming, holding, undoing, leaving, over), but one that
   is to open after another's end waits until that one is over, and keeps the pause between them.
   A window that was opened is always undone.
4. The load ends only after the last window is over and `recovery_s` more have passed.
5. An interrupt undoes what is armed, stops the load and closes; nothing is drained or audited.

window:  waiting --opens--> arming --Opened--> holding --closes--> undoing --Undone--> leaving
         --Left--> over;  arming --Missed--> over
"""

from dataclasses import dataclass, field
from enum import Enum, auto

from harness.plan.model import Schedule

NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Ready:
    """All workers are connected; the load began (or begins) at this instant."""

    load_starts_ns: int


@dataclass(frozen=True, slots=True)
class Tick:
    now_ns: int


@dataclass(frozen=True, slots=True)
class Opened:
    """The action of a window has returned: the fault is armed."""

    window: int
    now_ns: int


@dataclass(frozen=True, slots=True)
class Missed:
    """A window could not be opened (no such target, the action was refused and undone)."""

    window: int
    now_ns: int


@dataclass(frozen=True, slots=True)
class Undone:
    window: int
    now_ns: int


@dataclass(frozen=True, slots=True)
class Left:
    """The fault was seen to be gone, or nobody waits for that any longer."""

    window: int
    now_ns: int


@dataclass(frozen=True, slots=True)
class Drained:
    """Every queue was drained, or given up."""


@dataclass(frozen=True, slots=True)
class Audited:
    pass


@dataclass(frozen=True, slots=True)
class Closed:
    """Workers have ended."""


@dataclass(frozen=True, slots=True)
class Interrupted:
    pass


Event = Ready | Tick | Opened | Missed | Undone | Left | Drained | Audited | Closed | Interrupted


class Phase(Enum):
    PREPARING = auto()
    BASELINE = auto()
    WINDOWS = auto()
    RECOVERY = auto()
    SETTLE = auto()
    DRAIN = auto()
    AUDIT = auto()
    CLOSING = auto()
    FINISHED = auto()


@dataclass(frozen=True, slots=True)
class Enter:
    """A phase begins."""

    phase: Phase


@dataclass(frozen=True, slots=True)
class Open:
    window: int


@dataclass(frozen=True, slots=True)
class Undo:
    window: int


@dataclass(frozen=True, slots=True)
class StopLoad:
    pass


@dataclass(frozen=True, slots=True)
class CloseLoad:
    """Publishers and consumers close; then the queues are drained."""

    drain: bool  # False: interrupted, nothing is drained, and the end follows at once


@dataclass(frozen=True, slots=True)
class Audit:
    pass


@dataclass(frozen=True, slots=True)
class Finish:
    pass


Dispatch = Enter | Open | Undo | StopLoad | CloseLoad | Audit | Finish


class _Stand(Enum):
    WAITING = auto()
    ARMING = auto()
    HOLDING = auto()
    UNDOING = auto()
    LEAVING = auto()
    OVER = auto()


@dataclass(slots=True)
class _Window:
    opens_ns: int  # at the earliest
    lasts_ns: int
    awaited_ns: dict[int, int]  # windows that must be over, and how long before
    closes_ns: int = 0
    over_ns: int = 0
    stand: _Stand = _Stand.WAITING


@dataclass(slots=True)
class Conductor:
    """One run. Feed it events; do what it answers, in order."""

    schedule: Schedule
    phase: Phase = Phase.PREPARING
    load_starts_ns: int = 0
    _windows: dict[int, _Window] = field(default_factory=dict)
    _quiet_since_ns: int = 0  # baseline's end or the last window's end, whichever is later
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
                self._windows[event.window].stand = _Stand.LEAVING
                return []
            case Missed() | Left():
                return self._over(event)
            case Drained():
                return self._follow(Phase.DRAIN, Phase.AUDIT, Audit())
            case Audited():
                return self._follow(Phase.AUDIT, Phase.CLOSING, Finish())
            case Closed():
                return self._enter(Phase.FINISHED)
            case Interrupted():
                return self._interrupt()

    def armed(self) -> list[int]:
        """The windows whose fault may be in force, in order."""
        quiet = (_Stand.WAITING, _Stand.OVER)
        return [number for number, window in self._windows.items() if window.stand not in quiet]

    def left_s(self, now_ns: int) -> float:
        """At least so long until the load ends and has settled; 0 when it did."""
        if self.phase in (Phase.PREPARING, Phase.BASELINE, Phase.WINDOWS, Phase.RECOVERY):
            ends_ns = self.load_starts_ns + round(self.schedule.load_s * NS)
            return max(0.0, (ends_ns - now_ns) / NS) + self.schedule.settle_s
        if self.phase is Phase.SETTLE:
            return max(0.0, (self._settle_ends_ns - now_ns) / NS)
        return 0.0

    def _begin(self, event: Ready) -> list[Dispatch]:
        assert self.phase is Phase.PREPARING, self.phase
        start = self.load_starts_ns = event.load_starts_ns
        self._quiet_since_ns = start + round(self.schedule.baseline_s * NS)
        for window in self.schedule.windows:
            awaited = self.schedule.awaited(window).items()
            self._windows[window.number] = _Window(
                opens_ns=start + round(window.opens_s * NS),
                lasts_ns=round(window.lasts_s * NS),
                awaited_ns={number: round(pause_s * NS) for number, pause_s in awaited},
            )
        return self._enter(Phase.BASELINE)

    def _tick(self, event: Tick) -> list[Dispatch]:
        now_ns = event.now_ns
        dispatches: list[Dispatch] = []
        for number, window in self._windows.items():
            dispatches += self._move(number, window, now_ns)
        if self.phase in (Phase.BASELINE, Phase.WINDOWS, Phase.RECOVERY):
            dispatches += self._advance_load(now_ns)
        elif self.phase is Phase.SETTLE and now_ns >= self._settle_ends_ns:
            dispatches += self._enter(Phase.DRAIN, CloseLoad(drain=True))
        return dispatches

    def _move(self, number: int, window: _Window, now_ns: int) -> list[Dispatch]:
        if window.stand is _Stand.WAITING and self._may_open(window, now_ns):
            window.stand = _Stand.ARMING
            first = self._enter(Phase.WINDOWS) if self.phase is not Phase.WINDOWS else []
            return [*first, Open(number)]
        if window.stand is _Stand.HOLDING and now_ns >= window.closes_ns:
            window.stand = _Stand.UNDOING
            return [Undo(number)]
        return []

    def _may_open(self, window: _Window, now_ns: int) -> bool:
        if self._interrupted or now_ns < window.opens_ns:
            return False
        return all(
            self._windows[number].stand is _Stand.OVER
            and now_ns >= self._windows[number].over_ns + pause_ns
            for number, pause_ns in window.awaited_ns.items()
        )

    def _opened(self, event: Opened) -> list[Dispatch]:
        window = self._windows[event.window]
        window.stand = _Stand.HOLDING
        window.closes_ns = event.now_ns + window.lasts_ns
        if self._interrupted:  # the interrupt came while the action was on its way
            window.stand = _Stand.UNDOING
            return [Undo(event.window)]
        return []

    def _over(self, event: Missed | Left) -> list[Dispatch]:
        window = self._windows[event.window]
        window.stand, window.over_ns = _Stand.OVER, event.now_ns
        self._quiet_since_ns = max(self._quiet_since_ns, event.now_ns)
        if self._interrupted:
            return self._close_when_healed()
        if self.phase is Phase.WINDOWS and self._all_over():
            return self._enter(Phase.RECOVERY)
        return []

    def _all_over(self) -> bool:
        return all(window.stand is _Stand.OVER for window in self._windows.values())

    def _advance_load(self, now_ns: int) -> list[Dispatch]:
        ends_ns = self._quiet_since_ns + round(self.schedule.recovery_s * NS)
        if not self._all_over() or now_ns < ends_ns:
            return []
        self._settle_ends_ns = now_ns + round(self.schedule.settle_s * NS)
        return [StopLoad(), *self._enter(Phase.SETTLE)]

    def _follow(self, after: Phase, phase: Phase, then: Dispatch) -> list[Dispatch]:
        # An interrupt went ahead: what it overtook says nothing any more.
        return self._enter(phase, then) if self.phase is after else []

    def _interrupt(self) -> list[Dispatch]:
        if self._interrupted or self.phase in (Phase.CLOSING, Phase.FINISHED):
            return []
        self._interrupted = True
        undo: list[Dispatch] = []
        for number, window in self._windows.items():
            if window.stand is _Stand.HOLDING:
                window.stand = _Stand.UNDOING
                undo.append(Undo(number))
        loading = self.phase in (Phase.BASELINE, Phase.WINDOWS, Phase.RECOVERY)
        return [*([StopLoad()] if loading else []), *undo, *self._close_when_healed()]

    def _close_when_healed(self) -> list[Dispatch]:
        if self.armed() or self.phase is Phase.CLOSING:
            return []
        return self._enter(Phase.CLOSING, CloseLoad(drain=False))

    def _enter(self, phase: Phase, *then: Dispatch) -> list[Dispatch]:
        assert phase.value >= self.phase.value, (self.phase, phase)
        self.phase = phase
        return [Enter(phase), *then]
