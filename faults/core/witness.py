"""Observation of a cluster from outside, without disturbing it: the ports of verification.

1. Each port shows one family of faults; a Witness is all of them. The verifier of a kind names the
   port that it needs (faults/kinds/).
2. No query uses the connections that carry the load.
3. Every query has a deadline of its own; a query that is impossible raises FaultError.
"""

from typing import Protocol

from faults.core.model import (
    Armed,
    Drops,
    Impairment,
    PacketSamples,
    ProcessState,
    Replies,
    Reply,
    Successor,
    VerifyResult,
    Words,
)

ECHO_INTERVAL_S = 0.002  # between two echo requests: a kernel answers all of them (icmp(7))


class SeesProcesses(Protocol):
    """Brokers' processes, and whether they serve."""

    async def process(self, place: str) -> ProcessState: ...

    async def greets(self, place: str) -> Reply:
        """Return whether the broker there answers the first bytes of its protocol on a new
        connection, past every proxy."""

    async def serves(self, place: str) -> Reply:
        """Return whether the broker there answers its protocol and the cluster lists it as
        running."""


class SeesWays(Protocol):
    """The network between hosts."""

    async def drops(self, host: str, chain: str) -> Drops | None:
        """Return how many packets our chain in a host dropped; None if there is no such chain:
        what a proxy does has none."""

    async def reach(self, host: str, peer: str, wait_s: float | None = None) -> Reply:
        """One connection attempt by the way that a host's own processes take to a peer's broker;
        from a host to itself: past every proxy. `peer`: its name, or `name:port` for one of its
        processes; of several the worst reply counts. Without `wait_s` it waits long enough to
        prove silence."""

    async def entries(self, host: str) -> Replies:
        """Return whether the host's broker answers the first bytes of its protocol on a new
        connection by each way that clients have: a listener's name -> its reply."""


class SeesPackets(Protocol):
    """What becomes of single packets between hosts."""

    async def echoes(self, host: str, peer: str, count: int, wait_s: float) -> PacketSamples:
        """Send echo requests (ICMP) from a host to a peer, whose kernel answers them. What is not
        answered within `wait_s` after the last was sent counts as lost."""

    async def impairments(self, host: str) -> dict[str, Impairment]:
        """Return our queueing discipline on each interface of a host that has it."""


class SeesHosts(SeesProcesses, SeesWays, Protocol):
    """A host as a whole."""


class SeesLinks(Protocol):
    """Clients' links to a host, by canaries of our own on them."""

    async def prepare(self, armed: Armed) -> None:
        """Opens canaries through each proxy that gets a toxic, and a direct one. Raises FaultError
        where a way does not work now."""

    async def canaries(self, armed: Armed) -> Replies:
        """One request on every canary at once: proxy name, or "direct", -> its reply."""

    async def words(self, armed: Armed, words: Words) -> Replies:
        """The same words on every canary at once, for kinds whose canaries speak; the seconds are
        those of the quickest round. What is silent is waited for a little longer than may be."""

    async def attempts(self, armed: Armed) -> Replies:
        """One new connection on each way at once, that says the first bytes of the protocol."""

    async def dismiss(self, armed: Armed) -> None:
        """Closes what `prepare` opened."""


class SeesClients(Protocol):
    """The processes of the load's publishers and consumers."""

    async def client(self, client: str) -> ProcessState: ...

    async def answers(self, client: str) -> Reply:
        """Return whether a client answers a ping over its control channel: past every broker."""

    async def connected(self, clients: tuple[str, ...]) -> tuple[str, ...]:
        """Return those of these clients that the brokers list a connection of."""

    async def successor(self, client: str) -> Successor | None:
        """Return the client that took a dead one's place; None if there is none (yet)."""


class SeesAlarms(Protocol):
    async def alarms(self, resource: str) -> dict[str, dict[str, bool]]:
        """Each host's own word, of those that answer: of whom -> whether it is in alarm."""


class SeesAnswers(Protocol):
    """Answers of a broker about itself, in words of its own."""

    async def said(self, host: str, words: str) -> str:
        """The line that it answers these words with, on a connection of their own, past every
        proxy. Raises FaultError where none comes."""


class SeesCommands(SeesProcesses, Protocol):
    """Hosts that are not ours: by their owner's word, and from outside."""

    async def verify_result(self, armed: Armed) -> VerifyResult | None:
        """Return what the user's own command says of a fault that his commands do; None: he has
        none."""


class Witness(
    SeesHosts,
    SeesLinks,
    SeesPackets,
    SeesClients,
    SeesAlarms,
    SeesAnswers,
    SeesCommands,
    Protocol,
):
    """All that verification may ask of a deployment."""
