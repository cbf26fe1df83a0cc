"""Where the processes of hosts are spoken to, and in which protocol of the agent's.

1. A host of several processes answers when all of them do: of their replies the worst is its own.
2. Where processes of a host speak at different ports, a listener that leads to one has its port,
   and is compared with a direct way to that one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from faults.model import Reply
from faults.replies import DIRECT

AMQP, REMOTING = "amqp", "remoting"


@dataclass(frozen=True, slots=True)
class Greeting:
    """A protocol of which no more is known: what is said on a new connection, and how a right
    answer begins. Nobody sends canaries in it."""

    says: str
    begins: str


class Greets(NamedTuple):
    """The agent's call that greets, and its arguments besides where and how long."""

    call: str
    arguments: Mapping[str, str] = {}


GREETINGS = {AMQP: Greets("greet"), REMOTING: Greets("remoting_greet")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Doors:
    """A system's; nothing has a default. `ports`: by place (faults/places.py), of each process; of
    what is not there, `usual`. `to_peers`: where a host is spoken to by its peers; None: where
    everybody speaks to it."""

    protocol: str | Greeting
    usual: int
    to_peers: int | None
    ports: Mapping[str, tuple[int, ...]]

    @property
    def greeting(self) -> Greets:
        own = self.protocol
        if isinstance(own, Greeting):
            return Greets("words_greet", {"says": own.says, "begins": own.begins})
        return GREETINGS[own]

    def of(self, place: str) -> tuple[int, ...]:
        return self.ports.get(place, (self.usual,))

    def spoken_to(self, host: str) -> tuple[int, ...]:
        """Where a host's peers say words (peer_words.py) to its processes."""
        return self.of(host) if self.to_peers is None else (self.to_peers,)

    def direct(self, port: int) -> str:
        """What the direct way is called that a listener at this port is compared with."""
        return f"{DIRECT} {port}" if self.ports else DIRECT


def worst(replies: Iterable[Reply]) -> Reply:
    """Who did not answer, else who took longest."""
    return max(replies, key=lambda reply: (not reply.answered, reply.seconds))
