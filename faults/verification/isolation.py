"""Looks at a host that is cut off from everybody: from within, from its peers, from clients."""

import asyncio
from dataclasses import dataclass

from faults.actions import Isolate, both_ways
from faults.kinds import PROXY
from faults.model import Armed, Drops, Proof, Replies, Witness
from faults.shapes import Way, left_open
from faults.verification.asking import reaches
from faults.verification.network import hears
from faults.verify import isolation as rules
from faults.verify.network import cut_gone
from faults.verify.processes import kill_held
from faults.verify.replies import DIRECT, both, proven


@dataclass(slots=True)
class BlackHoleLook:
    armed: Armed
    witness: Witness

    async def held(self) -> Proof:
        process = rules.runs(await self.witness.process(self.armed.resolved))
        return both(process, await self.isolated()) if process.ok else process

    async def gone(self) -> Proof:
        host = self.armed.resolved
        joined = await self.joined()
        if not joined.ok:
            return joined
        entries, serves = await asyncio.gather(
            self.witness.entries(host), self.witness.serves(host)
        )
        return both(joined, rules.entered(entries, serves))

    async def isolated(self) -> Proof:
        if self.armed.mechanism == PROXY:
            return rules.links_isolated(await self._evidence())
        before = await self._drops()
        if before is None:
            return Proof(ok=False, detail="", doubt="there is no chain of ours")
        evidence = await self._evidence()
        return rules.filter_isolated(evidence, before, await self._drops())

    async def joined(self) -> Proof:
        drops = None if self.armed.mechanism == PROXY else await self._drops()
        if drops is None and not self._ways:
            return proven("nothing of ours is in the way")
        attempts = {} if drops is not None else await reaches(self.witness, self._ways)
        return cut_gone({self.armed.resolved: drops}, attempts)

    @property
    def _ways(self) -> tuple[Way, ...]:
        host = self.armed.resolved
        return both_ways(host, tuple(peer for peer in self.armed.hosts if peer != host))

    async def _drops(self) -> Drops | None:
        (chain,) = (one.chain for one in self.armed.actions if isinstance(one, Isolate))
        return await self.witness.drops(self.armed.resolved, chain)

    async def _evidence(self) -> rules.IsolationEvidence:
        hosts = self.armed.hosts
        proxied = self.armed.mechanism == PROXY
        ask = hears if proxied else reaches
        attempts, entries, beside, direct = await asyncio.gather(
            ask(self.witness, self._ways),
            self._entries(),
            ask(self.witness, left_open(self._ways, hosts)),
            reaches(self.witness, [(host, host) for host in hosts] if proxied else []),
        )
        told = {host: reply for (host, _), reply in direct.items()}
        return rules.IsolationEvidence(self.armed.resolved, attempts, entries, beside, told)

    async def _entries(self) -> Replies:
        """Clients' ways; and past every proxy, where that is no way around the fault."""
        host = self.armed.resolved
        if self.armed.mechanism == PROXY:
            return await self.witness.entries(host)
        entries, direct = await asyncio.gather(
            self.witness.entries(host), self.witness.greets(host)
        )
        return {**entries, DIRECT: direct}


class RebootLook(BlackHoleLook):
    """Cut off and killed; back when it is reached, runs and serves."""

    async def held(self) -> Proof:
        killed = kill_held(await self.witness.process(self.armed.resolved))
        return both(killed, await self.isolated()) if killed.ok else killed
