"""Which of the running clusters a fault by hand means.

1. A cluster that cannot suffer the fault is not meant. If none can, all reasons are reported.
2. Of several that can, a target that names a queue means the one that has the queue.
3. If it is still not clear which one is meant, nothing is injected.
"""

import asyncio
from collections.abc import Sequence

from faults.core.mechanisms import COMPOSE
from faults.core.targets import CLIENT_LINK
from harness.by_hand.starting import RunningByHand
from harness.cluster.port import DeployError
from harness.plan.model import FaultPlan
from harness.plan.one_fault import NUMBERED, obstacles
from harness.plan.problems import PlanError, Problem, unknown
from harness.request import kernel

_FLAG = "--system"
_LOOK_LIMIT_S = 5.0


async def meant(
    running: Sequence[RunningByHand], fault: FaultPlan, system: str, deployment: str
) -> RunningByHand:
    """`system`: the system or the cluster that was named, or "". Raise PlanError."""
    named = [one for one in running if system in ("", one.choice.system.name, one.choice.name)]
    if not named:
        names = tuple(one.choice.name for one in running)
        raise PlanError([unknown(_FLAG, "running cluster", system, names)])
    reasons = [_reasons(one, fault, deployment) for one in named]
    able = [one for one, why in zip(named, reasons, strict=True) if not why]
    if not able:
        raise PlanError(
            Problem(one.choice.name, text)
            for one, texts in zip(named, reasons, strict=True)
            for text in texts
        )
    if len(able) > 1 and fault.target.queue:
        able = await _with_queue(able, fault.target.queue) or able
    if len(able) > 1:
        names = tuple(one.choice.name for one in able)
        text = f"{fault.target.word!r} may mean each of several clusters"
        raise PlanError([Problem(_FLAG, text, names, advice="name one by --system")])
    return able[0]


def _reasons(one: RunningByHand, fault: FaultPlan, deployment: str) -> tuple[str, ...]:
    system, layout = one.choice.system, one.cluster.layout
    of_links = fault.kind.applies_to == CLIENT_LINK
    if of_links and deployment == COMPOSE and system.servers(layout).apart:
        # A direct connection at the listener's own port is compared with the link.
        why = "the proxy's listeners have other ports than the servers"
        return (f"a {fault.kind} by hand cannot be verified in containers: {why}",)
    of_kernel = (text.removeprefix(NUMBERED) for text in kernel.obstacles((fault,), deployment))
    return (*obstacles(fault, system, layout, deployment), *of_kernel)


async def _with_queue(able: Sequence[RunningByHand], queue: str) -> list[RunningByHand]:
    found = await asyncio.gather(*(_has(one, queue) for one in able))
    return [one for one, has in zip(able, found, strict=True) if has]


async def _has(one: RunningByHand, queue: str) -> bool:
    try:
        async with asyncio.timeout(_LOOK_LIMIT_S):
            return (await one.cluster.broker.roles(queue)).master is not None
    except (DeployError, TimeoutError):
        return False
