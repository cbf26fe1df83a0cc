"""What the analysis must know of a run beside its raw tables: a part of manifest.json.

1. Facts are what the harness knows by itself (phases, windows, drains, who closed his log); what
   clients saw is in the raw tables and nowhere else.
2. Everything that could not be established is False or None here, never assumed.
3. JSON in, JSON out; unknown keys are an error, because they may hold what a verdict hangs on.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from spark_analysis.schema.tables import FORMAT_VERSION

RECONNECT_NS = 2_000_000_000  # where nobody declared how long clients take to be back


@dataclass(frozen=True, slots=True)
class Worker:
    """One worker; `number` is the producer or consumer number in every raw table."""

    number: int
    role: str  # "publisher", "consumer"; others are not judged
    log_closed: bool  # or it was killed on purpose, and all that it did is on record


@dataclass(frozen=True, slots=True)
class Nature:
    """What a kind of fault is, as it was declared when the run was made."""

    of_clients: bool  # it strikes clients' processes: no fault of the cluster's
    of_client_links: bool  # it strikes their links to a host
    ends_broker: bool  # what its processes held in memory is gone
    takes_page_cache: bool  # what they wrote and did not sync is gone, too
    silences_clients: bool  # whoever asks the host meets silence, and no end of a connection
    spares_disk: bool | None  # the host is back with what it had on disk; None: it took none


@dataclass(frozen=True, slots=True)
class Window:
    """One fault window, numbered from 1 in schedule order. Times in ns of run time."""

    number: int
    kind: str
    origin_ns: int  # the instant before the action was issued
    returned_ns: int  # when the action had returned: the fault is in force at the latest then
    ended_ns: int | None  # when the undo had returned; None: it never came
    verified: bool  # it was seen from outside to hold
    gone: bool  # it was seen from outside to be gone
    doubt: str  # why not verified or not gone; "" where both are
    # After this no change of a queue's master is due to it any more. None: nobody knows, as it was
    # not seen to be gone, never ends, or was written down by a harness that did not say.
    over_ns: int | None = None
    nature: Nature | None = None  # None: nobody says what its kind is

    @property
    def of_clients(self) -> bool:
        """Known to be no fault of the cluster's; of whose nature nobody knows, it may be one."""
        return self.nature is not None and self.nature.of_clients

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Window":
        nature = document.get("nature")
        return cls(**{**document, "nature": nature and Nature(**nature)})


@dataclass(frozen=True, slots=True)
class QueueEnd:
    """How one queue was emptied (docs/verdicts.md 3)."""

    queue: str
    ordered: bool  # order was promised: one active consumer (and one queue) a (producer, key)
    drained: bool
    doubt: str  # why the drain is not complete
    unreadable: tuple[str, ...]  # places that may hold messages and could not be read
    # From then until the drain was over nothing came any more; run time. None: nobody knows.
    quiet_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Rivals:
    """A time in which two masters of one queue were alive, in ns of run time."""

    queue: str
    from_ns: int
    until_ns: int


@dataclass(frozen=True, slots=True)
class Absence:
    """A time [from_ns, until_ns) in which a fault kept a worker away: frozen, dead, or not started
    yet in a dead one's place. Run time in ns."""

    worker: int
    from_ns: int
    until_ns: int | None  # None: it never came back


@dataclass(frozen=True, slots=True)
class Upheaval:
    """A time in which what is no fault may have moved a queue's master: an operation, or the end
    of a process that nobody had planned; run time in ns."""

    origin_ns: int  # the instant before it began
    over_ns: int | None  # None: nobody knows


class Cause(StrEnum):
    """Why a process ended, where nobody had planned it."""

    OUTSIDE = "outside"  # something beside the broker and the harness ended it
    ITSELF = "itself"  # it ended by itself: that is the broker's doing
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ProcessEnd:
    """A broker's process that ended, and neither the schedule nor an operator had told it to.

    Run time in ns; it was down in [at_ns, until_ns).
    """

    place: str  # a host, or a process of one that carries several
    at_ns: int  # when the deployment noticed
    cause: str  # a word of Cause
    detail: str  # how it ended: status, signal, who is said to have ended it
    until_ns: int | None = None  # when it had been started again; None: never

    @property
    def by_itself(self) -> bool:
        return self.cause == Cause.ITSELF


@dataclass(frozen=True, slots=True)
class Clock:
    """A worker whose times may be off by so much against the run's clock, either way."""

    worker: int
    bound_ns: int


@dataclass(frozen=True, slots=True)
class Promise:
    """A time after which a source says that clients are served again; counted from a fault's
    returned_ns. `name`: what claims call it."""

    name: str
    after_ns: int


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a run beside what was recorded of it: by the claims, and by whoever tells
    of several runs of one name."""

    run: str = ""  # what the run is called in its rows; "" is its own name
    acknowledges: bool = True
    reconnect_ns: int = RECONNECT_NS
    promises: tuple[Promise, ...] = ()
    asks_within_ns: int | None = None

    def of(self, facts: "Facts") -> "Facts":
        return replace(
            facts,
            run=self.run or facts.run,
            acknowledges=self.acknowledges,
            reconnect_ns=self.reconnect_ns,
            promises=self.promises,
            asks_within_ns=self.asks_within_ns,
        )


Unsettled = Window | Upheaval  # a time in which a queue may have changed its master


@dataclass(frozen=True, slots=True)
class Facts:
    """One run, as far as it must be known to judge it. Times in ns of run time."""

    run: str
    scenario: str
    system: str
    layout: str
    client: str
    repeat: int
    load_started_ns: int
    load_ended_ns: int  # no publish was intended after this
    deadline_ns: int
    paced: bool  # False at rate `max`: no intended times, so missed and sustained_success are n/a
    confirms: bool  # False for fire and forget: nothing of availability can be judged
    clock_doubt: str  # "" where the clocks held; else the machine was suspended or they ran apart
    workers: tuple[Worker, ...]
    windows: tuple[Window, ...]
    queues: tuple[QueueEnd, ...]
    rivals: tuple[Rivals, ...]
    absences: tuple[Absence, ...] = ()
    upheavals: tuple[Upheaval, ...] = ()
    clocks: tuple[Clock, ...] = ()  # of workers that do not share the run's clock
    process_ends: tuple[ProcessEnd, ...] = ()  # of brokers, that nobody had planned
    acknowledges: bool = True  # consumers do; False: the broker forgets what it gives out
    reconnect_ns: int = RECONNECT_NS  # so long a client may take to be back after a fault
    promises: tuple[Promise, ...] = ()  # what the claims ask service by (service.py)
    # So long after it was stored a transaction may wait for the broker's question; None: nobody
    # declares that it asks.
    asks_within_ns: int | None = None
    format: int = FORMAT_VERSION

    @property
    def unsettled(self) -> tuple[Unsettled, ...]:
        """Those of faults and those of operations."""
        return (*self.windows, *self.upheavals)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Facts":
        """Raises TypeError on missing or unknown keys, ValueError on another format."""
        if document.get("format") != FORMAT_VERSION:
            raise ValueError(f"facts of format {document.get('format')}, not {FORMAT_VERSION}")
        parts: dict[str, Any] = dict(document)
        parts["workers"] = tuple(Worker(**worker) for worker in parts["workers"])
        parts["windows"] = tuple(map(Window.from_json, parts["windows"]))
        parts["queues"] = tuple(
            QueueEnd(**{**queue, "unreadable": tuple(queue["unreadable"])})
            for queue in parts["queues"]
        )
        parts["rivals"] = tuple(Rivals(**rivals) for rivals in parts["rivals"])
        absences = parts.get("absences", ())  # older runs have none
        parts["absences"] = tuple(Absence(**absence) for absence in absences)
        upheavals = parts.get("upheavals", ())
        parts["upheavals"] = tuple(Upheaval(**upheaval) for upheaval in upheavals)
        parts["clocks"] = tuple(Clock(**clock) for clock in parts.get("clocks", ()))
        ends = parts.get("process_ends", ())
        parts["process_ends"] = tuple(ProcessEnd(**each) for each in ends)
        parts["promises"] = tuple(Promise(**each) for each in parts.get("promises", ()))
        return cls(**parts)
