"""A planned fault meets the cluster: whom it means now, and what it becomes.

1. Words are resolved when the window opens, never before.
2. Two faults never have one thing: the end of one would undo the other.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from faults.core.compile import compile as compile_fault
from faults.core.compile import mark
from faults.core.exclusive import Thing, clash, things
from faults.core.interference import interference
from faults.core.kind import ArmedFault, ResolvedFault
from faults.core.model import Armed, Interference
from faults.core.targets import CLIENT, CLIENT_LINK
from harness.cluster.port import DeployError, Roles
from harness.plan.files.targets import Target, TargetForm
from harness.plan.layouts.layout_values import BALANCER, STANDBY
from harness.plan.model import FaultPlan, Window
from harness.run.core.resolving import (
    NoSuchTarget,
    holders,
    resolve,
    resolve_balancer,
    resolve_clients,
    resolve_processes,
    resolve_reference,
)
from harness.run.stage import LOOK_LIMIT_S, Stage


async def roles_before(stage: Stage, fault: FaultPlan) -> dict[str, Roles]:
    """Return which hosts hold which queues. Raise DeployError, TimeoutError.

    For faults of clients and name servers this may stay unknown: then there are no roles.
    """
    try:
        return await stage.record_roles()
    except (DeployError, TimeoutError):
        by_itself = fault.kind.applies_to == CLIENT
        if by_itself or fault.target.of_processes:
            return {}
        raise


async def resolve_fault(stage: Stage, window: Window, roles: Mapping[str, Roles]) -> ArmedFault:
    """Return the window's fault with the target that it means now.

    Raise NoSuchTarget, FaultError, DeployError, TimeoutError.
    """
    fault = window.fault
    clients: tuple[str, ...] = ()
    if fault.kind.applies_to == CLIENT:
        clients = resolve_clients(
            fault.target, fault.options.affected_clients, stage.roles_of_worker
        )
        places, role = clients, "clients"
    else:
        places, role = await _meant(stage, window, roles)
    resolved = ResolvedFault(
        kind=fault.kind,
        target=fault.target.word,
        places=places,
        role=role,
        hosts=(*stage.hosts, *(places if role in (BALANCER, STANDBY) else ())),
        clients=clients,
        proxies=stage.proxies(fault.options.affected_clients, places[0]),
        window=window.number,
        mark=mark(_marked_by(stage, fault), window.number),
        returns=fault.returns,
        mechanism=stage.executor.mechanism(fault.kind.name),
        options=fault.options,
        serving=stage.servers.serving,
        alarms=stage.plan.system.alarms,
    )
    return compile_fault(resolved)


def _marked_by(stage: Stage, fault: FaultPlan) -> str:
    """Return the run whose name marks the fault: runs that are played together share one fault,
    with the name of the first run."""
    if fault.kind.applies_to == CLIENT_LINK or not stage.plan.together:
        return stage.plan.name
    return stage.plan.together[0]


async def _meant(
    stage: Stage, window: Window, roles: Mapping[str, Roles]
) -> tuple[tuple[str, ...], str]:
    """Return the host or the processes, and their role now."""
    fault, target = window.fault, window.fault.target
    if target.fault:
        host = resolve_reference(target, stage.hosts_of.get(window.refers_to, ""), stage.hosts)
        return (host,), stage.describe(host, roles)
    if target.of_processes:
        attached = await _attached(stage, target)
        layout = stage.plan.layout
        meant, role = resolve_processes(
            target, fault.kind, stage.servers, attached, layout.peer_links
        )
        return meant, stage.describe(meant[0], roles) if target.whole_host else role
    if target.of_balancers or target.word in stage.plan.layout.balancers:
        async with asyncio.timeout(LOOK_LIMIT_S):
            entered = await stage.cluster.entered()
        host, role = resolve_balancer(target, stage.plan.layout.balancers, entered)
        return (host,), role
    host = resolve(target, roles, stage.hosts, holders(roles))
    return (host,), stage.describe(host, roles)


async def _attached(stage: Stage, target: Target) -> str:
    """As resolve_processes wants it."""
    if target.form is TargetForm.CONTROLLER:
        async with asyncio.timeout(LOOK_LIMIT_S):
            return await stage.cluster.broker.controller()
    return stage.cluster.started_clients.attached(target.client) if target.client else ""


def take(stage: Stage, armed: ArmedFault) -> None:
    """Note that the fault is active. Raise NoSuchTarget if it clashes with another window."""
    own = _things(armed)
    for number, other in stage.active.items():
        if clash(own, _things(other)):
            raise NoSuchTarget(
                f"{armed.kind} {armed.target} means {armed.resolved}, where fault {number} "
                f"({other.kind} {other.target}) is active: the end of one would undo the other"
            )
    stage.active[armed.window] = armed
    if armed.declared.applies_to != CLIENT:
        stage.hosts_of[armed.window] = armed.host


def to_look_at(
    armed: ArmedFault, active: Mapping[int, Armed], detection_timeout_s: float = 0.0
) -> ArmedFault:
    """Return the fault with what other active faults hide from its verification.

    `detection_timeout_s`: the layout's detection timeout.
    """

    def meanwhile() -> Interference:
        others = (other for number, other in active.items() if number != armed.window)
        return interference(armed, others, detection_timeout_s)

    return replace(armed, meanwhile=meanwhile)


def _things(armed: ArmedFault) -> frozenset[Thing]:
    exhausted = armed.options.exhausted
    return things(armed.declared, armed.places, exhausted, armed.proxies, armed.clients)
