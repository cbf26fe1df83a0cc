"""Actions as values: what an executor can do to a cluster. They survive as JSON in the journal.

1. Another process can undo them: an action knows names, never objects.
2. An action that undoes may be repeated: undoing what is gone already is no error.
"""

from dataclasses import dataclass

ENDING_S = 30.0  # so long the undo of a stop waits for a broker that is still ending
STREAMS = ("upstream", "downstream")  # of a proxy: to the broker, and back


class Action:
    """One step that an executor performs. A kind of fault from another package brings its own
    actions, as frozen dataclasses of names and numbers; an executor refuses an action that it does
    not know."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Kill(Action):
    """SIGKILL to every process of a place (places.py) that is a broker's."""

    host: str


@dataclass(frozen=True, slots=True)
class Stop(Action):
    """SIGTERM to every broker process of a host.

    Performed when all have been sent the signal: the window's origin is the instant before it. The
    processes end in their own time; verification waits for them (RabbitMQ: within 6 s, and it
    serves no client after the first tenth of a second).
    """

    host: str


@dataclass(frozen=True, slots=True)
class Start(Action):
    """Starts the broker processes of a host again; one that runs is left alone.

    The undo of a stop waits at most `ending_s` for a process that may still be ending: one that
    ended later would stay down. `after`: the kind that it undoes, for whom that is not the same.
    """

    host: str
    ending_s: float = 0.0
    after: str = "kill"


@dataclass(frozen=True, slots=True)
class Freeze(Action):
    """Every process of a host that is a broker's stops running; the kernel keeps its TCP alive."""

    host: str


@dataclass(frozen=True, slots=True)
class Thaw(Action):
    """The frozen processes of a host run on."""

    host: str


@dataclass(frozen=True, slots=True)
class AddToxic(Action):
    """A toxic on these streams of these proxies: what Toxiproxy calls `type` and `attributes`."""

    proxies: tuple[str, ...]
    toxic: str  # the name by which `RemoveToxic` finds it
    type: str
    streams: tuple[str, ...]  # of "upstream" (to the broker), "downstream"
    attributes: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class RemoveToxic(Action):
    """Remove a toxic. The bytes that it held flow first, all at once."""

    proxies: tuple[str, ...]
    toxic: str


@dataclass(frozen=True, slots=True)
class Disable(Action):
    """Closes the listeners of these proxies and every link through them; new ones are refused.

    Both ends of a link see a FIN; an end some of whose bytes the proxy had not read yet sees an
    RST, for so the kernel closes a socket with unread bytes (2.12.0: 11 of 20 busy clients).
    """

    proxies: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Enable(Action):
    """These proxies listen again, where they did before; one that listens is left alone."""

    proxies: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RaiseAlarm(Action):
    """The broker of a host runs short of a resource: by its limit, not by what it really has."""

    host: str
    resource: str  # "memory", "disk"
    command: tuple[str, ...]  # the system's, run beside the host's process


@dataclass(frozen=True, slots=True)
class ClearAlarm(Action):
    """The limits that the broker's configuration tells are in force again."""

    host: str
    resource: str
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KillClients(Action):
    """SIGKILL to these clients' processes; the kernel closes what they had open."""

    clients: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReplaceClients(Action):
    """New clients replace these. The run that goes on starts them.

    Executors do nothing: a process that heals has no run to start clients in, and none is needed.
    """

    clients: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FreezeClients(Action):
    """These clients' processes stop running; the kernel keeps their TCP alive."""

    clients: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ThawClients(Action):
    """These clients' processes run on; one that has ended meanwhile is no error."""

    clients: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cut(Action):
    """Drops every packet on these ways, by a chain of our own in each host that one leads to."""

    ways: tuple[tuple[str, str], ...]  # (from, to): host names, one direction each
    chain: str


@dataclass(frozen=True, slots=True)
class Join(Action):
    """Removes the chain, and every rule that leads to it, from the hosts that these ways name."""

    ways: tuple[tuple[str, str], ...]
    chain: str


@dataclass(frozen=True, slots=True)
class Isolate(Action):
    """Drops every packet of a host, in and out, by a chain of our own; its loopback stays.

    A proxy stalls every link instead that leads to the host or from it, clients' and peers'.
    """

    host: str
    chain: str


@dataclass(frozen=True, slots=True)
class Rejoin(Action):
    """Ends the isolation by that chain."""

    host: str
    chain: str


@dataclass(frozen=True, slots=True)
class Impair(Action):
    """Loses or delays packets that a host sends, to peers and to clients, by a queueing discipline
    of our own on each of its interfaces; its loopback stays.

    `loss`, `correlation` (of a delay with the one before it): percent.
    """

    host: str
    loss: int = 0
    delay_ms: int = 0
    jitter_ms: int = 0
    correlation: int = 0


@dataclass(frozen=True, slots=True)
class ClearImpairment(Action):
    """Removes our queueing discipline from every interface of a host."""

    host: str


@dataclass(frozen=True, slots=True)
class DoCommand(Action):
    """The owner's command that does a kind of fault to a host that is not ours."""

    host: str
    kind: str


@dataclass(frozen=True, slots=True)
class UndoCommand(Action):
    """His command that undoes it."""

    host: str
    kind: str


@dataclass(frozen=True, slots=True)
class Say(Action):
    """Words to the broker of a host, on a connection of their own, past every proxy.

    `done`: the beginning of its answer if it did what was requested. Words that undo are not
    `needed` by a broker that accepts no connection: its process lost the effect when it ended.
    """

    host: str
    words: str
    done: str
    needed: bool = True


ENDING = (Kill, Stop)  # what ends a broker's process


def both_ways(host: str, peers: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Every way between a host and its peers, in both directions."""
    return tuple(way for peer in peers for way in ((host, peer), (peer, host)))
