"""Canaries by name: connections of our own on clients' links, in whatever protocol.

1. A canary stays silent from its opening until it is asked.
2. A family's own code opens one, and asks or speaks on it: requests name that code.
3. ends.py says what an answer shows, and what the connection's end.
"""

import asyncio
from collections.abc import Awaitable
from typing import Any, NamedTuple, Protocol, TypeVar

from harness.workers.agent_calls.answers import CallError
from harness.workers.agent_calls.ends import NO_ANSWER, reply
from harness.workers.loading import CannotLoad, loaded

T = TypeVar("T")


class AskingCanary(Protocol):
    """A canary that asks what its node answers alone, of that queue if it has a name."""

    @property
    def end(self) -> str:
        """FIN or RST, if the other side has ended the connection."""

    async def passive_declare(self, queue: str) -> None: ...

    def drop(self) -> None:
        """Ends it without a word, in the middle of a question, too."""


class Speaks(Protocol):
    """A canary that says words to another one, or to itself."""

    @property
    def end(self) -> str: ...

    @property
    def octets(self) -> int:
        """How many bytes it was sent since it was opened."""

    async def say(self, hearer: Any, octets: int) -> float:
        """A word of at least so many bytes; returns the seconds until it was heard."""

    def drop(self) -> None: ...


class Opened(NamedTuple):
    """What one canary can: one that was to speak speaks, any other one asks."""

    asks: AskingCanary | None
    speaks: Speaks | None


class Opens(Protocol):
    """Opens a canary, having proved by one request that its way works. Raises what ends.py tells;
    the caller brings the deadline."""

    def __call__(
        self, host: str, port: int, canary: str, queue: str, speaks: bool
    ) -> Awaitable[Opened]: ...


class Canaries:
    """The open canaries of this agent: those that ask, and those that speak."""

    def __init__(self) -> None:
        self._open: dict[str, AskingCanary] = {}
        self._queues: dict[str, str] = {}
        self._speakers: dict[str, Speaks] = {}

    async def open(
        self,
        canary: str,
        host: str,
        port: int,
        queue: str,
        by: str,
        timeout_s: float,
        speaks: bool = False,
    ) -> dict[str, Any]:
        """A canary of that name is replaced. `by`: `module:object`, an Opens."""
        await self.close(canary)
        what = f"canary {canary} to {host}:{port}"
        opens: Opens = imported(by)
        try:
            async with asyncio.timeout(timeout_s):
                found = await opens(host, port, canary, queue, speaks)
        except TimeoutError:
            raise CallError("timeout", f"{what}: no answer in {timeout_s:g} s") from None
        except NO_ANSWER as error:
            raise CallError("refused", f"{what}: {error}") from error
        if found.asks is not None:
            self._open[canary] = found.asks
        if found.speaks is not None:
            self._speakers[canary] = found.speaks
        self._queues[canary] = queue
        return {}

    async def ask(self, canary: str, timeout_s: float) -> dict[str, Any]:
        """One passive declare on it."""
        conversation = _named(self._open, canary)
        answer = await reply(conversation.passive_declare(self._queues[canary]), timeout_s)
        return {**answer, "end": conversation.end or answer["end"]}

    async def say(
        self, canary: str, to: str, octets: int, rounds: int, timeout_s: float
    ) -> dict[str, Any]:
        """Words from one speaking canary to another, or to itself, one after another."""
        speaker, hearer = _named(self._speakers, canary), _named(self._speakers, to)
        quickest: list[float] = []

        async def talk() -> None:
            for _ in range(rounds):
                quickest.append(await speaker.say(hearer, octets))

        answer = await reply(talk(), timeout_s)
        if answer["answered"]:
            answer["seconds"] = min(quickest)
        end = hearer.end or speaker.end or answer["end"]
        return {**answer, "end": end, "octets": hearer.octets}

    async def close(self, canary: str) -> dict[str, Any]:
        """Drops it without a word; one that is not there is no error."""
        for conversation in (self._open.pop(canary, None), self._speakers.pop(canary, None)):
            if conversation is not None:
                conversation.drop()
        return {}


def imported(by: str) -> Any:
    """A family's own code. Raises CallError."""
    try:
        return loaded(by)
    except CannotLoad as error:
        raise CallError("bad", str(error)) from error


def _named(canaries: dict[str, T], canary: str) -> T:
    if canary not in canaries:
        raise CallError("bad", f"no canary {canary}; there are {sorted(canaries)}")
    return canaries[canary]
