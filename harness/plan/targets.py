"""The words a scenario is written in: fault kinds, targets, entries, and what each means.

1. A word is neutral between brokers; a layout says whether it means anybody (applicability.py).
2. What a word means to a fault stands in faults/compile.py; here is only how it is written.
"""

import re
from dataclasses import dataclass, replace

from faults import places
from harness.outside.text import brief

MASTER = "master of "
MIRROR = "mirror of "
UNINVOLVED = "uninvolved"
ACTIVE_BALANCER = "active balancer"
STANDBY_BALANCER = "standby balancer"
CLIENTS = "clients"
NAME_SERVER_OF = "name_server_of "
NAME_SERVERS = "name servers"
LEADING_CONTROLLER = "leading controller"
HOST_OF = "host of "  # one process
HOST_OF_FAULT, OTHER_THAN_FAULT = "host of fault ", "other than fault "
FAULT_FORMS = (f"{HOST_OF_FAULT}N", f"{OTHER_THAN_FAULT}N")
ENTRY_FORMS = ("master of QUEUE", "mirror of QUEUE", "uninvolved", "a host's name")
ONE_PROCESS_FORMS = ("HOST/PROCESS", "name_server_of CLIENT", LEADING_CONTROLLER)
PROCESS_FORMS = (*ONE_PROCESS_FORMS, NAME_SERVERS, f"{HOST_OF}one of these processes")
TARGET_FORMS = (
    *ENTRY_FORMS,
    *FAULT_FORMS,
    ACTIVE_BALANCER,
    STANDBY_BALANCER,
    *PROCESS_FORMS,
)
CLIENT_FORMS = ("clients", "publisher-N", "consumer-N")
_QUEUE_MAX = 255  # characters; which of them a name may have the workload says
_CLIENT = re.compile(r"(publisher|consumer)-([1-9][0-9]{0,5})")
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,62}")
_NUMBER = re.compile(r"[1-9][0-9]{0,3}")
_PROCESS = re.compile(r"[a-z][a-z0-9-]{0,30}")


@dataclass(frozen=True, slots=True)
class Target:
    """A target or entry word, taken apart. At most one of `queue`, `host`, `client` is set."""

    word: str
    role: str  # "master", "mirror", "uninvolved", "host", "balancer", "clients", "client",
    # "process", "name_server", "name_servers", "controller", "host_of_fault", "other_than_fault"
    queue: str = ""
    host: str = ""
    client: str = ""  # itself, or the one whose name server is meant
    process: str = ""  # of `host`
    fault: int = 0  # the fault of the scenario, in the file's order, whose host it refers to
    whole_host: bool = False  # that of the process that is meant, with all that it carries

    @property
    def of_clients(self) -> bool:
        """Whether it means clients, not a host."""
        return self.role in ("clients", "client")

    @property
    def of_processes(self) -> bool:
        """Whether it means processes of a host that may carry others."""
        return self.role in ("process", "name_server", "name_servers", "controller")


def parse_target(word: str) -> Target:
    """The target that `word` names; ValueError where it is no word of ours."""
    for role, prefix in (("master", MASTER), ("mirror", MIRROR)):
        if word.startswith(prefix) and 0 < len(word.removeprefix(prefix).strip()) <= _QUEUE_MAX:
            return Target(word, role, queue=word.removeprefix(prefix).strip())
    for role, prefix in (("host_of_fault", HOST_OF_FAULT), ("other_than_fault", OTHER_THAN_FAULT)):
        if word.startswith(prefix) and _NUMBER.fullmatch(word.removeprefix(prefix)):
            return Target(word, role, fault=int(word.removeprefix(prefix)))
    if word.startswith(HOST_OF):
        return _host_of(word)
    if word == UNINVOLVED:
        return Target(word, "uninvolved")
    if word in (ACTIVE_BALANCER, STANDBY_BALANCER):
        return Target(word, "balancer")
    if word == CLIENTS:
        return Target(word, "clients")
    if word == NAME_SERVERS:
        return Target(word, "name_servers")
    if word == LEADING_CONTROLLER:
        return Target(word, "controller")
    if _CLIENT.fullmatch(word):
        return Target(word, "client", client=word)
    client = word.removeprefix(NAME_SERVER_OF)
    if client != word and _CLIENT.fullmatch(client):
        return Target(word, "name_server", client=client)
    host, process = places.host_of(word), places.process_of(word)
    if _HOST.fullmatch(host) and _PROCESS.fullmatch(process):
        return Target(word, "process", host=host, process=process)
    if _HOST.fullmatch(word):
        return Target(word, "host", host=word)
    raise ValueError(f"{brief(word)} is no target")


def _host_of(word: str) -> Target:
    inner = parse_target(word.removeprefix(HOST_OF))
    if not inner.of_processes or inner.whole_host or inner.role == "name_servers":
        raise ValueError(f"{brief(word)} is no target: {brief(inner.word)} is no one process")
    return replace(inner, word=word, whole_host=True)
