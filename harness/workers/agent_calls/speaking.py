"""Canaries that speak: a connection with a queue of its own, by which each direction is heard.

1. A word is a message of a known size. What one canary says to the queue of another crosses the
   first one's link to the broker and the second one's link from it, and nothing else: of two links
   if one is known to work, that shows which direction of the other works.
2. The queue is exclusive: its node holds it alone, nothing mirrors it, no policy of a layout means
   it, and it goes with its connection.
3. Everything that comes is heard at once, in the background: a word that was held back and comes
   late is ignored.
"""

import asyncio
import itertools
import secrets
import time
from typing import Any

from pika import spec

from harness.workers.agent_calls.amqp import Conversation
from harness.workers.agent_calls.ends import PeerClosed
from harness.workers.agent_calls.network import seconds_since

PREFIX = "mqproof-canary"  # not `mqproof.`, which is what policies of layouts mean
_WORD = b"%016x"
_WORD_OCTETS = 16
_words = itertools.count(1)


class Speaker:
    """One such canary. Made by `open`."""

    def __init__(self, conversation: Conversation, queue: str) -> None:
        self._conversation = conversation
        self._queue = queue
        self._before = 0  # bytes, while it was opened
        self._awaited: dict[bytes, asyncio.Future[None]] = {}
        self._over: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def open(cls, host: str, port: int, name: str) -> "Speaker":
        """One word to itself proves that the way works.

        Raises PeerClosed or OSError; the caller brings the deadline.
        """
        queue = f"{PREFIX}.{name}.{secrets.token_hex(4)}"  # an older one may still be going
        conversation = await Conversation.open(host, port, f"mqproof.canary.{name}")
        try:
            method: Any = spec.Queue.Declare(queue=queue, exclusive=True)
            await conversation.request(method, spec.Queue.DeclareOk)
            method = spec.Basic.Consume(queue=queue, no_ack=True)
            await conversation.request(method, spec.Basic.ConsumeOk)
        except BaseException:
            conversation.drop()
            raise
        speaker = cls(conversation, queue)
        try:
            await speaker.say(speaker, 0)
        except BaseException:
            speaker.drop()
            raise
        speaker._before = conversation.octets
        return speaker

    @property
    def end(self) -> str:
        return self._conversation.end

    @property
    def octets(self) -> int:
        """How many bytes it was sent since it was opened."""
        return self._conversation.octets - self._before

    async def say(self, hearer: "Speaker", octets: int) -> float:
        """Says a word of at least so many bytes, and returns the seconds until it was heard.

        Raises PeerClosed or OSError where one of the two connections has ended.
        """
        word = _WORD % next(_words)
        arrival = asyncio.get_running_loop().create_future()
        hearer._awaited[word] = arrival
        began_ns = time.monotonic_ns()
        try:
            if not self._over.done() and not hearer._over.done():
                self._conversation.publish(hearer._queue, word.ljust(octets))
            over = (hearer._over, self._over)
            await asyncio.wait((arrival, *over), return_when=asyncio.FIRST_COMPLETED)
            if not arrival.done():
                raise next(one.result() for one in over if one.done())
        finally:
            hearer._awaited.pop(word, None)
        return seconds_since(began_ns)

    def drop(self) -> None:
        self._listening.cancel()
        self._conversation.drop()

    async def _listen(self) -> None:
        try:
            while True:
                body = await self._conversation.delivered()
                arrival = self._awaited.get(body[:_WORD_OCTETS])
                if arrival is not None and not arrival.done():
                    arrival.set_result(None)
        except (PeerClosed, OSError) as error:
            self._over.set_result(error)
