"""What a run is, as frozen values: everything that a harness stage does derives from these.

1. An experiment is one value; a run plan is one cell of it and one repeat, with its own seed.
2. Lengths of time stay words (`1.5 T, at least 15 s`) until a layout's timer resolves them.
3. Words are neutral between brokers; what only one client knows lives in a section of its own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from faults.core.alarms import AlarmCommands
from faults.core.kind import Kind
from faults.core.mechanisms import DIRECT
from faults.core.options import FaultOptions
from harness.plan.clients.requirements import ChosenClient
from harness.plan.facts import Fact
from harness.plan.files.spans import Duration
from harness.plan.files.targets import Target
from harness.plan.layouts.guarantees import Guarantees, NotApplicable
from harness.plan.layouts.layout_values import (
    BALANCERS,
    HOSTS,
    OF_DISTRIBUTION,
    OF_IMAGE,
    Host,
    OwnLayout,
    PauseIfAllDown,
    Policy,
)
from harness.plan.layouts.role_words import RoleWords, role_words
from harness.plan.layouts.servers import Servers
from harness.plan.layouts.topology import Topology
from harness.plan.layouts.versions import Versions
from harness.plan.operation_options import OperationOptions
from harness.plan.operations import Operation
from harness.plan.workload import Workload
from spark_analysis.schema.ways import DeliveryWay
from spark_analysis.schema.words import LEVELS, Level

Cell = tuple[str, str, str, str]  # scenario, system, layout with its profile, client


class CellNames(Protocol):
    """A row that has the four names of its cell."""

    @property
    def scenario(self) -> str: ...
    @property
    def system(self) -> str: ...
    @property
    def layout(self) -> str: ...
    @property
    def client(self) -> str: ...


def cell_of(row: CellNames) -> Cell:
    return row.scenario, row.system, row.layout, row.client


def split_label(label: str) -> tuple[str, str]:
    """Return the name of a layout and its profile: `all` and `T=10`."""
    name, _, profile = label.partition("@")
    return name, profile


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """Kind x target x window.

    `opens` counts from the end of the baseline. Where it lies after an earlier fault's end, the
    pause between the two is kept, and begins when that fault was seen to be gone.
    """

    kind: Kind
    target: Target
    opens: Duration
    lasts: Duration
    options: FaultOptions = field(default_factory=FaultOptions)  # of the type that its kind takes
    returns: bool = True  # kill, stop: whether the host comes back at the window's end


@dataclass(frozen=True, slots=True)
class OperationPlan:
    """A thing that an operator does, without undo: kind x target x time.

    `at` counts from the end of the baseline. Where it lies after a fault's end or after an earlier
    operation, the pause between the two is kept, and begins when the fault was seen to be gone or
    the operation had returned.
    """

    kind: Operation
    target: Target  # of a form that its kind takes
    at: Duration
    options: OperationOptions  # of the type that its kind takes


@dataclass(frozen=True, slots=True)
class Scenario:
    """Workload, schedule and limits: one file for every system.

    Phases: `baseline` (load, no fault), the windows, `recovery` (load goes on after the last fault
    was seen to be gone), `settle` (no new publishes; retries and confirms end; a deadline at
    least), drain (at most `drain_limit`), audit, close.
    """

    name: str
    title: str
    story: str
    workload: Workload
    faults: tuple[FaultPlan, ...]
    baseline: Duration
    recovery: Duration
    settle: Duration
    drain_limit: Duration
    source: str  # the TOML text it was read from
    operations: tuple[OperationPlan, ...] = ()


@dataclass(frozen=True, slots=True)
class Layout:
    """How a system is laid out, for one timer profile.

    `copies`: how many copies of a queue are wanted (hosts for all, 1 for unmirrored).
    `synchronise`: automatic, manual or none.
    `partition_handling`: NO_HANDLING where brokers have nothing of the kind.
    `topology`: of a cluster that somebody else runs; what he has not declared is None or "" here.
    `spares`: hosts that stand, each by itself, until an operation adds them; nothing else means
    them. `version`: of the brokers; "": the one of its file (`file_version`), or else the system's
    default, or whichever `image` holds. `image`: the user's own, instead of one of ours.
    `distribution`: the folder of a vendor's own build, from which ours is made.
    """

    name: str
    profile: str  # "T=10"
    system: str
    title: str
    hosts: tuple[Host, ...]
    detection_timeout_s: float  # of silent peers: net_ticktime, or name servers' idle time
    copies: int | None
    synchronise: str
    partition_handling: str
    policies: tuple[Policy, ...]
    pause_if_all_down: PauseIfAllDown | None = None  # where that is the partition handling
    peer_links: str = DIRECT  # or TOXIPROXY: brokers reach each other through the proxy
    client_endpoint: str = HOSTS  # or ONE, or one of BALANCERS: how clients get in
    topology: Topology | None = None
    spares: tuple[Host, ...] = ()
    own: OwnLayout | None = None  # of its family alone; None: it has nothing of its own
    # How often the kernel on the clients' side of their links sends again before it gives a
    # connection up (tcp(7)); None: as the machine has it.
    client_tcp_retries2: int | None = None
    # Above it a node raises its memory alarm, which blocks publishers; None: as its system has it.
    memory_high_watermark_mib: int | None = None
    version: str = ""
    image: str = ""
    file_version: str = ""
    # The first version of the brokers that has what the layout wants, and why; None: any has.
    needs_version: tuple[str, str] | None = None
    # The first version that has it no more, and why; None: every later one has it.
    needs_earlier: tuple[str, str] | None = None
    distribution: str = ""

    @property
    def label(self) -> str:
        """`three@T=60`, `three@T=60+4.0.5`: the name that the command line and the tables use."""
        made_of = OF_DISTRIBUTION if self.distribution else ""
        version = self.version or (OF_IMAGE if self.image else made_of)
        return f"{self.unversioned}+{version}" if version else self.unversioned

    @property
    def unversioned(self) -> str:
        """`all-automatic@T=10`: the label in the system's default version."""
        return f"{self.name}@{self.profile}"

    @property
    def is_balanced(self) -> bool:
        """Return whether clients know one address alone, of a balancer."""
        return self.client_endpoint in BALANCERS

    @property
    def balancers(self) -> tuple[str, ...]:
        """Return the hosts of those that faults may strike."""
        return BALANCERS.get(self.client_endpoint, ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Drain:
    """How a system's queues are read empty. Nothing has a default: a system says all of it."""

    queue_name: Callable[[str], str]  # as workers give a queue's name to the broker
    quiet_s: Callable[[Workload], float]  # so long nothing may come before a queue is empty
    more_s: Callable[[Workload], float]  # beyond the limit: for messages that are delayed
    in_order: Callable[[Workload, int], bool]  # a key's messages, with so many who consume them
    gone_by_force_s: float  # how long brokers may list a closed or dead client


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutFact:
    """A fact of its layouts that a system's package brings. `value`: None if it is unknown."""

    fact: Fact
    value: Callable[["Layout"], bool | str | int | float | NotApplicable | None]


@dataclass(frozen=True, slots=True)
class System:
    """A broker cluster that can be put under test."""

    name: str
    title: str
    default_layout: str  # a layout's name with its profile
    clients: tuple[str, ...]  # the first is the default
    deployments: tuple[str, ...]  # the first is the default
    guarantees: Callable[["Layout"], Guarantees]  # what its brokers guarantee by a layout
    servers: Callable[["Layout"], Servers]  # what stands on a layout's hosts
    drain: Drain
    alarms: AlarmCommands | None  # of its containers; None: its brokers raise none
    misbehaves: tuple[str, ...]  # the kinds of --misbehave that its processes take
    levels: tuple[Level, ...] = LEVELS  # of its confirmations, as they are recorded
    ways: tuple[DeliveryWay, ...] = ()  # of its deliveries, beside mqproof's own
    # Fault, operation or demand of a workload (demands.py) -> why not.
    cannot: Mapping[str, str] = field(default_factory=dict)
    cannot_by: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # deployment ->
    # fault that it cannot suffer there alone -> why not
    cannot_handle: Mapping[str, str] = field(default_factory=dict)  # partition handling -> why
    direct_peers: Mapping[str, str] = field(default_factory=dict)  # deployment whose peer links
    # no layout can lead through the proxy -> why
    versions: Versions | None = None  # None: there is one, or its layouts say which
    by_hand: bool = False  # whether `mqproof up` starts it if no system is named
    policy_keys: tuple[str, ...] = ()  # that set_policy may use: by no other do verdicts hold
    facts: Mapping[str, LayoutFact] = field(default_factory=dict)  # by name, that claims may use


@dataclass(frozen=True, slots=True)
class Window:
    """A fault's place in time, in seconds since the load began."""

    number: int
    fault: FaultPlan
    opens_s: float
    lasts_s: float
    refers_to: int = 0  # the window of the fault whose host its target names; 0: none

    @property
    def ends_s(self) -> float:
        return self.opens_s + self.lasts_s


@dataclass(frozen=True, slots=True)
class OperationStep:
    """An operation's place in time, in seconds since the load began."""

    number: int  # from 1
    operation: OperationPlan
    at_s: float
    refers_to: int = 0  # the window of the fault whose host its target names; 0: none


@dataclass(frozen=True, slots=True)
class Schedule:
    """The phases of one run in seconds, resolved with its layout's timer."""

    baseline_s: float
    windows: tuple[Window, ...]
    recovery_s: float
    settle_s: float
    drain_limit_s: float
    steps: tuple[OperationStep, ...] = ()

    @property
    def load_s(self) -> float:
        """Least length of the load: undoing, verifying and operating come on top."""
        ends = [window.ends_s for window in self.windows] + [step.at_s for step in self.steps]
        return max([self.baseline_s, *ends]) + self.recovery_s

    def awaited(self, window: Window) -> dict[int, float]:
        """The windows that must be over before this one opens, and how long before, in seconds.

        Of two faults that overlap on purpose neither waits for the other.
        """
        return {
            earlier.number: window.opens_s - earlier.ends_s
            for earlier in self.windows
            if earlier.number < window.number and earlier.ends_s <= window.opens_s
        }

    def steps_before(self, item: Window | OperationStep) -> dict[int, float]:
        """The operations that must have returned before, and how long before, in seconds.

        Operations come one by one. With a fault that opens at the same time one overlaps on
        purpose.
        """
        if isinstance(item, Window):
            return {
                step.number: item.opens_s - step.at_s
                for step in self.steps
                if step.at_s < item.opens_s
            }
        return {
            step.number: item.at_s - step.at_s for step in self.steps if step.number < item.number
        }

    def windows_before(self, step: OperationStep) -> dict[int, float]:
        """The windows that must be over before an operation, and how long before, in seconds."""
        return {
            window.number: step.at_s - window.ends_s
            for window in self.windows
            if window.ends_s <= step.at_s
        }


@dataclass(frozen=True, slots=True)
class RunPlan:
    """One scenario once against one system."""

    name: str  # its folder's name, and the <run> of every name that it gives a broker
    number: int  # 64 bits; every message's header carries it
    scenario: Scenario
    system: System
    layout: Layout
    client: ChosenClient
    deployment: str
    repeat: int  # from 1
    seed: int
    schedule: Schedule
    # The runs that are played at once, on one cluster and with one fault, itself among them, by
    # their names; (): it is played alone.
    together: tuple[str, ...] = ()

    @property
    def cell(self) -> Cell:
        return (self.scenario.name, self.system.name, self.layout.label, self.client.word)

    @property
    def role_words(self) -> RoleWords:
        """Return the words that the system's users have for the replicas of a queue."""
        return role_words(self.system.guarantees(self.layout))


@dataclass(frozen=True, slots=True)
class Skipped:
    """A cell that is NOT APPLICABLE, with the reason that every table shows."""

    cell: Cell
    reason: str


@dataclass(frozen=True, slots=True)
class Experiment:
    """Scenarios x systems x layouts x clients x repeats, with one seed. Runs in order."""

    name: str
    seed: int
    runs: tuple[RunPlan, ...]
    skipped: tuple[Skipped, ...]

    @property
    def groups(self) -> tuple[tuple[RunPlan, ...], ...]:
        """The runs that are played together, in order; a run that is played alone is a group."""
        found: list[tuple[RunPlan, ...]] = []
        for run in self.runs:
            if run.together and found and found[-1][0].together == run.together:
                found[-1] = (*found[-1], run)
            else:
                found.append((run,))
        return tuple(found)
