"""The two ways of a publish to a mirror: from the channel, and round the ring
(docs/behaviour/rabbitmq.md 3.3).

1. A message is enqueued when it comes round the ring. A mirror confirms it only after it has seen
   both copies, and, where the disk keeps it, when it is on disk.
2. A channel is forgotten when both its Down and its SenderDeath have come.

event                            found                      then
copy from the channel            nothing of it              it waits in the channel's line
                                 came round, disk keeps it  confirmed when it is on disk
                                 came round (else), on
                                 disk, or discarded         confirmed now
copy round the ring              head of the line is it     off the line; confirmed as above
                                 the line is empty          remembered until the channel's comes
                                 another is the head        older than this mirror's listing: the
                                                            channel sends it none, waits for none
on disk                          both came                  confirmed
                                 came round only            remembered as on disk
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from reference_impl.mirrored.confirms import Confirms
from reference_impl.pid import Pid
from reference_impl.protocol.queues import Message


class Status(Enum):
    """Of a message that came round the ring, and not yet from its channel."""

    PUBLISHED = "published"
    ON_DISK = "on disk"
    DISCARDED = "discarded"


@dataclass(frozen=True, slots=True)
class AwaitingDisk:
    """Both copies came; the confirm waits for the disk."""

    channel: Pid
    sequence: int


class Life(Enum):
    RUNNING = "running"
    DOWN = "down"  # its Down came
    DEAD = "dead"  # its SenderDeath came


@dataclass(slots=True)
class Sender:
    """A channel. `line`: copies that have not come round; `early`: the other way about."""

    line: deque[tuple[int, Message]] = field(default_factory=deque)
    early: dict[bytes, None] = field(default_factory=dict)
    life: Life = Life.RUNNING


class Senders:
    def __init__(self, confirms: Confirms) -> None:
        self._confirms = confirms
        self._senders: dict[Pid, Sender] = {}
        self._status: dict[bytes, Status | AwaitingDisk] = {}

    def __contains__(self, channel: Pid) -> bool:
        return channel in self._senders

    def meet(self, channel: Pid) -> None:
        self._senders[channel] = Sender()

    def copied(self, channel: Pid, sequence: int, message: Message, kept: bool) -> None:
        """A copy from the channel; `kept`: the disk keeps it."""
        identity, sender = message.identity, self._senders[channel]
        status = self._status.pop(identity, None)
        assert not isinstance(status, AwaitingDisk), "a channel sends a message once"
        if status is None:
            sender.line.append((sequence, message))
            return
        sender.early.pop(identity, None)
        self._await_disk(channel, sequence, identity, status, kept)

    def came_round(self, channel: Pid, identity: bytes, status: Status, kept: bool) -> None:
        sender = self._senders[channel]
        if not sender.line:
            self._status[identity] = status
            sender.early[identity] = None
        elif sender.line[0][1].identity == identity:
            sequence, _ = sender.line.popleft()
            self._await_disk(channel, sequence, identity, status, kept)

    def on_disk(self, identity: bytes) -> None:
        """Or it left the queue before it was."""
        match self._status.get(identity):
            case Status.PUBLISHED:
                self._status[identity] = Status.ON_DISK
            case AwaitingDisk(channel=channel, sequence=sequence):
                del self._status[identity]
                self._confirms.add(channel, sequence)

    def ends(self, channel: Pid, life: Life) -> None:
        """Its Down or its SenderDeath came; the second of the two makes it forgotten."""
        sender = self._senders.get(channel)
        if sender is None:
            return
        if sender.life in (Life.RUNNING, life):
            sender.life = life
            return
        del self._senders[channel]
        for identity in sender.early:
            self._status.pop(identity, None)

    def awaiting_death(self) -> tuple[Pid, ...]:
        """Channels that are down here, and whose death the master has not told."""
        return tuple(it for it, sender in self._senders.items() if sender.life is Life.DOWN)

    # --- for promotion

    def __iter__(self) -> Iterator[Pid]:
        return iter(self._senders)

    def lines(self) -> Iterator[tuple[Pid, int, Message]]:
        """Copies that never came round, in the order of each channel."""
        for channel, sender in self._senders.items():
            for sequence, message in sender.line:
                yield channel, sequence, message

    def early(self) -> Iterator[tuple[Pid, bytes, Status]]:
        """Yield what came round and is still to come from its channel."""
        for channel, sender in self._senders.items():
            for identity in sender.early:
                status = self._status[identity]
                assert isinstance(status, Status), status
                yield channel, identity, status

    def awaiting_disk(self, identity: bytes) -> AwaitingDisk | None:
        status = self._status.get(identity)
        return status if isinstance(status, AwaitingDisk) else None

    def _await_disk(
        self, channel: Pid, sequence: int, identity: bytes, status: Status, kept: bool
    ) -> None:
        if not sequence:
            return
        if status is Status.PUBLISHED and kept:
            self._status[identity] = AwaitingDisk(channel, sequence)
        else:
            self._confirms.add(channel, sequence)
