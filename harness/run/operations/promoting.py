"""An operator promotes a mirror of a queue that has lost its master, during a run.

1. If the queue has a master, that is an error and nothing is changed: it gets no second one.
2. RocketMQ brokers take their role from their configuration when they start. So the mirror is
   stopped in good order and started again.
3. The journal has the stopped process until it runs again, so that `heal` starts it.
"""

from dataclasses import dataclass

from faults.core.actions import ENDING_S, Start, Stop
from faults.core.model import Armed
from faults.performing import perform_all
from harness.cluster.orders import Promote
from harness.cluster.polling import until
from harness.cluster.port import DeployError, Roles
from harness.plan.model import OperationStep
from harness.run.stage import Stage

STOP_LIMIT_S = 60.0
SERVE_LIMIT_S = 120.0


@dataclass(slots=True)
class Promoting:
    """One operation `promote`."""

    stage: Stage
    step: OperationStep

    async def perform(self, queue: str) -> str:
        """`queue`: the broker's name. Raises DeployError, FaultError."""
        mirror = _mirror(queue, await self.stage.cluster.broker.roles(queue))
        answer = await self.stage.cluster.operator.carry_out(Promote(queue, mirror))
        for where in self._places(mirror):
            await self._restart(where)
        roles = await until(
            lambda: self.stage.cluster.broker.roles(queue),
            lambda found: found.master == mirror,
            SERVE_LIMIT_S,
        )
        if roles.master != mirror:
            raise DeployError(f"{mirror} is not {queue}'s master after {SERVE_LIMIT_S:g} s")
        return f"{answer}; {mirror} is shown as master"

    def _places(self, mirror: str) -> list[str]:
        """The brokers of the mirror's host: a name server beside them runs on."""
        servers = self.stage.servers
        beside = [one.place for one in servers.brokers if one.host == mirror]
        return beside if servers.apart else [mirror]

    async def _restart(self, where: str) -> None:
        armed = self._armed(where)
        self.stage.journal.armed(armed)
        await perform_all(self.stage.executor, armed.actions)
        witness = self.stage.cluster.witness
        state = await until(
            lambda: witness.process(where), lambda found: not found.running, STOP_LIMIT_S
        )
        await perform_all(self.stage.executor, armed.undo)
        self.stage.journal.undone(armed)
        if state.running:
            raise DeployError(f"{where} had not ended after {STOP_LIMIT_S:g} s")

    def _armed(self, where: str) -> Armed:
        plan = self.step.operation
        return Armed(
            window=self.step.number,
            kind=plan.kind.name,
            target=plan.target.word,
            places=(where,),
            role="",
            mechanism=plan.kind.offers.get(self.stage.plan.deployment, ""),
            actions=(Stop(where),),
            undo=(Start(where, ENDING_S),),
            mark="",
            hosts=self.stage.hosts,
        )


def _mirror(queue: str, roles: Roles) -> str:
    if roles.master is not None:
        raise DeployError(f"{queue} has a master, {roles.master}: another one would make two")
    if not roles.mirrors:
        raise DeployError(f"{queue} has no mirror that could become its master")
    return roles.mirrors[0]
