"""Looks at clients' links, by canaries that were opened through them before."""

from dataclasses import dataclass, field

from faults.model import Armed, Proof, Reply, Witness
from faults.verify import links as rules
from faults.verify.replies import silent


@dataclass(slots=True)
class HangLook:
    """Fresh canaries replace held ones at the first look at its end, so those are asked once,
    before."""

    armed: Armed
    witness: Witness
    released: dict[str, Reply] = field(default_factory=dict)
    asked: bool = False

    async def held(self) -> Proof:
        return rules.hang_held(await self.witness.canaries(self.armed), self.armed.proxies)

    async def gone(self) -> Proof:
        names = self.armed.proxies
        if not self.asked:
            replies = await self.witness.canaries(self.armed)
            stuck = [name for name in names if name in replies and silent(replies[name])]
            if stuck:
                return Proof(ok=False, detail="", doubt=f"still silent: {', '.join(stuck)}")
            self.released, self.asked = replies, True
        await self.witness.dismiss(self.armed)
        await self.witness.prepare(self.armed)
        fresh = await self.witness.canaries(self.armed)
        return rules.hang_gone(fresh, self.released, names)
