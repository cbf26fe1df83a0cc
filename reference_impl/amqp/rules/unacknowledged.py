"""Deliveries of a channel that its client has not acknowledged yet (docs/behaviour/rabbitmq.md
2.3, item 40).

1. Delivery tags count from 1, over all consumers and gets of the channel.
2. A tag stands for a queue and the queue's own number, also after another master took over.
3. A tag that is not there is the client's error, with `multiple` too.
"""

from collections.abc import Iterable
from typing import NamedTuple

from reference_impl.amqp.rules.errors import PRECONDITION_FAILED, AmqpError


class Held(NamedTuple):
    """One delivery. `sweep`: how many sweeps there had been when it went out."""

    tag: int
    queue: str
    number: int
    shared: bool  # it counts against the channel's shared limit
    sweep: int


class Unacknowledged:
    def __init__(self) -> None:
        self._held: dict[int, Held] = {}  # in the order of tags
        self._tag = 0
        self._sweep = 0

    def __len__(self) -> int:
        return len(self._held)

    def next_tag(self) -> int:
        """For a delivery that needs no acknowledgement."""
        self._tag += 1
        return self._tag

    def add(self, queue: str, number: int, shared: bool = False) -> int:
        self._tag = tag = self._tag + 1
        self._held[tag] = Held(tag, queue, number, shared, self._sweep)
        return tag

    def take(self, tag: int, multiple: bool) -> list[Held]:
        """Raises AmqpError."""
        if not multiple:
            held = self._held.pop(tag, None)
            if held is None:
                raise _unknown(tag)
            return [held]
        if tag == 0:
            return self.take_all()
        if tag not in self._held:
            raise _unknown(tag)
        taken = []
        for each in self._held:
            if each > tag:
                break
            taken.append(each)
        return [self._held.pop(each) for each in taken]

    def take_all(self) -> list[Held]:
        held, self._held = list(self._held.values()), {}
        return held

    def put_back(self, taken: Iterable[Held]) -> None:
        """As if they had not been taken."""
        every = {**self._held, **{each.tag: each for each in taken}}
        self._held = dict(sorted(every.items()))

    def sweep(self, sweeps_max: int) -> bool:
        """Time goes on; whether a delivery has been out for more sweeps than that."""
        self._sweep += 1
        oldest = next(iter(self._held.values()), None)
        return oldest is not None and self._sweep - oldest.sweep > sweeps_max


def by_queue(held: Iterable[Held]) -> dict[str, list[int]]:
    """Numbers in their order, queue by queue."""
    numbers: dict[str, list[int]] = {}
    for each in held:
        numbers.setdefault(each.queue, []).append(each.number)
    return numbers


def _unknown(tag: int) -> AmqpError:
    return AmqpError(PRECONDITION_FAILED, f"unknown delivery tag {tag}")
