"""Looks at links that were ended: what became of those that stood, and what new ones meet."""

from abc import abstractmethod
from dataclasses import dataclass

from faults.core.model import Armed, Proof, Replies
from faults.core.witness import SeesLinks
from faults.kinds.client_links import rules
from faults.kinds.client_links.canaries import reopened
from faults.polling import gather


@dataclass(slots=True)
class Ended:
    armed: Armed
    witness: SeesLinks

    async def ready(self) -> None:
        """Opening the canaries has shown that the links work."""

    async def held(self) -> Proof:
        canaries, attempts = await gather(
            self.witness.canaries(self.armed), self.witness.attempts(self.armed)
        )
        return self.judged(canaries, attempts)

    @abstractmethod
    def judged(self, canaries: Replies, attempts: Replies) -> Proof:
        """Return the proof from what old and new connections met, by the rule of the kind."""

    async def gone(self) -> Proof:
        await reopened(self.witness, self.armed)
        return rules.answering(await self.witness.canaries(self.armed), self.armed.proxies)
