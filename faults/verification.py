"""Asks a Witness until the rules of verify.py are satisfied, or a limit has passed.

1. Every question has a deadline; a question that fails is a doubt, never an error of ours.
2. A fault is asked for during at most HELD_LIMIT_S: processes take a moment to be seen dead, and
   one that was told to end takes its own time (STOPPED_LIMIT_S).
3. The last doubt is reported when the limit has passed.
4. Nothing here ends a fault, and nothing here is called by the load.

A run calls, for each window: `witness.prepare` (before the action), `held`, (the undo), `gone`,
`witness.dismiss`.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from tenacity import AsyncRetrying, RetryError, retry_if_result, stop_after_delay, wait_fixed

from faults import verify
from faults.model import (
    PROXY,
    Armed,
    Cut,
    FaultError,
    Freeze,
    Kill,
    Proof,
    Reply,
    Stall,
    Stop,
    Witness,
)

HELD_LIMIT_S = 12.0
STOPPED_LIMIT_S = 30.0
QUESTION_LIMIT_S = 30.0
INTERVAL_S = 0.25

Look = Callable[[], Awaitable[Proof]]
Name = TypeVar("Name")


async def held(armed: Armed, witness: Witness, limit_s: float | None = None) -> Proof:
    """Whether the fault takes effect now. Its canaries were opened by `witness.prepare`."""
    return await _until_proven(
        _Held(armed, witness).look, held_limit_s(armed) if limit_s is None else limit_s
    )


def held_limit_s(armed: Armed) -> float:
    """How long a fault that was armed may take until it is seen to hold."""
    return STOPPED_LIMIT_S if isinstance(armed.action, Stop) else HELD_LIMIT_S


async def gone(armed: Armed, witness: Witness, limit_s: float) -> Proof:
    """Whether the fault has ended, waiting for it at most so long (plus one look)."""
    if armed.undo is None:
        return Proof(ok=True, detail="by the scenario, it never ends")
    return await _until_proven(_Gone(armed, witness).look, limit_s)


@dataclass(slots=True)
class _Held:
    armed: Armed
    witness: Witness

    async def look(self) -> Proof:
        match self.armed.action:
            case Kill(host=host):
                return verify.kill_held(await self.witness.process(host))
            case Stop(host=host):
                return verify.stop_held(await self.witness.process(host))
            case Freeze(host=host):
                state = await self.witness.process(host)
                greets = await self.witness.greets(host) if state.frozen else None
                return verify.freeze_held(state, greets)
            case Stall(proxies=proxies):
                return verify.hang_held(await self.witness.canaries(self.armed), proxies)
            case Cut(host=host, peers=peers) if self.armed.mechanism == PROXY:
                return verify.partition_held(await self._link_evidence(host, peers))
            case Cut(host=host, peers=peers, chain=chain):
                return verify.partition_held(await self._cut_evidence(host, peers, chain))
        raise AssertionError(f"{self.armed.action} is no fault")

    async def _link_evidence(self, host: str, peers: tuple[str, ...]) -> verify.LinkEvidence:
        ways = _ways(host, peers)
        links, direct = await asyncio.gather(
            _reaches(self.witness, {way: way for way in ways}),
            _reaches(self.witness, {each: (each, each) for each in (host, *peers)}),
        )
        return verify.LinkEvidence(links, direct)

    async def _cut_evidence(
        self, host: str, peers: tuple[str, ...], chain: str
    ) -> verify.CutEvidence:
        before = await self.witness.packets(host, chain)
        if before is None:
            return verify.CutEvidence(None, None, dict.fromkeys(peers, _NOT_ASKED), {})
        attempts, alive = await asyncio.gather(
            _reaches(self.witness, {peer: (host, peer) for peer in peers}),
            _reaches(self.witness, {peer: (_other(peer, peers), peer) for peer in peers}),
        )
        after = await self.witness.packets(host, chain)
        return verify.CutEvidence(before, after, attempts, alive)


@dataclass(slots=True)
class _Gone:
    """Fresh canaries replace held ones at the first look, so those are asked once, before."""

    armed: Armed
    witness: Witness
    held: dict[str, Reply] = field(default_factory=dict)
    asked: bool = False

    async def look(self) -> Proof:
        match self.armed.action:
            case Kill(host=host) | Stop(host=host):
                return await self._kill_gone(host)
            case Freeze(host=host):
                state = await self.witness.process(host)
                runs_on = state.running and not state.frozen
                greets = await self.witness.greets(host) if runs_on else None
                return verify.freeze_gone(state, greets)
            case Stall(proxies=proxies):
                return await self._hang_gone(proxies)
            case Cut(host=host, peers=peers) if self.armed.mechanism == PROXY:
                links = {f"{a} -> {b}": (a, b) for a, b in _ways(host, peers)}
                return verify.partition_gone(None, await _reaches(self.witness, links))
            case Cut(host=host, peers=peers, chain=chain):
                packets = await self.witness.packets(host, chain)
                pairs = {peer: (host, peer) for peer in peers}
                attempts = {} if packets is not None else await _reaches(self.witness, pairs)
                return verify.partition_gone(packets, attempts)
        raise AssertionError(f"{self.armed.action} is no fault")

    async def _kill_gone(self, host: str) -> Proof:
        state = await self.witness.process(host)
        serves = await self.witness.serves(host) if state.running else None
        return verify.kill_gone(state, serves)

    async def _hang_gone(self, proxies: tuple[str, ...]) -> Proof:
        if not self.asked:
            replies = await self.witness.canaries(self.armed)
            stuck = [name for name in proxies if name in replies and verify.silent(replies[name])]
            if stuck:
                return Proof(ok=False, detail="", doubt=f"still silent: {', '.join(stuck)}")
            self.held, self.asked = replies, True
        await self.witness.dismiss(self.armed)
        await self.witness.prepare(self.armed)
        fresh = await self.witness.canaries(self.armed)
        return verify.hang_gone(fresh, self.held, proxies)


_NOT_ASKED = Reply(answered=False, seconds=0.0, detail="not asked")


def _ways(host: str, peers: tuple[str, ...]) -> list[tuple[str, str]]:
    """Every way across a cut, in both directions."""
    return [way for peer in peers for way in ((host, peer), (peer, host))]


async def _reaches(witness: Witness, pairs: dict[Name, tuple[str, str]]) -> dict[Name, Reply]:
    """One attempt for each name, all at once."""
    replies = await asyncio.gather(*(witness.reach(*pair) for pair in pairs.values()))
    return dict(zip(pairs, replies, strict=True))


def _other(peer: str, peers: tuple[str, ...]) -> str:
    """A host that the cut does not touch: another peer, or the peer itself where it is alone."""
    return next((other for other in peers if other != peer), peer)


async def _until_proven(look: Look, limit_s: float) -> Proof:
    attempts = AsyncRetrying(
        stop=stop_after_delay(limit_s),
        wait=wait_fixed(INTERVAL_S),
        retry=retry_if_result(lambda proof: not proof.ok),
    )
    try:
        proof: Proof = await attempts(_bounded, look)
    except RetryError as error:
        last: Proof = error.last_attempt.result()
        return last
    return proof


async def _bounded(look: Look) -> Proof:
    try:
        async with asyncio.timeout(QUESTION_LIMIT_S):
            return await look()
    except TimeoutError:
        return Proof(ok=False, detail="", doubt=f"no evidence within {QUESTION_LIMIT_S:g} s")
    except FaultError as error:
        return Proof(ok=False, detail="", doubt=str(error))
