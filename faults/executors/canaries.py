"""What an agent asks of brokers for a witness: canaries on links, and whether a host serves.

1. A canary asks what its node answers alone; it is silent until it is asked. Where a proof needs
   directions, sizes or times, canaries speak: they say words to each other's queues.
2. Every question waits a little longer than the silence that the rules ask for; words of some
   size or on slow links so much longer as they may take.
3. What listing a broker means is passed in.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from faults.executors.ports import Agent, Failures
from faults.executors.service_ports import Greets, ServicePorts, worst
from faults.kinds import KINDS
from faults.model import DOWN, ROUND, UP, Armed, FaultError, Replies, Reply, Words
from faults.places import host_of
from faults.replies import DIRECT, SILENCE_S

WAIT_S = SILENCE_S + 0.5
OPEN_LIMIT_S = 5.0
GREET_LIMIT_S = 3.0
CLOSE_LIMIT_S = 5.0
ASK_LIMIT_S = 3.0

Dial = Callable[[str], tuple[str, int]]  # a proxy's name -> its listener, as the agent dials it
Listed = Callable[[str], Awaitable[bool]]  # whether the cluster lists a host's broker as running
Alarms = Callable[[str], Awaitable[dict[str, dict[str, bool]]]]  # model.Witness.alarms


class Canaries:
    """The canaries of armed link faults."""

    def __init__(self, agent: Agent, dial: Dial, service_ports: ServicePorts) -> None:
        self._agent = agent
        self._dial = dial
        self._service_ports = service_ports
        self._direct: dict[str, dict[str, str]] = {}  # mark -> proxy -> the direct way beside it

    async def open(self, armed: Armed, direct: tuple[str, int]) -> None:
        """One through each proxy of a link fault, and direct ones; nothing for other faults."""
        speaks = KINDS[armed.kind].canaries_speak
        opened = await asyncio.gather(
            *(
                self._open(_canary(armed, name), *way, speaks)
                for name, way in self._ways(armed, direct).items()
            ),
            return_exceptions=True,
        )
        for failure in opened:
            if failure is not None:
                raise failure

    async def ask(self, armed: Armed) -> Replies:
        return _told(await _each(self._names(armed), lambda name: self._ask(_canary(armed, name))))

    async def say(self, armed: Armed, words: Words) -> Replies:
        """A direct one speaks to itself, whichever way the others do."""
        beside = self._direct.get(armed.mark, {})

        async def say(name: str) -> Reply:
            direct = beside.get(name, name)
            ends = {UP: (name, direct), DOWN: (direct, name), ROUND: (name, name)}
            speaker, hearer = ends[words.way]
            said = await self._agent.call(
                "canary_say",
                WAIT_S + words.wait_s,
                canary=_canary(armed, speaker),
                to=_canary(armed, hearer),
                octets=words.octets,
                rounds=words.rounds,
            )
            return reply_of(said)

        return _told(await _each(self._names(armed), say))

    async def attempts(self, armed: Armed, direct: tuple[str, int]) -> Replies:
        """A new connection on each way."""
        ways = self._ways(armed, direct)
        greeting = self._service_ports.greeting
        return _told(await _each(ways, lambda name: greets(self._agent, ways[name], greeting)))

    async def close(self, armed: Armed) -> None:
        for name in self._names(armed):
            await self._agent.call("canary_close", CLOSE_LIMIT_S, canary=_canary(armed, name))

    def _ways(self, armed: Armed, direct: tuple[str, int]) -> dict[str, tuple[str, int]]:
        """Where each is dialled; by its names the direct ones are known from here on."""
        ways = {proxy: self._dial(proxy) for proxy in armed.proxies}
        if not self._service_ports.ports:
            directs = dict.fromkeys(ways, (DIRECT, direct[1]))
        else:
            directs = {
                name: (self._service_ports.direct(port), port) for name, (_, port) in ways.items()
            }
        self._direct[armed.mark] = {proxy: name for proxy, (name, _) in directs.items()}
        return ways | {name: (direct[0], port) for name, port in directs.values()}

    def _names(self, armed: Armed) -> tuple[str, ...]:
        beside = self._direct.get(armed.mark) or dict.fromkeys(armed.proxies, DIRECT)
        return (*armed.proxies, *dict.fromkeys(beside.values()))

    async def _open(self, canary: str, host: str, port: int, speaks: bool) -> None:
        by = self._service_ports.canaries
        if by is None:
            raise FaultError("no canary speaks these brokers' protocol: its way cannot be seen")
        where = {"canary": canary, "host": host, "port": port, "queue": ""}
        await self._agent.call("canary_open", OPEN_LIMIT_S, **where, speaks=speaks, by=by)

    async def _ask(self, canary: str) -> Reply:
        return reply_of(await self._agent.call("canary_ask", WAIT_S, canary=canary))


async def _each(names: Iterable[str], ask: Callable[[str], Awaitable[Reply]]) -> Replies:
    names = list(names)
    replies = await asyncio.gather(*(ask(name) for name in names))
    return dict(zip(names, replies, strict=True))


def _told(replies: Replies) -> Replies:
    """All direct ways are one to whoever judges: the worst of them."""
    direct = [name for name in replies if name.startswith(DIRECT) and name != DIRECT]
    if not direct:
        return replies
    others = {name: reply for name, reply in replies.items() if name not in direct}
    return {**others, DIRECT: worst(replies[name] for name in direct)}


async def greets(agent: Agent, way: tuple[str, int], greeting: Greets) -> Reply:
    """Whether the server to be dialled by `way` answers in its protocol."""
    address, port = way
    own = greeting.arguments
    return reply_of(await agent.call(greeting.call, GREET_LIMIT_S, host=address, port=port, **own))


async def said(agent: Agent, way: tuple[str, int], words: str) -> str:
    """The line that answers these words. Raises FaultError where none comes."""
    address, port = way
    told = await agent.call("words_ask", ASK_LIMIT_S, host=address, port=port, says=words)
    return str(told["text"])


async def host_greets(agent: Agent, place: str, service_ports: ServicePorts) -> Reply:
    """Whether all processes of a place answer."""
    ways = [(host_of(place), port) for port in service_ports.of(place)]
    return worst(
        await asyncio.gather(*(greets(agent, way, service_ports.greeting) for way in ways))
    )


async def and_listed(reply: Reply, host: str, listed: Listed, failures: Failures) -> Reply:
    """What a host replied, if it is listed as running besides."""
    if not reply.answered:
        return reply
    try:
        found = await listed(host)
    except failures as error:
        return Reply(False, reply.seconds, f"it answers, but nobody lists it: {error}")
    if not found:
        return Reply(False, reply.seconds, "it answers, but the cluster does not list it")
    return reply


def reply_of(said: dict[str, Any]) -> Reply:
    return Reply(
        answered=bool(said["answered"]),
        seconds=float(said["seconds"]),
        detail=str(said["detail"]),
        end=str(said.get("end", "")),
        octets=int(said.get("octets", 0)),
    )


def _canary(armed: Armed, name: str) -> str:
    return f"{armed.mark}.{name}"
