"""Looks at what brokers say of their alarms."""

from dataclasses import dataclass

from faults.model import Armed, Proof, Witness
from faults.verify import brokers as rules


@dataclass(slots=True)
class AlarmLook:
    """That the alarm was not there before is `prepare`'s to see."""

    armed: Armed
    witness: Witness

    async def held(self) -> Proof:
        resource = self.armed.options.resource
        said = await self.witness.alarms(resource)
        return rules.alarm_held(self.armed.resolved, resource, said)

    async def gone(self) -> Proof:
        resource = self.armed.options.resource
        said = await self.witness.alarms(resource)
        return rules.alarm_gone(self.armed.resolved, resource, said)
