"""Messages between the conductor and the code that carries a run out: events in, dispatches out.

1. Values only. Times are nanoseconds of one clock; windows and operations go by their numbers.
"""

from dataclasses import dataclass
from enum import Enum, auto


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
    """The fault was verified ended, or the run no longer waits for that."""

    window: int
    now_ns: int


@dataclass(frozen=True, slots=True)
class Performed:
    """An operation has returned, whether it succeeded or failed."""

    step: int
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


Event = (
    Ready
    | Tick
    | Opened
    | Missed
    | Undone
    | Left
    | Performed
    | Drained
    | Audited
    | Closed
    | Interrupted
)


class RunPhase(Enum):
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

    phase: RunPhase


@dataclass(frozen=True, slots=True)
class Open:
    window: int


@dataclass(frozen=True, slots=True)
class Undo:
    window: int


@dataclass(frozen=True, slots=True)
class Perform:
    """An operation is due."""

    step: int


@dataclass(frozen=True, slots=True)
class BreakOff:
    """An operation on its way is not waited for; it is over when it says so."""

    step: int


@dataclass(frozen=True, slots=True)
class StopLoad:
    at_once: bool = False  # True: interrupted, what failed is not tried again either


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


Dispatch = Enter | Open | Undo | Perform | BreakOff | StopLoad | CloseLoad | Audit | Finish
