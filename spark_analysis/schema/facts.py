"""The facts of a run beside its raw tables: a part of manifest.json.

1. Facts are what the harness itself knows (phases, windows, drains, closed logs). What clients saw
   is in the raw tables and nowhere else.
2. A fact that could not be established is False or None, never assumed.
3. JSON in, JSON out; unknown keys are an error, because they may decide a verdict. So a new key
   with a default needs no new version: older ones refuse it by its name (sound.written_later), and
   its default says what older runs recorded. A key that changes its meaning needs one.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from spark_analysis.schema.operation_times import OperationTime, of_older_run
from spark_analysis.schema.ways import DeliveryWay, WayNumbers, way_numbers
from spark_analysis.schema.words import LEVELS, Level, ProblemCause, UnverifiedCause

FACTS_VERSION = 2  # of facts, and of the manifest that holds them
NEVER_BEGAN = ("not begun", "never began", "never opened")  # how the reason of such a fault begins
GONE_WITHIN_NS = 5_000_000_000  # of an undo, where no row says when the fault was seen gone
RECONNECT_NS = 2_000_000_000  # if the time that clients take to reconnect was not declared


@dataclass(frozen=True, slots=True)
class Worker:
    """One worker; `number` is the producer or consumer number in every raw table."""

    number: int
    role: str  # "publisher", "consumer"; others are not judged
    log_closed: bool  # or it was killed on purpose, and all that it did is on record


@dataclass(frozen=True, slots=True)
class FaultProperties:
    """The properties of a kind of fault, as declared when the run was recorded."""

    of_clients: bool  # it strikes clients' processes: no fault of the cluster's
    of_client_links: bool  # it strikes their links to a host
    ends_broker: bool  # what its processes held in memory is gone
    takes_page_cache: bool  # what they wrote and did not sync is gone, too
    silences_clients: bool  # the host's peers meet silence, and no end of a connection
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
    unverified_reason: str  # why not verified or not gone; "" where both are
    # After this no change of a queue's leader is due to it any more. None: unknown, as it was
    # not seen to be gone, never ends, or was written down by a harness that did not say.
    over_ns: int | None = None
    properties: FaultProperties | None = None  # None: its kind is not declared
    unverified_cause: str = UnverifiedCause.OTHER.value

    def gone_between_ns(self, noted_ns: int | None) -> tuple[int, int] | None:
        """Return the earliest and the latest time at which the window may have been gone; None if
        it never was. `noted_ns`: when its records say so. Without a note, one that is known to be
        gone was so within GONE_WITHIN_NS after its undo had returned."""
        if not self.gone:
            return None
        if noted_ns is not None:
            return noted_ns, noted_ns
        return None if self.ended_ns is None else (self.ended_ns, self.ended_ns + GONE_WITHIN_NS)

    @classmethod
    def planned(
        cls, number: int, kind: str, at_ns: int, why: str, properties: FaultProperties
    ) -> "Window":
        """Return a window that has not begun, and why: neither verified nor gone."""
        return cls(
            number=number,
            kind=kind,
            origin_ns=at_ns,
            returned_ns=at_ns,
            ended_ns=None,
            verified=False,
            gone=False,
            unverified_reason=why,
            properties=properties,
        )

    @property
    def began(self) -> bool:
        """Return whether an action of it was tried; otherwise its times are those of the plan."""
        return not self.unverified_reason.startswith(NEVER_BEGAN)

    @property
    def of_clients(self) -> bool:
        """Return whether it is known to be a client's fault; without declared properties it may be
        one of the cluster."""
        return self.properties is not None and self.properties.of_clients

    @property
    def spares_brokers(self) -> bool:
        """Return whether it is known to strike only clients, or their links."""
        known = self.properties
        return known is not None and (known.of_clients or known.of_client_links)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Window":
        known = document.get("properties")
        return cls(**{**document, "properties": known and FaultProperties(**known)})


@dataclass(frozen=True, slots=True)
class QueueEnd:
    """The end of one queue: how it was emptied (docs/verdicts.md 3)."""

    queue: str
    ordered: bool  # order was promised: one active consumer (and one queue) a (producer, key)
    drained: bool
    undrained_reason: str  # why the drain is not complete
    unreadable: tuple[str, ...]  # places that may hold messages and could not be read
    # From then until the drain was over nothing came any more; run time. None: unknown.
    quiet_ns: int | None = None


@dataclass(frozen=True, slots=True)
class GroupQueue:
    """The queue of one consumer group: it gets each message that is sent to the queue `of`.

    A log has one queue for all groups; the records name the reading of each group as a queue.
    """

    queue: str  # in deliveries, and among Facts.queues
    of: str  # in attempts


@dataclass(frozen=True, slots=True)
class ConsumerGroup:
    """Consumers that share the messages of their queues. Each group gets every message."""

    name: str
    queues: tuple[GroupQueue, ...]
    consumers: tuple[int, ...]  # the numbers of its workers; others count for every group

    @property
    def names(self) -> dict[str, str]:
        """Return its queues by the queues that messages are sent to."""
        return {one.of: one.queue for one in self.queues}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "ConsumerGroup":
        queues = tuple(GroupQueue(**queue) for queue in document["queues"])
        return cls(**{**document, "queues": queues, "consumers": tuple(document["consumers"])})


@dataclass(frozen=True, slots=True)
class CompetingLeaders:
    """A time in which two leaders of one queue were alive (split brain), in ns of run time."""

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
class LeadershipChange:
    """A time in which something other than a fault may have moved a queue's leader: an operation,
    or the unplanned end of a process; run time in ns."""

    origin_ns: int  # the instant before it began
    over_ns: int | None  # None: unknown
    of_process_end: bool = False  # and not an operation


class Cause(StrEnum):
    """The cause of an unplanned end of a process."""

    OUTSIDE = "outside"  # something beside the broker and the harness ended it
    ITSELF = "itself"  # it ended by itself: that is the broker's doing
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ProcessEnd:
    """The unplanned end of a broker process: neither the schedule nor an operator had requested
    it.

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


Unsettled = Window | LeadershipChange  # a time in which a queue may have changed its master


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
    clock_problem: str  # why the run cannot be judged (clocks that ran apart); "": it can
    workers: tuple[Worker, ...]
    windows: tuple[Window, ...]
    queues: tuple[QueueEnd, ...]
    competing_leaders: tuple[CompetingLeaders, ...]
    absences: tuple[Absence, ...] = ()
    leadership_changes: tuple[LeadershipChange, ...] = ()
    operations: tuple[OperationTime, ...] = ()  # (): none, or an older run (`at_work`)
    clocks: tuple[Clock, ...] = ()  # of workers that do not share the run's clock
    process_ends: tuple[ProcessEnd, ...] = ()  # of brokers, unplanned
    process_watch_lost: str = ""  # why there may be others; "": the watch went on to the end
    acknowledges: bool = True  # consumers do; False: the broker forgets what it gives out
    polls: bool = False  # consumers ask for each message, at a pace of their own
    # Of a log: brokers, and not consumers, know how far each group has come. False: unknown, too.
    brokers_keep_progress: bool = False
    requeues_behind: bool = False  # what is redelivered may have lost its place in the order
    reconnect_ns: int = RECONNECT_NS  # so long a client may take to be back after a fault
    promises: tuple[Promise, ...] = ()  # what the claims ask service by (service.py)
    # The longest time that a stored transaction may wait for the broker's check; None: no check is
    # declared.
    checks_within_ns: int | None = None
    # What the ranks in settlements mean; runs that do not say have mqproof's own levels.
    levels: tuple[Level, ...] = LEVELS
    # What further numbers in deliveries mean. Older runs get theirs from old_names.py.
    ways: tuple[DeliveryWay, ...] = ()
    # Of several, each gets every message (groups.py); (): all consumers together get it once.
    consumer_groups: tuple[ConsumerGroup, ...] = ()
    problem_cause: str = ProblemCause.CLOCK.value  # of the clock_problem
    # Windows of the plan that are proved never to have begun. They are no faults: nothing is
    # attributed to them, and they only put the run in doubt.
    not_begun: tuple[Window, ...] = ()
    format: int = FACTS_VERSION

    def window(self, number: int) -> Window:
        return next(one for one in self.planned_windows if one.number == number)

    @property
    def planned_windows(self) -> tuple[Window, ...]:
        """Return all windows of the plan, also those that never began, in schedule order."""
        return tuple(sorted((*self.windows, *self.not_begun), key=lambda one: one.number))

    @property
    def sent_to(self) -> frozenset[str]:
        """Return the queues that messages are sent to: not those of consumer groups."""
        own = (one.queue for one in self.queues)
        of_groups = (of for group in self.consumer_groups for of in group.names)
        return frozenset(of_groups if self.consumer_groups else own)

    def of_other_groups(self, queue: str) -> frozenset[str]:
        """Return the queues of other consumer groups than that of this queue; none if it belongs
        to no group."""
        every = [frozenset(group.names.values()) for group in self.consumer_groups]
        others = [own for own in every if queue not in own]
        return frozenset[str]().union(*others) if len(others) < len(every) else frozenset()

    @property
    def labels(self) -> dict[int, str]:
        """Return the label of each confirm level by its rank."""
        return {level.rank: level.label for level in self.levels}

    @property
    def way_numbers(self) -> WayNumbers:
        """Return the numbers of all ways that its deliveries may have come by."""
        return way_numbers(self.ways)

    @property
    def unsettled(self) -> tuple[Unsettled, ...]:
        """Return the times of faults, operations, and unplanned ends of processes."""
        return (*self.windows, *self.unplanned)

    @property
    def of_cluster(self) -> tuple[Unsettled, ...]:
        """Return those of these times that may take something from a broker."""
        faults = (one for one in self.windows if not one.spares_brokers)
        return (*faults, *self.unplanned)

    @property
    def operated(self) -> tuple[LeadershipChange, ...]:
        """Return the times in which an operation may have taken something from a queue."""
        at_work = (one for one in self.at_work if one.moves_leader)
        return tuple(LeadershipChange(one.origin_ns, one.over_ns) for one in at_work)

    @property
    def at_work(self) -> tuple[OperationTime, ...]:
        """Return the times in which an operation may explain outages and waits."""
        ends_ns = (each.at_ns for each in self.process_ends)
        return self.operations or of_older_run(self.leadership_changes, ends_ns)

    @property
    def unplanned(self) -> tuple[LeadershipChange, ...]:
        """Return the changes other than faults that may have moved a queue's leader."""
        ends = [LeadershipChange(each.at_ns, each.until_ns) for each in self.process_ends]
        if self.process_watch_lost:  # an end may have come unseen, at any time
            ends.append(LeadershipChange(0, None))
        return (*self.leadership_changes, *ends)

    @property
    def clock_bounds_ns(self) -> dict[int, int]:
        """Return the clock bound of each worker that has one."""
        return {clock.worker: clock.bound_ns for clock in self.clocks}

    def clock_bound_ns(self, *roles: str) -> int:
        """Return the sum of the largest clock bound of each of these roles of workers."""
        bounds = self.clock_bounds_ns
        return sum(
            max((bounds.get(w.number, 0) for w in self.workers if w.role == role), default=0)
            for role in roles
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Facts":
        """Raises TypeError on missing or unknown keys, ValueError on another format."""
        if document.get("format") != FACTS_VERSION:
            raise ValueError(f"facts of format {document.get('format')}, not {FACTS_VERSION}")
        parts: dict[str, Any] = dict(document)
        parts["workers"] = tuple(Worker(**worker) for worker in parts["workers"])
        parts["windows"] = tuple(map(Window.from_json, parts["windows"]))
        parts["not_begun"] = tuple(map(Window.from_json, parts.get("not_begun", ())))
        parts["queues"] = tuple(
            QueueEnd(**{**queue, "unreadable": tuple(queue["unreadable"])})
            for queue in parts["queues"]
        )
        competing_leaders = parts["competing_leaders"]
        parts["competing_leaders"] = tuple(CompetingLeaders(**each) for each in competing_leaders)
        # Older runs lack the following ones.
        parts["absences"] = tuple(Absence(**each) for each in parts.get("absences", ()))
        changes = parts.get("leadership_changes", ())
        parts["leadership_changes"] = tuple(LeadershipChange(**each) for each in changes)
        parts["operations"] = tuple(OperationTime(**each) for each in parts.get("operations", ()))
        parts["clocks"] = tuple(Clock(**clock) for clock in parts.get("clocks", ()))
        parts["process_ends"] = tuple(ProcessEnd(**each) for each in parts.get("process_ends", ()))
        parts["promises"] = tuple(Promise(**each) for each in parts.get("promises", ()))
        groups = parts.get("consumer_groups", ())
        parts["consumer_groups"] = tuple(map(ConsumerGroup.from_json, groups))
        if "levels" in parts:
            parts["levels"] = tuple(Level(**each) for each in parts["levels"])
        parts["ways"] = tuple(DeliveryWay(**each) for each in parts.get("ways", ()))
        return cls(**parts)
