"""Messages between copies of a queue, and supervisors of nodes (docs/behaviour/rabbitmq.md
3.1, 3.2).

1. A master's broadcast to its mirrors goes round the ring as a body (Body); it names messages by
   their identities, never by a place in a queue.
2. Everything else is a message from process to process.
3. Consumers, prefetch and unacknowledged deliveries are the master's alone: never broadcast.
"""

import msgspec

from reference_impl.pid import Pid
from reference_impl.protocol.queues import Message, StartQueue, Tagged


class BroadcastBody(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """The base of all bodies: distinguished by their names."""


class Published(BroadcastBody, frozen=True, array_like=True, tag=True):
    """`taken`: handed to a consumer at once, and to be acknowledged."""

    channel: Pid
    message: Message
    taken: bool


class Discarded(BroadcastBody, frozen=True, array_like=True, tag=True):
    """A message handed to a consumer at once, without acknowledgement: no copy has to keep it."""

    channel: Pid
    identity: bytes


class Dropped(BroadcastBody, frozen=True, array_like=True, tag=True):
    """So many messages left the head (fetched, got, purged), and so many were ready afterwards;
    `taken`: they wait for an acknowledgement."""

    left: int
    dropped: int
    taken: bool


class Acked(BroadcastBody, frozen=True, array_like=True, tag=True):
    """Also what was rejected for good."""

    identities: tuple[bytes, ...]


class Requeued(BroadcastBody, frozen=True, array_like=True, tag=True):
    identities: tuple[bytes, ...]


class Depth(BroadcastBody, frozen=True, array_like=True, tag=True):
    """Ready and unacknowledged messages of the master."""

    depth: int


class Promoted(BroadcastBody, frozen=True, array_like=True, tag=True):
    """The sender is the master now; whatever was unacknowledged is ready again."""

    depth: int


class SyncStart(BroadcastBody, frozen=True, array_like=True, tag=True):
    reference: int
    mirrors: tuple[Pid, ...]


class SenderDeath(BroadcastBody, frozen=True, array_like=True, tag=True):
    """Nothing of this channel's will be published any more."""

    channel: Pid


class RequestDepth(BroadcastBody, frozen=True, array_like=True, tag=True):
    """By a mirror that has just been listed."""


class EnsureMonitoring(BroadcastBody, frozen=True, array_like=True, tag=True):
    """By a mirror: these channels are down here; the master is to see to their SenderDeath."""

    channels: tuple[Pid, ...]


Body = (
    Published
    | Discarded
    | Dropped
    | Acked
    | Requeued
    | Depth
    | Promoted
    | SyncStart
    | SenderDeath
    | RequestDepth
    | EnsureMonitoring
)
Pub = tuple[int, Body]  # its number among the sender's


# --- the ring -----------------------------------------------------------------------------------


class SenderState(msgspec.Struct, frozen=True, array_like=True):
    """Of one sender: what it broadcast, and which of it has been all the way round."""

    sender: Pid
    pubs: tuple[Pub, ...]
    acks: tuple[int, ...]


class StreamState(msgspec.Struct, frozen=True, array_like=True):
    """One member's state of one sender."""

    sender: Pid
    pending: tuple[Pub, ...]
    last_pub: int
    last_ack: int


class Activity(Tagged, frozen=True, array_like=True, tag=True):
    """To the right. `version`: of the sender's view."""

    version: int
    left: Pid
    entries: tuple[SenderState, ...]


class Catchup(Tagged, frozen=True, array_like=True, tag=True):
    """To the right: all that the sender holds. A link between neighbours begins with it."""

    version: int
    left: Pid
    states: tuple[StreamState, ...]


class AskState(Tagged, frozen=True, array_like=True, tag=True):
    """To the left: a Catchup is wanted. `blanks`: members that have no state either."""

    version: int
    right: Pid
    blanks: tuple[Pid, ...]


# --- explicit synchronisation (3.5) -------------------------------------------------------------


class SyncReady(Tagged, frozen=True, array_like=True, tag=True):
    """To the master; `willing` False: this mirror is synchronised already."""

    reference: int
    mirror: Pid
    willing: bool


class SyncBatch(Tagged, frozen=True, array_like=True, tag=True):
    """Messages in the queue's order; True: unacknowledged."""

    reference: int
    messages: tuple[tuple[Message, bool], ...]


class SyncTaken(Tagged, frozen=True, array_like=True, tag=True):
    """To the master: the next batch may come."""

    reference: int
    mirror: Pid


class SyncDone(Tagged, frozen=True, array_like=True, tag=True):
    """`whole` False: given up; what came of it is to be thrown away."""

    reference: int
    whole: bool


# --- supervisors and their replicas -------------------------------------------------------------


class Regroup(Tagged, frozen=True, array_like=True, tag=True):
    """To a replica of this node: the records of its queue or of its group have changed. A mirror's
    first one makes it join."""


class Retire(Tagged, frozen=True, array_like=True, tag=True):
    """To a replica: it is not wanted. `wipe`: neither is what the disk holds."""

    wipe: bool


class ShutDown(Tagged, frozen=True, array_like=True, tag=True):
    """To a replica of this node: the node stops gracefully."""


class StartMaster(Tagged, frozen=True, array_like=True, tag=True):
    """To the supervisor of the node that was chosen."""

    asker: Pid
    request: int
    queue: StartQueue


class MasterStarted(Tagged, frozen=True, array_like=True, tag=True):
    """Its mirrors are listed as well, or an equal name came first."""

    request: int


class StartMirror(Tagged, frozen=True, array_like=True, tag=True):
    """From the supervisor of the master's node."""

    asker: Pid
    queue: str
    durable: bool


class NotStarted(Tagged, frozen=True, array_like=True, tag=True):
    """The mirror ended before it was listed."""

    node: str
    queue: str
