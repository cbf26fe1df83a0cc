"""Requests of an agent to brokers, for a witness: canaries on links, and whether a host serves.

1. A canary requests what its node answers alone; it is silent until then. If a proof needs
   directions, sizes or times, canaries speak: they send words to each other's queues.
2. Every request waits a little longer than the silence that the rules require; large words, or
   words on slow links, wait as much longer as they may take. If other active faults make the links
   slow or narrow, every limit is longer by what they add: otherwise slowness would pass for
   silence.
3. The caller passes in what listing a broker means.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from faults.core.model import DOWN, ROUND, UP, Armed, FaultError, Replies, Reply, Words
from faults.core.places import host_of
from faults.core.replies import DIRECT, SILENCE_S
from faults.executors.ports import Agent, Failures
from faults.executors.service_ports import Greets, ServicePorts, worst
from faults.kinds import KINDS

WAIT_S = SILENCE_S + 0.5
OPEN_LIMIT_S = 5.0
GREET_LIMIT_S = 3.0
OPENING_ROUND_TRIPS = 12  # of a canary that speaks: connection, channel, queue, consumer
SPEAKING_ROUND_TRIPS = 2
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
        limit_s = OPEN_LIMIT_S + _opening_s(armed)
        opened = await asyncio.gather(
            *(
                self._open(_canary(armed, name), *way, speaks, limit_s)
                for name, way in self._ways(armed, direct).items()
            ),
            return_exceptions=True,
        )
        for failure in opened:
            if failure is not None:
                raise failure

    async def ask(self, armed: Armed) -> Replies:
        limit_s = WAIT_S + armed.meanwhile().round_trip_s
        names = self._names(armed)
        return _merge_direct(
            await _each(names, lambda name: self._ask(_canary(armed, name), limit_s))
        )

    async def say(self, armed: Armed, words: Words) -> Replies:
        """A direct one speaks to itself, whichever way the others do."""
        beside = self._direct.get(armed.mark, {})

        async def say(name: str) -> Reply:
            direct = beside.get(name, name)
            ends = {UP: (name, direct), DOWN: (direct, name), ROUND: (name, name)}
            speaker, hearer = ends[words.way]
            said = await self._agent.call(
                "canary_say",
                WAIT_S + words.wait_s + _speaking_s(armed, words),
                canary=_canary(armed, speaker),
                to=_canary(armed, hearer),
                octets=words.octets,
                rounds=words.rounds,
            )
            return reply_of(said)

        return _merge_direct(await _each(self._names(armed), say))

    async def attempts(self, armed: Armed, direct: tuple[str, int]) -> Replies:
        """A new connection on each way."""
        ways = self._ways(armed, direct)
        greeting = self._service_ports.greeting
        limit_s = GREET_LIMIT_S + armed.meanwhile().round_trip_s
        return _merge_direct(
            await _each(ways, lambda name: greets(self._agent, ways[name], greeting, limit_s))
        )

    async def close(self, armed: Armed) -> None:
        for name in self._names(armed):
            await self._agent.call("canary_close", CLOSE_LIMIT_S, canary=_canary(armed, name))

    def _ways(self, armed: Armed, direct: tuple[str, int]) -> dict[str, tuple[str, int]]:
        """Return the address that each is dialled at, and note the names of the direct ones."""
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

    async def _open(self, canary: str, host: str, port: int, speaks: bool, limit_s: float) -> None:
        by = self._service_ports.canaries
        if by is None:
            raise FaultError("no canary speaks these brokers' protocol: its way cannot be seen")
        where = {"canary": canary, "host": host, "port": port, "queue": ""}
        await self._agent.call("canary_open", limit_s, **where, speaks=speaks, by=by)

    async def _ask(self, canary: str, limit_s: float) -> Reply:
        return reply_of(await self._agent.call("canary_ask", limit_s, canary=canary))


async def _each(names: Iterable[str], ask: Callable[[str], Awaitable[Reply]]) -> Replies:
    names = list(names)
    replies = await asyncio.gather(*(ask(name) for name in names))
    return dict(zip(names, replies, strict=True))


def _merge_direct(replies: Replies) -> Replies:
    """Merge all direct ways into one for the judgement: the worst of them."""
    direct = [name for name in replies if name.startswith(DIRECT) and name != DIRECT]
    if not direct:
        return replies
    others = {name: reply for name, reply in replies.items() if name not in direct}
    return {**others, DIRECT: worst(replies[name] for name in direct)}


def _opening_s(armed: Armed) -> float:
    """Return the seconds that other active faults add to the opening of a canary."""
    others = armed.meanwhile()
    return OPENING_ROUND_TRIPS * others.round_trip_s + others.narrow_s + others.agreeing_s


def _speaking_s(armed: Armed, words: Words) -> float:
    """The same for words: each is said, and asked for, once a round."""
    others = armed.meanwhile()
    return SPEAKING_ROUND_TRIPS * words.rounds * (others.round_trip_s + others.narrow_s)


async def greets(
    agent: Agent, way: tuple[str, int], greeting: Greets, limit_s: float = GREET_LIMIT_S
) -> Reply:
    """Return whether the server dialled by `way` answers in its protocol."""
    address, port = way
    own = greeting.arguments
    return reply_of(await agent.call(greeting.call, limit_s, host=address, port=port, **own))


async def said(agent: Agent, way: tuple[str, int], words: str) -> str:
    """The line that answers these words. Raises FaultError where none comes."""
    address, port = way
    reply = await agent.call("words_ask", ASK_LIMIT_S, host=address, port=port, says=words)
    return str(reply["text"])


async def host_greets(agent: Agent, place: str, service_ports: ServicePorts) -> Reply:
    """Return whether all processes of a place answer."""
    ways = [(host_of(place), port) for port in service_ports.of(place)]
    return worst(
        await asyncio.gather(*(greets(agent, way, service_ports.greeting) for way in ways))
    )


async def and_listed(reply: Reply, host: str, listed: Listed, failures: Failures) -> Reply:
    """Return what a host replied, if it is also listed as running."""
    if not reply.answered:
        return reply
    try:
        found = await listed(host)
    except failures as error:
        return Reply(False, reply.seconds, f"it answers, but no host lists it: {error}")
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
