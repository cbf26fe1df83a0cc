"""The ports at which the processes of hosts are spoken to, and the words for them: a system's
values.

1. A host of several processes answers when all of them do: the worst of their replies is its own.
2. If processes of a host speak at different ports, a listener that leads to one has its port, and
   is compared with a direct way to that one.
3. Words are text that stands for bytes, one each (latin-1): a protocol need not consist of
   letters.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from faults.core.model import Reply
from faults.core.replies import DIRECT


class Greets(NamedTuple):
    """The agent's call that greets, and its arguments except place and time limit."""

    call: str
    arguments: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Greeting:
    """The words on a new connection, and the beginning of a right answer."""

    says: str
    begins: str

    @property
    def greets(self) -> Greets:
        return Greets("greet", {"says": self.says, "begins": self.begins})


@dataclass(frozen=True, slots=True)
class Greeter:
    """Code that greets, where no bytes tell a right answer: `module:object` that the agent
    imports, and awaits with a host and a port; it raises where no right answer comes
    (harness/workers/agent_calls/ends.py)."""

    by: str

    @property
    def greets(self) -> Greets:
        return Greets("greet_by", {"by": self.by})


@dataclass(frozen=True, slots=True, kw_only=True)
class ServicePorts:
    """The service ports of a system; no field has a default. `ports`: by place
    (faults/core/places.py), of each process; places without an entry have `usual`. `to_peers`:
    where a host is spoken to by its peers; None: where all others speak to it.

    `canaries`: `module:object` that the agent imports, which opens a canary on a client's link
    (harness/workers/agent_calls/canaries.py, `Opens`); None: there are no canaries, so no way that
    clients have can be seen. `peer_word`: what is sent to a peer (core/peer_canary.py), and ended
    at once; None: there is no such word.
    """

    hello: Greeting | Greeter
    canaries: str | None
    peer_word: str | None
    usual: int
    to_peers: int | None
    ports: Mapping[str, tuple[int, ...]]

    @property
    def greeting(self) -> Greets:
        return self.hello.greets

    def of(self, place: str) -> tuple[int, ...]:
        return self.ports.get(place, (self.usual,))

    def spoken_to(self, host: str) -> tuple[int, ...]:
        """Return the ports at which a host's peers send words (core/peer_canary.py) to its
        processes."""
        return self.of(host) if self.to_peers is None else (self.to_peers,)

    def direct(self, port: int) -> str:
        """Return the name of the direct way that a listener at this port is compared with."""
        return f"{DIRECT} {port}" if self.ports else DIRECT


def worst(replies: Iterable[Reply]) -> Reply:
    """Return a reply without an answer if there is one, else the slowest."""
    return max(replies, key=lambda reply: (not reply.answered, reply.seconds))
