"""What a replica writes to its node's disk: entries from which a queue is restored.

1. Only persistent messages of durable queues are written.
2. Replaying the entries in their order gives the queue: what was put and not removed, by number.
3. Whoever keeps them may leave out pairs of Put and Removed that cancel each other.
"""

from collections.abc import Iterable

import msgspec

from reference_impl.protocol.queues import Message


class Put(msgspec.Struct, frozen=True, array_like=True, tag="p"):
    """A message came in at this place of the queue."""

    number: int
    message: Message


class Removed(msgspec.Struct, frozen=True, array_like=True, tag="r"):
    """Acknowledged, purged, or delivered without acknowledgement."""

    numbers: tuple[int, ...]


Entry = Put | Removed


def replayed(entries: Iterable[Entry]) -> dict[int, Message]:
    """Number -> message, in the order of numbers."""
    held: dict[int, Message] = {}
    for entry in entries:
        match entry:
            case Put(number=number, message=message):
                held[number] = message
            case Removed(numbers=numbers):
                for number in numbers:
                    held.pop(number, None)
    return dict(sorted(held.items()))
