"""The disk format of a queue's copy: entries, in segments.

1. A message's number says in which segment it is kept: so many numbers to each, whether they are
   in use or not. A segment is read alone, and goes as a whole when nothing in it is held any more.
2. Replaying the entries of a segment in their order gives what it holds.
3. Persistent messages of durable queues are kept from when they come. Others come when the queue
   is too long for its node's memory (backing.py), and mean nothing after the node's next boot.
"""

from collections.abc import Mapping
from typing import Protocol

import msgspec

from reference_impl.protocol.queues import Message

SEGMENT = 2_048  # numbers: as RabbitMQ's index of a queue (docs/behaviour/rabbitmq.md, item 62)


class Put(msgspec.Struct, frozen=True, array_like=True, tag="p"):
    """A message has this place of the queue. `over_ms`: until when it lives, by the clock of the
    boot that wrote it; -1: for ever."""

    number: int
    message: Message
    over_ms: int = -1


class Removed(msgspec.Struct, frozen=True, array_like=True, tag="r"):
    """Acknowledged, purged, or delivered without acknowledgement."""

    numbers: tuple[int, ...]


class Emptied(msgspec.Struct, frozen=True, array_like=True, tag="e"):
    """Everything is gone but these."""

    kept: tuple[int, ...]


Entry = Put | Removed | Emptied
Segment = Mapping[int, Put]  # what it holds, by number, in their order


class Shelf(Protocol):
    """A queue's part of a node's disk, as a process of the node reads it: all that was written
    before the event at hand is there."""

    def stored(self, queue: str) -> tuple[int, ...]:
        """The segments that there are, in their order."""

    def segment(self, queue: str, number: int) -> Segment:
        """A message is read when it is asked for."""
