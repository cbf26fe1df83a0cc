"""Operations and their targets as data: what an operator does, and where each is offered.

1. Pure words: who is meant stands in stopping.py, how it is done in operating.py and
   behind the port cluster/orders.py.
2. An operation has no undo: the cluster may be another one afterwards, and `alters` says so.
3. Where a deployment has no such operation it says why; a system says so in its system.toml.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from faults.core.mechanisms import COMPOSE, CONTAINER, LOCAL, PROCESS
from harness.plan.files.targets import CLUSTER, Target, TargetForm, parse_target
from harness.plan.operation_options import (
    ForgetOptions,
    OperationOptions,
    PolicyNameOptions,
    PolicyOptions,
    StartOptions,
    StopOptions,
    ThroughOptions,
    WaitOptions,
)

API, COMMAND = "management API", "the broker's command line"
RUNNING = (
    TargetForm.MASTER,
    TargetForm.MIRROR,
    TargetForm.UNINVOLVED,
    TargetForm.HOST_OF_FAULT,
    TargetForm.OTHER_THAN_FAULT,
    TargetForm.HOST,
)
STOPPED = (TargetForm.FIRST_STOPPED, TargetForm.LAST_STOPPED, TargetForm.LOST, TargetForm.HOST)


class LeadershipChange(Enum):
    """Until when a queue may get another master because of an operation."""

    NEVER = auto()
    SOON = auto()  # until it has returned, and a moment longer
    LATER = auto()  # at an unknown time, decided by the cluster


@dataclass(frozen=True, slots=True)
class Operation:
    """A kind of operation: what is done, to whom, and by which means."""

    name: str
    title: str
    targets: tuple[TargetForm, ...]  # empty: it means the whole cluster
    offers: Mapping[str, str]  # deployment -> by what
    options: type[OperationOptions] = OperationOptions
    needs: tuple[str, ...] = ()  # the keys that it cannot do without
    stops: bool = False  # the process of the host's broker
    starts: bool = False  # that process; after it was stopped, if it stops it, too
    alters: bool = False  # the cluster is not what its layout says, for good
    leadership_change: LeadershipChange = LeadershipChange.NEVER
    why_not: Mapping[str, str] = field(default_factory=dict)  # deployment without it -> why

    @property
    def option_keys(self) -> tuple[str, ...]:
        """Return the keys of a scenario that set the options of its operations."""
        return self.options.keys()

    @property
    def means_stopped(self) -> bool:
        """Return whether it is for hosts that are down."""
        return TargetForm.LOST in self.targets

    @property
    def means_spare(self) -> bool:
        """Return whether it is for hosts outside the cluster."""
        return TargetForm.SPARE in self.targets

    def target(self, word: str) -> Target:
        """Return the target that `word` names for this kind. Raise ValueError if it names none."""
        forms = self.targets
        return CLUSTER if not word and not forms else parse_target(word, forms)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        """Return that of its name: what is made of it is the same in every process."""
        return repr(self.name)


def parse_through(word: str) -> Target | None:
    """Return the host that an operation is to go through; None: the first possible one.

    The layout says whether there is a host of that name.
    """
    if not word:
        return None
    try:
        return parse_target(word, STOPPED)
    except ValueError:
        return Target(word, TargetForm.HOST, host=word)


MEANINGS = {
    TargetForm.MASTER: "the host of the queue's master when the operation is due; also written "
    "`leader of QUEUE`",
    TargetForm.MIRROR: "the host of the queue's oldest mirror then; also written "
    "`follower of QUEUE` or `replica of QUEUE`; `mirror 2 of QUEUE` is the second oldest",
    TargetForm.UNINVOLVED: "a host that holds no copy of any queue then",
    TargetForm.HOST_OF_FAULT: "the host that fault N of the file targets",
    TargetForm.OTHER_THAN_FAULT: "the first host that fault N of the file does not target",
    TargetForm.HOST: "the host of that name in the layout",
    TargetForm.ALL: "every host; for start_node and wipe_node every host that is down",
    TargetForm.FIRST_STOPPED: "the host that operations stopped first",
    TargetForm.LAST_STOPPED: "the host that operations stopped last",
    TargetForm.LOST: "the host whose disk was lost (wipe_node)",
    TargetForm.SPARE: "a host of the layout that runs and has not joined the cluster yet",
    TargetForm.QUEUE: "the queue of that name in the workload",
}
_PROCESSES = {COMPOSE: CONTAINER, LOCAL: PROCESS}
_API = {COMPOSE: API, LOCAL: API}
_COMMAND = {COMPOSE: COMMAND, LOCAL: COMMAND}

RESTART_NODE = Operation(
    name="restart_node",
    title="the host's broker is stopped and started again, on its own data",
    targets=(*RUNNING, TargetForm.ALL),
    offers=_PROCESSES,
    options=StopOptions,
    stops=True,
    starts=True,
    leadership_change=LeadershipChange.SOON,
)
STOP_NODE = Operation(
    name="stop_node",
    title="the host's broker is stopped, and stays down",
    targets=(*RUNNING, TargetForm.ALL),
    offers=_PROCESSES,
    options=StopOptions,
    stops=True,
    leadership_change=LeadershipChange.SOON,
)
START_NODE = Operation(
    name="start_node",
    title="a broker that an operation stopped is started on its own data",
    targets=(*STOPPED, TargetForm.ALL),
    offers=_PROCESSES,
    options=StartOptions,
    starts=True,
    leadership_change=LeadershipChange.LATER,
)
WIPE_NODE = Operation(
    name="wipe_node",
    title="a host that is down loses its disk: an empty disk replaces it",
    targets=(*STOPPED, TargetForm.ALL),
    offers=_COMMAND,
    alters=True,
)
ADD_NODE = Operation(
    name="add_node",
    title="a host outside the cluster joins it, empty",
    targets=(TargetForm.SPARE, TargetForm.HOST),
    offers=_COMMAND,
    options=ThroughOptions,
    alters=True,
    leadership_change=LeadershipChange.LATER,
)
FORGET_NODE = Operation(
    name="forget_node",
    title="the cluster removes a node that is down from its list of members",
    targets=STOPPED,
    offers=_COMMAND,
    options=ForgetOptions,
    alters=True,
    leadership_change=LeadershipChange.LATER,
)
FORCE_BOOT = Operation(
    name="force_boot",
    title="a node that is down starts without waiting for nodes that stopped later",
    targets=STOPPED,
    offers=_COMMAND,
    alters=True,
)
RESET_NODE = Operation(
    name="reset_node",
    title="a running node leaves the cluster, deletes its data, and joins again, empty",
    targets=RUNNING,
    offers=_COMMAND,
    alters=True,
    leadership_change=LeadershipChange.LATER,
)
SET_POLICY = Operation(
    name="set_policy",
    title="a policy is created, or changed to this definition",
    targets=(),
    offers=_API,
    options=PolicyOptions,
    needs=("definition",),
    alters=True,
    leadership_change=LeadershipChange.LATER,
)
DELETE_POLICY = Operation(
    name="delete_policy",
    title="a policy is removed",
    targets=(),
    offers=_API,
    options=PolicyNameOptions,
    alters=True,
    leadership_change=LeadershipChange.LATER,
)
SYNCHRONISE = Operation(
    name="synchronise",
    title="the master fills the queue's mirrors, and serves no client meanwhile",
    targets=(TargetForm.QUEUE,),
    offers=_API,
    options=WaitOptions,
)
CANCEL_SYNC = Operation(
    name="cancel_sync",
    title="a running synchronisation is cancelled; the mirrors are empty again",
    targets=(TargetForm.QUEUE,),
    offers=_API,
)
PROMOTE = Operation(
    name="promote",
    title="a mirror of a queue without master is stopped, and started as its master; the "
    "old master can only return as a mirror",
    targets=(TargetForm.QUEUE,),
    offers=_PROCESSES,
    alters=True,
    leadership_change=LeadershipChange.SOON,
)
OPERATIONS = {
    operation.name: operation
    for operation in (
        *(RESTART_NODE, STOP_NODE, START_NODE),
        *(WIPE_NODE, ADD_NODE, FORGET_NODE, FORCE_BOOT, RESET_NODE),
        *(SET_POLICY, DELETE_POLICY),
        *(SYNCHRONISE, CANCEL_SYNC, PROMOTE),
    )
}
