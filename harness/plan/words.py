"""The words a scenario is written in: fault kinds, targets, entries, and what each means.

1. A word is neutral between brokers; a layout says whether it means anybody (applicable.py).
2. What a word means to a fault stands in faults/compile.py; here is only how it is written.
"""

import re
from dataclasses import dataclass

MASTER = "master of "
MIRROR = "mirror of "
UNINVOLVED = "uninvolved"
ACTIVE_BALANCER = "active balancer"
STANDBY_BALANCER = "standby balancer"
CLIENTS = "clients"
ENTRY_FORMS = ("master of QUEUE", "mirror of QUEUE", "uninvolved", "a host's name")
TARGET_FORMS = (*ENTRY_FORMS, ACTIVE_BALANCER, STANDBY_BALANCER)
CLIENT_FORMS = ("clients", "publisher-N", "consumer-N")
_CLIENT = re.compile(r"(publisher|consumer)-([1-9]\d*)")
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,62}")


@dataclass(frozen=True, slots=True)
class Target:
    """A target or entry word, taken apart. At most one of `queue`, `host`, `client` is set."""

    word: str
    role: str  # "master", "mirror", "uninvolved", "host", "balancer", "clients", "client"
    queue: str = ""
    host: str = ""
    client: str = ""

    @property
    def of_clients(self) -> bool:
        """Whether it means clients, not a host."""
        return self.role in ("clients", "client")


def parse_target(word: str) -> Target:
    """The target that `word` names; ValueError where it is no word of ours."""
    for role, prefix in (("master", MASTER), ("mirror", MIRROR)):
        if word.startswith(prefix) and word.removeprefix(prefix).strip():
            return Target(word, role, queue=word.removeprefix(prefix).strip())
    if word == UNINVOLVED:
        return Target(word, "uninvolved")
    if word in (ACTIVE_BALANCER, STANDBY_BALANCER):
        return Target(word, "balancer")
    if word == CLIENTS:
        return Target(word, "clients")
    if _CLIENT.fullmatch(word):
        return Target(word, "client", client=word)
    if _HOST.fullmatch(word):
        return Target(word, "host", host=word)
    raise ValueError(f"{word!r} is no target")
