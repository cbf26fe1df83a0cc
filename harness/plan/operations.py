"""Operations and their targets as data: what an operator does, and where each is offered.

1. Pure words: who is meant stands in run/stopping.py, how it is done in run/operating.py and
   behind the port cluster/orders.py.
2. An operation has no undo: the cluster may be another one afterwards, and `alters` says so.
3. Where a deployment has no such operation it says why; a system says so in its system.toml.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from faults.mechanisms import COMPOSE, CONTAINER, LOCAL, PROCESS
from harness.outside.text import brief

API, COMMAND = "management API", "the broker's command line"
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,62}")
_NUMBER = re.compile(r"[1-9][0-9]{0,3}")
_QUEUE = re.compile(r"[a-z][a-z0-9_-]{0,30}")

MASTER, MIRROR, UNINVOLVED, HOST = "master of QUEUE", "mirror of QUEUE", "uninvolved", "HOST"
FIRST_STOPPED, LAST_STOPPED, LOST = "first stopped", "last stopped", "lost"
ALL, SPARE, QUEUE = "all", "spare", "QUEUE"
FAULT_HOST, OTHER_HOST = "host of fault N", "other than fault N"
RUNNING = (MASTER, MIRROR, UNINVOLVED, FAULT_HOST, OTHER_HOST, HOST)
STOPPED = (FIRST_STOPPED, LAST_STOPPED, LOST, HOST)

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
class TargetWord:
    """A word that an operation may be aimed with; capitals stand for a name."""

    word: str
    meaning: str


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
    targets: tuple[str, ...]  # of TARGETS; empty: it means the whole cluster
    offers: Mapping[str, str]  # deployment -> by what
    options: tuple[str, ...] = ()  # the keys of OPTIONS that it takes
    needs: tuple[str, ...] = ()  # those that it cannot do without
    alters: bool = False  # the cluster is not what its layout says, for good
    leadership_change: LeadershipChange = LeadershipChange.NEVER
    why_not: Mapping[str, str] = field(default_factory=dict)  # deployment without it -> why


@dataclass(frozen=True, slots=True)
class OperationTarget:
    """A target word, taken apart: a form of TARGETS, and the queue or host that it names."""

    word: str
    form: str
    queue: str = ""
    host: str = ""
    fault: int = 0  # the fault of the scenario, in the file's order, whose host it refers to


TARGETS = {
    target.word: target
    for target in (
        TargetWord(MASTER, "the host that holds the queue's master when the operation is due"),
        TargetWord(MIRROR, "the host of the queue's oldest mirror then"),
        TargetWord(UNINVOLVED, "a host that holds no copy of any queue then"),
        TargetWord(FAULT_HOST, "the host that fault N of the file means"),
        TargetWord(OTHER_HOST, "the first host that fault N of the file does not mean"),
        TargetWord(HOST, "the host of that name in the layout"),
        TargetWord(ALL, "every host; of those that are down, where it is about them"),
        TargetWord(FIRST_STOPPED, "of the hosts that operations stopped, the first"),
        TargetWord(LAST_STOPPED, "of the hosts that operations stopped, the last"),
        TargetWord(LOST, "the host whose disk was lost (wipe_node)"),
        TargetWord(SPARE, "a host of the layout that stands, and has not joined yet"),
        TargetWord(QUEUE, "the queue of that name in the workload"),
    )
}
OPTIONS = {
    option.key: option
    for option in (
        Option("how", "in good order (SIGTERM), or by SIGKILL", (STOP, KILL)),
        Option(
            "waits",
            "how long: not at all, until it is done (the process has ended, the broker serves, "
            "the mirrors are synchronised), until the whole cluster is as its layout says",
            (NO, DONE, CLEAN),
        ),
        Option("order", "of `all`", (AT_ONCE, IN_TURN, LAST_FIRST, FIRST_FIRST)),
        Option("offline", "said to a node that is down"),
        Option("through", "the host that executes it; without, the first possible one"),
        Option("name", "the policy's; without, that of the layout's own"),
        Option("pattern", "of the names of queues that it means"),
        Option("definition", "what it says, in the broker's format"),
        Option("priority", "of several that fit the highest counts"),
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
            targets=(*RUNNING, ALL),
            offers=_PROCESSES,
            options=("how", "waits", "order"),
            leadership_change=LeadershipChange.SOON,
        ),
        Operation(
            name="stop_node",
            title="the host's broker is stopped, and stays down",
            targets=(*RUNNING, ALL),
            offers=_PROCESSES,
            options=("how", "waits", "order"),
            leadership_change=LeadershipChange.SOON,
        ),
        Operation(
            name="start_node",
            title="a broker that an operation stopped is started on its own data",
            targets=(*STOPPED, ALL),
            offers=_PROCESSES,
            options=("waits", "order"),
            leadership_change=LeadershipChange.LATER,
        ),
        Operation(
            name="wipe_node",
            title="a host that is down loses its disk: an empty disk replaces it",
            targets=(*STOPPED, ALL),
            offers=_COMMAND,
            alters=True,
        ),
        Operation(
            name="add_node",
            title="a host outside the cluster joins it, empty",
            targets=(SPARE, HOST),
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
            targets=(QUEUE,),
            offers=_API,
            options=("waits",),
        ),
        Operation(
            name="cancel_sync",
            title="a running synchronisation is cancelled; the mirrors are empty again",
            targets=(QUEUE,),
            offers=_API,
        ),
        Operation(
            name="promote",
            title="a mirror of a queue without master is stopped, and started as its master; the "
            "old master can only return as a mirror",
            targets=(QUEUE,),
            offers=_PROCESSES,
            alters=True,
            leadership_change=LeadershipChange.SOON,
        ),
    )
}


def parse(kind: str, word: str) -> OperationTarget:
    """The target that `word` names for a kind of OPERATIONS. Raises ValueError."""
    forms = OPERATIONS[kind].targets
    for form, prefix in ((MASTER, "master of "), (MIRROR, "mirror of ")):
        queue = word.removeprefix(prefix)
        if form in forms and word.startswith(prefix) and _QUEUE.fullmatch(queue):
            return OperationTarget(word, form, queue=queue)
    for form in (FAULT_HOST, OTHER_HOST):
        number = word.removeprefix(form.removesuffix("N"))
        if form in forms and number != word and _NUMBER.fullmatch(number):
            return OperationTarget(word, form, fault=int(number))
    plain = (UNINVOLVED, ALL, FIRST_STOPPED, LAST_STOPPED, LOST, SPARE)
    if word in plain:
        if word in forms:
            return OperationTarget(word, word)
    elif QUEUE in forms and _QUEUE.fullmatch(word):
        return OperationTarget(word, QUEUE, queue=word)
    elif HOST in forms and _HOST.fullmatch(word):
        return OperationTarget(word, HOST, host=word)
    elif not forms and not word:
        return OperationTarget(word, "")
    raise ValueError(f"{brief(word)} is nothing that a {kind} can be aimed at")
