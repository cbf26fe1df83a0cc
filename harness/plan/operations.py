"""Operations and their targets as data: what an operator does, and where each is offered.

1. Pure words: who is meant stands in run/stopping.py, how it is done in run/operating.py and
   behind the port cluster/orders.py.
2. An operation has no undo: the cluster may be another one afterwards, and `alters` says so.
3. Where a deployment has no such operation it says why; a system says so in its system.toml.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from faults.mechanisms import COMPOSE, CONTAINER, LOCAL, PROCESS
from harness.plan.targets import CLUSTER, Target, TargetForm, parse_target

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

AT_ONCE, IN_TURN = "at once", "in turn"
LAST_FIRST, FIRST_FIRST = "last stopped first", "first stopped first"
NO, DONE, CLEAN = "no", "done", "clean"
STOP, KILL = "stop", "kill"


class LeadershipChange(Enum):
    """Until when a queue may get another master because of an operation."""

    NEVER = auto()
    SOON = auto()  # until it has returned, and a moment longer
    LATER = auto()  # at an unknown time, decided by the cluster


@dataclass(frozen=True, slots=True)
class Option:
    """A key that a scenario may give an operation. No choices: a text, a number or a table."""

    key: str
    meaning: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """What is done, to whom, and by which means."""

    name: str
    title: str
    targets: tuple[TargetForm, ...]  # empty: it means the whole cluster
    offers: Mapping[str, str]  # deployment -> by what
    options: tuple[str, ...] = ()  # the keys of OPTIONS that it takes
    needs: tuple[str, ...] = ()  # those that it cannot do without
    alters: bool = False  # the cluster is not what its layout says, for good
    leadership_change: LeadershipChange = LeadershipChange.NEVER
    why_not: Mapping[str, str] = field(default_factory=dict)  # deployment without it -> why


MEANINGS = {
    TargetForm.MASTER: "the host of the queue's master when the operation is due; also written "
    "`leader of QUEUE`",
    TargetForm.MIRROR: "the host of the queue's oldest mirror then; also written "
    "`follower of QUEUE` or `replica of QUEUE`",
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
OPTIONS = {
    option.key: option
    for option in (
        Option("how", "end the process by SIGTERM (stop) or by SIGKILL (kill)", (STOP, KILL)),
        Option(
            "waits",
            "wait not at all (no); until the operation is done (done: the process has ended, the "
            "broker serves, the mirrors are synchronised); or until the whole cluster is as its "
            "layout says (clean)",
            (NO, DONE, CLEAN),
        ),
        Option(
            "order",
            "in which order, with target `all`",
            (AT_ONCE, IN_TURN, LAST_FIRST, FIRST_FIRST),
        ),
        Option("offline", "the command is given to a node that is down"),
        Option("through", "the host that executes it; default: the first possible one"),
        Option("name", "the policy's name; default: that of the layout's own policy"),
        Option("pattern", "the pattern that the names of its queues match"),
        Option("definition", "the policy's definition, in the broker's format"),
        Option("priority", "if several policies match a queue, the highest priority counts"),
    )
}
_PROCESSES = {COMPOSE: CONTAINER, LOCAL: PROCESS}
_API = {COMPOSE: API, LOCAL: API}
_COMMAND = {COMPOSE: COMMAND, LOCAL: COMMAND}

OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation(
            name="restart_node",
            title="the host's broker is stopped and started again, on its own data",
            targets=(*RUNNING, TargetForm.ALL),
            offers=_PROCESSES,
            options=("how", "waits", "order"),
            leadership_change=LeadershipChange.SOON,
        ),
        Operation(
            name="stop_node",
            title="the host's broker is stopped, and stays down",
            targets=(*RUNNING, TargetForm.ALL),
            offers=_PROCESSES,
            options=("how", "waits", "order"),
            leadership_change=LeadershipChange.SOON,
        ),
        Operation(
            name="start_node",
            title="a broker that an operation stopped is started on its own data",
            targets=(*STOPPED, TargetForm.ALL),
            offers=_PROCESSES,
            options=("waits", "order"),
            leadership_change=LeadershipChange.LATER,
        ),
        Operation(
            name="wipe_node",
            title="a host that is down loses its disk: an empty disk replaces it",
            targets=(*STOPPED, TargetForm.ALL),
            offers=_COMMAND,
            alters=True,
        ),
        Operation(
            name="add_node",
            title="a host outside the cluster joins it, empty",
            targets=(TargetForm.SPARE, TargetForm.HOST),
            offers=_COMMAND,
            options=("through",),
            alters=True,
            leadership_change=LeadershipChange.LATER,
        ),
        Operation(
            name="forget_node",
            title="the cluster removes a node that is down from its list of members",
            targets=STOPPED,
            offers=_COMMAND,
            options=("offline", "through"),
            alters=True,
            leadership_change=LeadershipChange.LATER,
        ),
        Operation(
            name="force_boot",
            title="a node that is down starts without waiting for nodes that stopped later",
            targets=STOPPED,
            offers=_COMMAND,
            alters=True,
        ),
        Operation(
            name="reset_node",
            title="a running node leaves the cluster, deletes its data, and joins again, empty",
            targets=RUNNING,
            offers=_COMMAND,
            alters=True,
            leadership_change=LeadershipChange.LATER,
        ),
        Operation(
            name="set_policy",
            title="a policy is created, or changed to this definition",
            targets=(),
            offers=_API,
            options=("name", "pattern", "definition", "priority"),
            needs=("definition",),
            alters=True,
            leadership_change=LeadershipChange.LATER,
        ),
        Operation(
            name="delete_policy",
            title="a policy is removed",
            targets=(),
            offers=_API,
            options=("name",),
            alters=True,
            leadership_change=LeadershipChange.LATER,
        ),
        Operation(
            name="synchronise",
            title="the master fills the queue's mirrors, and serves no client meanwhile",
            targets=(TargetForm.QUEUE,),
            offers=_API,
            options=("waits",),
        ),
        Operation(
            name="cancel_sync",
            title="a running synchronisation is cancelled; the mirrors are empty again",
            targets=(TargetForm.QUEUE,),
            offers=_API,
        ),
        Operation(
            name="promote",
            title="a mirror of a queue without master is stopped, and started as its master; the "
            "old master can only return as a mirror",
            targets=(TargetForm.QUEUE,),
            offers=_PROCESSES,
            alters=True,
            leadership_change=LeadershipChange.SOON,
        ),
    )
}


def parse_operation(kind: str, word: str) -> Target:
    """Return the target that `word` names for a kind of OPERATIONS. Raises ValueError."""
    forms = OPERATIONS[kind].targets
    return CLUSTER if not word and not forms else parse_target(word, forms)
