"""The words by which a scenario means hosts, processes and clients: their one grammar.

1. A word is parsed once, where a file is read. What travels from there on is a Target.
2. A word is neutral between brokers; a layout says whether it means anybody (applicability.py).
3. What a target means at one moment stands in run/core/resolving.py and run/core/stopping.py.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import StrEnum

from harness.outside.text import brief
from harness.plan.problems import nearest

HOST_NAME = r"[A-Za-z0-9][A-Za-z0-9.-]{0,62}"
QUEUE_NAME = r"[a-z][a-z0-9_-]{0,30}"  # of a queue that a scenario names
_CLIENT = r"(?:publisher|consumer)-[1-9][0-9]{0,5}"
_NUMBER = r"[1-9][0-9]{0,3}"
_RANK = r"[1-9][0-9]?"
_QUEUE = r"\s*(?P<queue>\S(?:.{0,253}\S)?)\s*"  # which characters it may have the workload says


class TargetForm(StrEnum):
    """The kinds of words; capitals stand for a name."""

    MASTER = "master of QUEUE"
    MIRROR = "mirror of QUEUE"
    UNINVOLVED = "uninvolved"
    HOST_OF_FAULT = "host of fault N"
    OTHER_THAN_FAULT = "other than fault N"
    ACTIVE_BALANCER = "active balancer"
    STANDBY_BALANCER = "standby balancer"
    NAME_SERVER = "name_server_of CLIENT"
    NAME_SERVERS = "name servers"
    CONTROLLER = "leading controller"
    CLIENTS = "clients"
    CLIENT = "CLIENT"
    ALL = "all"
    FIRST_STOPPED = "first stopped"
    LAST_STOPPED = "last stopped"
    LOST = "lost"
    SPARE = "spare"
    QUEUE = "QUEUE"
    PROCESS = "HOST/PROCESS"
    HOST = "HOST"
    CLUSTER = ""  # of an operation that means the whole cluster


# Of the words without a name, the word itself. The first form that matches counts.
_PATTERNS = {
    TargetForm.MASTER: f"(?:master|leader) of {_QUEUE}",
    TargetForm.MIRROR: f"(?:mirror|follower|replica)(?: (?P<rank>{_RANK}))? of {_QUEUE}",
    TargetForm.HOST_OF_FAULT: f"host of fault (?P<fault>{_NUMBER})",
    TargetForm.OTHER_THAN_FAULT: f"other than fault (?P<fault>{_NUMBER})",
    TargetForm.NAME_SERVER: f"name_server_of (?P<client>{_CLIENT})",
    TargetForm.CLIENT: f"(?P<client>{_CLIENT})",
    TargetForm.QUEUE: f"(?P<queue>{QUEUE_NAME})",
    TargetForm.PROCESS: rf"(?P<host>{HOST_NAME})/(?P<process>[a-z][a-z0-9-]{{0,30}})",
    TargetForm.HOST: f"(?P<host>{HOST_NAME})",
}
_GRAMMAR = {
    form: re.compile(_PATTERNS.get(form, re.escape(form)), re.DOTALL) for form in TargetForm
}
_HOST_OF = "host of "  # one process

BALANCERS = (TargetForm.ACTIVE_BALANCER, TargetForm.STANDBY_BALANCER)
ONE_PROCESS = (TargetForm.PROCESS, TargetForm.NAME_SERVER, TargetForm.CONTROLLER)
PROCESSES = (*ONE_PROCESS, TargetForm.NAME_SERVERS)
_OF_QUEUES = (TargetForm.MASTER, TargetForm.MIRROR)
OF_CLIENTS = (TargetForm.CLIENTS, TargetForm.CLIENT)
ENDPOINTS = (TargetForm.MASTER, TargetForm.MIRROR, TargetForm.UNINVOLVED, TargetForm.HOST)
REFERENCES = (TargetForm.HOST_OF_FAULT, TargetForm.OTHER_THAN_FAULT)
FAULT_TARGETS = (*ENDPOINTS, *REFERENCES, *BALANCERS, *PROCESSES, *OF_CLIENTS)

_A_HOSTS_NAME = "a host's name"
ENDPOINT_FORMS = (
    *(form.value for form in ENDPOINTS if form is not TargetForm.HOST),
    _A_HOSTS_NAME,
)
PROCESS_FORMS = (
    *(form.value for form in PROCESSES),
    f"{_HOST_OF}one of these processes",
)
TARGET_FORMS = (
    *ENDPOINT_FORMS,
    *(form.value for form in (*REFERENCES, *BALANCERS)),
    *PROCESS_FORMS,
)
_DESCRIBED = (_A_HOSTS_NAME, TargetForm.PROCESS.value, PROCESS_FORMS[-1])  # no words to write
_ALSO_WRITTEN = ("leader of QUEUE", "follower of QUEUE", "replica of QUEUE")
_CAPITALS = re.compile(r"\b(?:QUEUE|CLIENT|N)\b")
_PLAIN_WORDS = tuple(form.value for form in FAULT_TARGETS if form not in _PATTERNS)
CLIENT_FORMS = ("clients", "publisher-N", "consumer-N")
MEANINGS = {  # of a fault's target; an operation's stand in operations.MEANINGS
    TargetForm.MASTER: "the host of the queue's master when the fault begins; also written "
    "`leader of QUEUE`",
    TargetForm.MIRROR: "the host of the queue's oldest mirror when the fault begins; also written "
    "`follower of QUEUE` or `replica of QUEUE`; `mirror 2 of QUEUE` is the second oldest",
    TargetForm.UNINVOLVED: "the first host that holds no copy of any queue; for endpoints of "
    "clients: the first host that no fault targets",
    TargetForm.HOST: "the host, or the load balancer, of that name in the layout",
    TargetForm.HOST_OF_FAULT: "the host that fault N of the file targets",
    TargetForm.OTHER_THAN_FAULT: "the first host that fault N of the file does not target",
    TargetForm.ACTIVE_BALANCER: "the load balancer that has the clients' address when the fault "
    "begins",
    TargetForm.STANDBY_BALANCER: "the other load balancer of a pair",
    TargetForm.PROCESS: "one process of a host that carries several",
    TargetForm.NAME_SERVER: "the name server that the client uses when the fault begins",
    TargetForm.NAME_SERVERS: "all name servers at once: for kill, stop and freeze",
    TargetForm.CONTROLLER: "the process of the controller that leads when the fault begins",
    TargetForm.CLIENTS: "the processes that `clients` names: for faults of clients only",
    TargetForm.CLIENT: "the client of that name: publisher-1, consumer-2, ...",
}


@dataclass(frozen=True, slots=True)
class Target:
    """A parsed word. At most one of `queue`, `host`, `client` is set."""

    word: str
    form: TargetForm
    queue: str = ""
    host: str = ""
    client: str = ""  # itself, or the one whose name server is meant
    process: str = ""  # of `host`
    fault: int = 0  # the fault of the scenario, in the file's order, whose host it refers to
    rank: int = 1  # of a mirror by age; 1: the oldest
    whole_host: bool = False  # that of the process that is meant, with all that it carries

    def __str__(self) -> str:
        return self.word

    @property
    def of_clients(self) -> bool:
        """Whether it means clients, not a host."""
        return self.form in OF_CLIENTS

    @property
    def of_processes(self) -> bool:
        """Whether it means processes of a host that may carry others."""
        return self.form in PROCESSES

    @property
    def of_balancers(self) -> bool:
        return self.form in BALANCERS

    @property
    def role(self) -> str:
        """Return `leader` of `leader of orders`; "" if it means no replica of a queue."""
        return self.word.partition(" ")[0] if self.form in _OF_QUEUES else ""


def meant(word: str, forms: Sequence[str]) -> str:
    """Return the target of these forms that `word` probably means, with its own last word for
    what stands in capitals: `mirror of orders` for `miror of orders`; "" if none is near."""
    name = (word.split() or [""])[-1]
    own = {"QUEUE": name, "CLIENT": name, "N": name.rpartition("-")[2]}
    known = [form for form in forms if form not in _DESCRIBED]
    known += _ALSO_WRITTEN if TargetForm.MASTER in known else ()
    return nearest(word, [_CAPITALS.sub(lambda one: own[one[0]], form) for form in known])


def misspelt(host: str) -> str:
    """Return the plain word, such as `uninvolved`, that a host's name probably means; or ""."""
    found = get_close_matches(host, _PLAIN_WORDS, n=1, cutoff=0.9)
    return found[0] if found else ""


UNINVOLVED = Target(TargetForm.UNINVOLVED.value, TargetForm.UNINVOLVED)
CLUSTER = Target("", TargetForm.CLUSTER)


def parse_target(word: str, forms: Collection[TargetForm] = FAULT_TARGETS) -> Target:
    """Return the target that `word` names among these forms: of a fault, unless others are given.
    A word without a name is no host's or queue's name, whatever the forms.

    Raises ValueError where it is none of them.
    """
    for form, pattern in _GRAMMAR.items():
        if (form in forms or form not in _PATTERNS) and (found := pattern.fullmatch(word)):
            if form not in forms:
                break
            return _target(word, form, found.groupdict())
    if TargetForm.PROCESS in forms and word.startswith(_HOST_OF):
        return _host_of(word)
    raise ValueError(f"{brief(word)} is no target")


def _target(word: str, form: TargetForm, names: Mapping[str, str]) -> Target:
    rank = int(names.get("rank") or 1)
    if form in _OF_QUEUES:  # one word for one meaning, so that equal targets are equal
        word = replica_word(form.partition(" ")[0], rank, word.partition(" of ")[2])
    return Target(
        word,
        form,
        queue=names.get("queue", ""),
        host=names.get("host", ""),
        client=names.get("client", ""),
        process=names.get("process", ""),
        fault=int(names.get("fault", 0)),
        rank=rank,
    )


def replica_word(role: str, rank: int, queue: str) -> str:
    """Return `mirror of orders`; `mirror 2 of orders` for the second oldest one."""
    return f"{role} of {queue}" if rank == 1 else f"{role} {rank} of {queue}"


def _host_of(word: str) -> Target:
    inner = parse_target(word.removeprefix(_HOST_OF))
    if inner.form not in ONE_PROCESS or inner.whole_host:
        raise ValueError(f"{brief(word)} is no target: {brief(inner.word)} is no one process")
    return replace(inner, word=word, whole_host=True)
