"""Calls in RocketMQ's protocol: one question, a greeting, and connections that canaries have.

1. Whatever a server answers is an answer, a refusal, too: who asked reads the code.
2. A canary is silent until it is asked, and then asks what every server answers alone.
3. A word between canaries is a value that one puts and the other one gets: with a name server a
   key of its configuration, with a broker an offset that a group of every broker's commits for a
   topic of every broker's. Each word that is on its way has a key, or a queue, of its own: several
   speak at once, one to several, and one to itself more than once. The one that puts awaits no
   answer, so that only its way to the server counts; the one that gets needs both its ways.
4. What makes a word long comes down first, all at once, and is asked for in as few octets as
   there are: where little passes either way of a connection, the answer has to be cut before the
   question. How long one answer is was seen when the canary was opened.
5. A canary times the link, not its own requests: a name server whose configuration is short keeps
   a long value for all canaries. Else 250 kB were 5,556 requests, which took 0.3 s on a free link.
"""

import asyncio
import itertools
import math
import time
from typing import Any

from harness.workers.agent_calls.answers import CallError
from harness.workers.agent_calls.canaries import Opened
from harness.workers.agent_calls.network import seconds_since
from harness.workers.protocol import Endpoint
from harness.workers.remoting.commands import Command
from harness.workers.remoting.headers import Serialisation
from harness.workers.remoting.requests import Code, RemotingAnswer, Request
from harness.workers.rocketmq.connection import Connection, Unanswered

AGAIN_S = 0.005  # between looks whether a word has come
_words = itertools.count(time.time_ns())  # greater than any that an earlier agent said
_numbers = itertools.count()  # of places for words
_free: list[int] = []  # those whose word was heard; one that was not may still come
_LONG = 4_000  # octets of an answer, at least, so that few requests make a word long
_LONG_VALUE = {"namespace": "mqproof", "key": "canary-long"}
_QUEUE = {"consumerGroup": "TOOLS_CONSUMER", "topic": "SELF_TEST_TOPIC"}


async def ask(
    host: str, port: int, code: int, fields: dict[str, str], body: str, timeout_s: float
) -> dict[str, Any]:
    """One question on a connection of its own."""
    request = Request(Code(code), f"code {code}", fields, body.encode())
    try:
        answer = await _ask_once(host, port, request, timeout_s)
    except Unanswered as error:
        kind = "refused" if error.ended else "timeout"
        raise CallError(kind, f"{request.words} at {host}:{port}: {error}") from error
    header = answer.header
    return {
        "code": header.code,
        "remark": header.remark,
        "fields": dict(header.fields),
        "body": answer.body.decode(errors="replace"),
    }


async def greeted(host: str, port: int) -> None:
    """Whether a server answers a command at all. Raises Unanswered; the caller brings the
    deadline."""
    await _ask_once(host, port, _anything(), math.inf)


async def opened(host: str, port: int, _canary: str, _queue: str, _speaks: bool) -> Opened:
    """canaries.Opens: every one asks, and speaks, too."""
    conversation = await Conversation.open(host, port)
    return Opened(asks=conversation, speaks=conversation)


class Conversation:
    """A canary's connection. Made by `open`. Raises Unanswered, as all that it does."""

    def __init__(self, connection: Connection, name_server: bool) -> None:
        self._connection = connection
        self._name_server = name_server
        code = Code.GET_NAMESRV_CONFIG if name_server else Code.GET_BROKER_CONFIG
        self._longest = Request(code, "its configuration")  # what is answered at greatest length
        self._each = 0  # octets of that answer
        self._before = connection.octets

    @classmethod
    async def open(cls, host: str, port: int) -> "Conversation":
        """The caller brings the deadline."""
        connection = await Connection.connect(Endpoint("", host, port), math.inf)
        try:
            answer = await connection.ask(_anything(), math.inf)
            made = cls(connection, answer.header.code == RemotingAnswer.SUCCESS)
            await made._learn()
        except BaseException:
            connection.close()
            raise
        return made

    @property
    def end(self) -> str:
        return self._connection.ended

    @property
    def octets(self) -> int:
        """How many bytes it was sent since it was opened."""
        return self._connection.octets - self._before

    async def passive_declare(self, _queue: str) -> None:
        """Asks what the server answers alone."""
        await self._connection.ask(_anything(), math.inf)

    async def say(self, hearer: "Conversation", octets: int) -> float:
        """Says a word of at least so many bytes, and returns the seconds until it was heard."""
        word = next(_words)
        began_ns = time.monotonic_ns()
        if hearer._connection.lost:
            raise Unanswered(hearer._connection.lost, hearer.end)
        number = _free.pop() if _free else next(_numbers)
        where = self._where(number)
        self._put(word, where, octets)
        await hearer._fill(octets)
        while await hearer._got(where) != word:
            await asyncio.sleep(AGAIN_S)
        took_s = seconds_since(began_ns)
        _free.append(number)
        return took_s

    def drop(self) -> None:
        self._connection.close()

    def _where(self, number: int) -> dict[str, str]:
        """Where the server keeps the words of this place."""
        if self._name_server:
            return {"namespace": "mqproof", "key": f"canary-{number}"}
        return {**_QUEUE, "queueId": str(number)}

    def _put(self, word: int, where: dict[str, str], octets: int) -> None:
        code, key = (
            (Code.PUT_KV_CONFIG, "value")
            if self._name_server
            else (Code.UPDATE_CONSUMER_OFFSET, "commitOffset")
        )
        fields = {**where, key: str(word)}
        self._connection.send_oneway(Request(code, "a word", fields, b" " * octets))

    async def _got(self, where: dict[str, str]) -> int:
        """The last word that the server has there; 0: none."""
        code = Code.GET_KV_CONFIG if self._name_server else Code.QUERY_CONSUMER_OFFSET
        request = Request(code, "the word", where)
        answer = await self._connection.ask(request, math.inf)
        fields = answer.header.fields
        if answer.header.code in (RemotingAnswer.QUERY_NOT_FOUND, RemotingAnswer.SYSTEM_ERROR):
            return 0
        return int(fields.get("value") or fields.get("offset") or 0)

    async def _learn(self) -> None:
        self._each = await self._measured()
        if self._name_server and self._each < _LONG:
            self._longest = Request(Code.GET_KV_CONFIG, "a long value", _LONG_VALUE)
            self._each = await self._measured()
            if self._each < _LONG:
                await self._make_long()
        self._before = self._connection.octets

    async def _make_long(self) -> None:
        """Puts the long value, and waits until the name server has it."""
        fields = {**_LONG_VALUE, "value": "1" * _LONG}
        self._connection.send_oneway(Request(Code.PUT_KV_CONFIG, "a long value", fields))
        while (each := await self._measured()) < _LONG:
            await asyncio.sleep(AGAIN_S)
        self._each = each

    async def _measured(self) -> int:
        """Return the octets of one long answer."""
        before = self._connection.octets
        await self._ask_longest()
        return self._connection.octets - before

    async def _fill(self, octets: int) -> None:
        """Lets so many bytes come down: as many of the longest answers as it takes, side by side;
        one after another they would take as long as a slow link."""
        times = math.ceil(octets / self._each)
        await asyncio.gather(*(self._ask_longest() for _ in range(times)))

    async def _ask_longest(self) -> None:
        await self._connection.ask(self._longest, math.inf, Serialisation.ROCKETMQ)


async def _ask_once(host: str, port: int, request: Request, limit_s: float) -> Command:
    began_s = time.monotonic()
    connection = await Connection.connect(Endpoint("", host, port), limit_s)
    try:
        return await connection.ask(request, began_s + limit_s - time.monotonic())
    finally:
        connection.close()


def _anything() -> Request:
    """Known to name servers, who say nothing to what they do not know (4.9.7); brokers answer that
    they do not know it."""
    return Request(Code.GET_BROKER_CLUSTER_INFO, "a greeting")
