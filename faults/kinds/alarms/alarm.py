"""`alarm`: a broker that runs short of memory or disk, and blocks its publishers."""

from dataclasses import dataclass

from faults.core.actions import ClearAlarm, RaiseAlarm
from faults.core.kind import HELD_LIMIT_S, Compiled, Excludes, Kind, ResolvedFault, Sight
from faults.core.mechanisms import COMPOSE, CONTAINER, EXTERNAL, LOCAL
from faults.core.model import Armed, FaultError, Proof
from faults.core.options import FaultOptions, Option
from faults.core.targets import HOST
from faults.core.witness import SeesAlarms
from faults.kinds.alarms import rules

RESOURCE = Option(
    "resource", "of an alarm: the resource that runs out", "memory", ("memory", "disk")
)


@dataclass(frozen=True, slots=True)
class AlarmOptions(FaultOptions):
    resource: str = RESOURCE.field()

    @property
    def exhausted(self) -> str:
        return self.resource


@dataclass(slots=True)
class Alarmed:
    armed: Armed
    witness: SeesAlarms

    async def ready(self) -> None:
        """An alarm that is there already could not be told from ours."""
        proof = await self.gone()
        if not proof.ok:
            raise FaultError(proof.doubt)

    async def held(self) -> Proof:
        resource = self.armed.options.exhausted
        said = await self.witness.alarms(resource)
        return rules.alarm_held(self.armed.host, resource, said)

    async def gone(self) -> Proof:
        resource = self.armed.options.exhausted
        said = await self.witness.alarms(resource)
        others = {host for host, of in self.armed.meanwhile().alarms if of == resource}
        return rules.alarm_gone(self.armed.host, resource, said, others)


def _compile(fault: ResolvedFault) -> Compiled:
    host, resource, known = fault.host, fault.options.exhausted, fault.alarms
    if known is None or not {resource} <= known.raised.keys() & known.cleared.keys():
        raise FaultError(f"{host}: its system declares no {resource} alarm")
    raised = RaiseAlarm(host, resource, known.raised[resource])
    return Compiled((raised,), (ClearAlarm(host, resource, known.cleared[resource]),))


ALARM = Kind(
    name="alarm",
    title="mqproof sets a limit that the broker already exceeds (memory watermark or free disk), "
    "so it raises the alarm: publishers are blocked",
    applies_to=HOST,
    only_on=(),
    offers={COMPOSE: CONTAINER},
    by_peer_links={},
    why_not={
        LOCAL: "limits are set by a command in the broker's container; a subprocess has none",
        EXTERNAL: "mqproof does not change limits of brokers that it did not start",
    },
    undone_by="the limits of its configuration are in force again",
    options=AlarmOptions,
    needs=(),
    needs_all=(),
    may_stay=False,
    strikes_processes=False,
    excludes=Excludes.RESOURCE,
    seen_by=(Sight.BROKER,),
    hides=(),
    repeats=False,
    canaries_speak=False,
    counts_bytes=False,
    held_limit_s=HELD_LIMIT_S,
    waits_for_silence=False,
    ends_client=False,
    silences_peers=False,
    ends_broker=False,
    takes_page_cache=False,
    silences_clients=False,
    spares_disk=None,
    actions=(RaiseAlarm, ClearAlarm),
    compile=_compile,
    verify=Alarmed,
    verify_commanded=None,
)
