"""A queue: what it holds, and to whom it is given.

1. A message is stored before it is confirmed, and before it is given to anybody. A node that is
   told to be `hasty` confirms first and stores later: that is what its users must not do.
2. What was given and is not done with when its consumer is gone is given again, in its old place
   and marked; so is all that a node finds on its disk.
3. While its disk is stalled nothing is stored: what comes in waits.
"""

import asyncio
import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from pigeonhole.journal import Journal, Message

HASTE_S = 1.0  # so much later a hasty node stores a message


class Peer(Protocol):
    """A client's connection."""

    def send(self, message: dict[str, Any]) -> None: ...


@dataclass(eq=False)
class Subscription:
    peer: Peer
    window: int
    tag: int = 0
    out: dict[int, Message] = field(default_factory=dict)  # by tag, in their order


class Hole:
    """One queue. `writing` must run for as long as it lives."""

    def __init__(self, path: Path, hasty: bool) -> None:
        self._journal = Journal(path)
        self._hasty = hasty
        self._ready = list(self._journal.left)  # a heap: what came first goes first
        self._again = {message.number for message in self._ready}
        self._number = max(self._again, default=0)
        self._waiting: list[tuple[Message, Callable[[], None]]] = []
        self._late = 0  # of a hasty node: confirmed, and not even waiting to be stored
        self._done: list[int] = []
        self._stirred = asyncio.Event()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._subscriptions: list[Subscription] = []
        self._storing = asyncio.Lock()
        self._removed = False

    def put(self, body: str, stored: Callable[[], None]) -> None:
        self._number += 1
        message = Message(self._number, body)
        if not self._hasty:
            self._wait(message, stored)
            return
        stored()
        self._late += 1
        asyncio.get_running_loop().call_later(HASTE_S, self._at_last, message)

    def _at_last(self, message: Message) -> None:
        self._late -= 1
        self._wait(message, _nothing)

    def _wait(self, message: Message, stored: Callable[[], None]) -> None:
        self._waiting.append((message, stored))
        self._stirred.set()

    @property
    def windows(self) -> list[int]:
        """Of those that it is given to."""
        return [one.window for one in self._subscriptions]

    def subscribe(self, peer: Peer, window: int) -> None:
        self._subscriptions.append(Subscription(peer, window))
        self._give()

    def done(self, peer: Peer, upto: int) -> None:
        for one in (one for one in self._subscriptions if one.peer is peer):
            for tag in [tag for tag in one.out if tag <= upto]:
                self._done.append(one.out.pop(tag).number)
        self._stirred.set()
        self._give()

    def leave(self, peer: Peer) -> None:
        for one in [one for one in self._subscriptions if one.peer is peer]:
            self._subscriptions.remove(one)
            for message in one.out.values():
                self._again.add(message.number)
                heapq.heappush(self._ready, message)
        self._give()

    def stall(self, on: bool) -> None:
        if on:
            self._flowing.clear()
        else:
            self._flowing.set()

    @property
    def stalled(self) -> bool:
        return not self._flowing.is_set()

    @property
    def unstored(self) -> int:
        return len(self._waiting) + self._late

    @property
    def ready(self) -> int:
        return len(self._ready) + self.unstored

    async def writing(self) -> None:
        while not self._removed:
            await self._stirred.wait()
            await self._flowing.wait()
            self._stirred.clear()
            await self.store()
        self._journal.remove()

    async def store(self) -> None:
        """All that has come by now."""
        async with self._storing:
            batch, self._waiting = self._waiting, []
            done, self._done = self._done, []
            await self._journal.write((message for message, _ in batch), done)
        for message, stored in batch:
            heapq.heappush(self._ready, message)
            stored()
        self._give()

    def remove(self) -> None:
        """Its file goes when what is being stored is."""
        self._removed = True
        self._flowing.set()
        self._stirred.set()

    def _give(self) -> None:
        while self._ready:
            free = [one for one in self._subscriptions if len(one.out) < one.window]
            if not free:
                return
            one, message = free[0], heapq.heappop(self._ready)
            one.tag += 1
            one.out[one.tag] = message
            again = message.number in self._again
            given = {"say": "given", "tag": one.tag, "again": again, "body": message.body}
            one.peer.send(given)


def _nothing() -> None:
    """Its confirm has left already."""
