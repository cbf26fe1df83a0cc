"""Messages between channels and queues (docs/behaviour/rabbitmq.md 3.2, 3.3, 3.7, items 16
to 23).

1. A publish goes to the master and to every mirror that the channel's tables list, as one Deliver
   each; all else goes to the master alone.
2. A request carries a number of the channel's own; its answer repeats it. Requests to a master
   that is gone are lost: the channel's watch reports that.
3. A delivery's number is the queue's own sequence number; acknowledgements use it, also towards a
   master that took over (item 40).
4. A replica confirms by itself. The channel confirms to its client when all that it sent to have
   confirmed or are gone, and at least one has (3.7).
"""

from typing import Any

import msgspec

from reference_impl.pid import Pid


class Message(msgspec.Struct, frozen=True, array_like=True):
    """A message as published. `header` is the content header's payload from the property flags
    on, relayed unchanged; `identity` is unique in the cluster, for ever; `lives_ms`: so long in a
    queue, -1: for ever; `priority`: in a queue that has priorities."""

    identity: bytes
    exchange: str
    key: str
    header: bytes
    body: bytes
    persistent: bool
    lives_ms: int = -1
    priority: int = 0


class Tagged(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """The base of everything that goes from process to process: told apart by its name."""


# --- channel to queue -------------------------------------------------------------------------


class Deliver(Tagged, frozen=True, array_like=True, tag=True):
    """To the master and each mirror. `sequence` is 0 where the channel wants no confirm."""

    channel: Pid
    sequence: int
    message: Message


class Consume(Tagged, frozen=True, array_like=True, tag=True):
    """`prefetch` 0 is no limit. `shared`: the channel's own limit counts (Want, Grant) instead."""

    channel: Pid
    request: int
    tag: str
    no_ack: bool
    exclusive: bool
    prefetch: int
    shared: bool
    arguments: dict[str, Any]


class Cancel(Tagged, frozen=True, array_like=True, tag=True):
    """Its unacknowledged deliveries stay the channel's."""

    channel: Pid
    request: int
    tag: str


class Get(Tagged, frozen=True, array_like=True, tag=True):
    channel: Pid
    request: int
    no_ack: bool


class Ack(Tagged, frozen=True, array_like=True, tag=True):
    """Numbers that the queue does not have unacknowledged for this channel are ignored."""

    channel: Pid
    numbers: tuple[int, ...]


class Discard(Tagged, frozen=True, array_like=True, tag=True):
    """Rejected without requeue."""

    channel: Pid
    numbers: tuple[int, ...]


class Requeue(Tagged, frozen=True, array_like=True, tag=True):
    """Back to their places, redelivered."""

    channel: Pid
    numbers: tuple[int, ...]


class Purge(Tagged, frozen=True, array_like=True, tag=True):
    channel: Pid
    request: int


class Delete(Tagged, frozen=True, array_like=True, tag=True):
    channel: Pid
    request: int
    if_unused: bool
    if_empty: bool


class Look(Tagged, frozen=True, array_like=True, tag=True):
    channel: Pid
    request: int


class LookHere(Tagged, frozen=True, array_like=True, tag=True):
    """To a mirror: how much of the queue it holds itself; answered Looked."""

    asker: Pid
    request: int


class Grant(Tagged, frozen=True, array_like=True, tag=True):
    """Credit: so many deliveries more may go to the channel's shared consumers."""

    channel: Pid
    deliveries: int


class Sent(Tagged, frozen=True, array_like=True, tag=True):
    """A report: so many deliveries more to the channel's consumers have gone out to its client."""

    channel: Pid
    deliveries: int


# --- queue to channel -------------------------------------------------------------------------


class Confirm(Tagged, frozen=True, array_like=True, tag=True):
    queue: str
    replica: Pid
    sequences: tuple[int, ...]


class Credit(Tagged, frozen=True, array_like=True, tag=True):
    """Credit: so many more of the channel's Delivers were carried out."""

    replica: Pid
    deliveries: int


class Reject(Tagged, frozen=True, array_like=True, tag=True):
    """The queue did not take these (a mirrored queue without a master that may take over)."""

    queue: str
    replica: Pid
    sequences: tuple[int, ...]


class QueueDelivery(Tagged, frozen=True, array_like=True, tag="Delivery"):
    queue: str
    master: Pid
    tag: str
    number: int
    redelivered: bool
    message: Message


class Want(Tagged, frozen=True, array_like=True, tag=True):
    """There is something for a shared consumer of the channel, and no Grant is left."""

    queue: str
    master: Pid


class Got(Tagged, frozen=True, array_like=True, tag=True):
    """The answer to Get. `message` None: the queue was empty. `ready`: the messages after it."""

    request: int
    queue: str
    master: Pid
    number: int
    redelivered: bool
    message: Message | None
    ready: int


class Done(Tagged, frozen=True, array_like=True, tag=True):
    """Consume, Cancel, Purge, Delete were carried out; `count`: messages purged or deleted."""

    request: int
    count: int


class Looked(Tagged, frozen=True, array_like=True, tag=True):
    """`syncing`: messages that have gone to mirrors, while it synchronises them. `lengths`: of the
    lines that its ready messages stand in, by name; `target`: so many messages are to be in memory
    at most."""

    request: int
    ready: int
    unacknowledged: int
    consumers: int
    syncing: int | None = None
    lengths: dict[str, int] = {}
    target: int | None = None


class Refused(Tagged, frozen=True, array_like=True, tag=True):
    """A request that cannot be: the AMQP code of the channel or connection error, and its text."""

    request: int
    code: int
    text: str


class DeadLetter(Tagged, frozen=True, array_like=True, tag=True):
    """To the queue's own node: a message that it has no use for any more. `key` None: its own."""

    queue: str
    exchange: str
    key: str | None
    reason: str
    message: Message


# --- the supervisor's ---------------------------------------------------------------------------


class StartQueue(Tagged, frozen=True, array_like=True, tag=True):
    """To the supervisor of the channel's own node: declares a queue that is not there.

    It chooses the master's node (argument `x-queue-master-locator`, policy, else this node),
    starts it, writes the record, and answers Started when the mirrors that the policy asks for are
    listed, or Refused. An equal name that came first answers Started as well.
    """

    channel: Pid
    request: int
    name: str
    durable: bool
    auto_delete: bool
    owner: Pid | None
    arguments: dict[str, Any]


class Started(Tagged, frozen=True, array_like=True, tag=True):
    request: int


class DeleteRecord(Tagged, frozen=True, array_like=True, tag=True):
    """To the supervisor: forgets a queue whose master is down (force, item 43); answered Done."""

    channel: Pid
    request: int
    name: str


class Synchronise(Tagged, frozen=True, array_like=True, tag=True):
    """To a master, from an operator: synchronise the mirrors that are not."""


class CancelSync(Tagged, frozen=True, array_like=True, tag=True):
    """To a master, from an operator."""
