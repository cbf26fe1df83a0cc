"""A planned fault meets the cluster: whom it means now, and what it becomes.

1. Words are resolved when the window opens, never before.
2. Two faults never have one thing: the end of one would undo the other.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from faults.compile import compile as compile_fault
from faults.exclusive import Thing, clash, things
from faults.kinds import KINDS
from faults.model import Armed
from faults.places import host_of
from faults.targets import CLIENT, CLIENT_LINK
from harness.cluster.port import DeployError, Roles
from harness.plan.model import BALANCER, STANDBY, FaultPlan, Window
from harness.plan.targets import Target, parse_target
from harness.run.resolving import (
    NoSuchTarget,
    describe,
    holders,
    resolve,
    resolve_balancer,
    resolve_clients,
    resolve_processes,
)
from harness.run.stage import LOOK_LIMIT_S, Stage


async def roles_before(stage: Stage, fault: FaultPlan) -> dict[str, Roles]:
    """Who holds what. Clients and name servers can be struck while nobody tells that; it is
    unknown then. Raises DeployError, TimeoutError."""
    try:
        return await stage.roles()
    except (DeployError, TimeoutError):
        by_itself = KINDS[fault.kind].applies_to == CLIENT
        if by_itself or parse_target(fault.target).of_processes:
            return {}
        raise


async def aimed(stage: Stage, window: Window, roles: Mapping[str, Roles]) -> Armed:
    """The window's fault for whom it means now. Raises NoSuchTarget, FaultError, DeployError,
    TimeoutError."""
    fault = window.fault
    clients: tuple[str, ...] = ()
    if KINDS[fault.kind].applies_to == CLIENT:
        clients = resolve_clients(fault.target, fault.options.clients, stage.roles_of_worker)
        host, role = ", ".join(clients), "clients"
    else:
        host, role = await _meant(stage, fault, roles)
    return compile_fault(
        kind=fault.kind,
        target=fault.target,
        resolved=host,
        role=role,
        hosts=(*stage.hosts, *(name for name in (host,) if role in (BALANCER, STANDBY))),
        clients=clients,
        proxies=stage.proxies(fault.options.clients, host),
        window=window.number,
        run=_marked_by(stage, fault),
        returns=fault.returns,
        mechanism=stage.executor.mechanism(fault.kind),
        options=fault.options,
        serving=stage.servers.serving,
        alarms=stage.plan.system.alarms,
    )


def _marked_by(stage: Stage, fault: FaultPlan) -> str:
    """Whose name is in what the world sees of it: what strikes all runs that are played together
    is one thing, the first one's."""
    of_links = KINDS[fault.kind].applies_to == CLIENT_LINK
    return stage.plan.name if of_links else (*stage.plan.together, stage.plan.name)[0]


async def _meant(stage: Stage, fault: FaultPlan, roles: Mapping[str, Roles]) -> tuple[str, str]:
    """The host or the processes, and what they are now."""
    target = fault.target
    word = parse_target(target)
    if word.of_processes:
        attached = await _attached(stage, word)
        layout = stage.plan.layout
        meant, role = resolve_processes(
            word, fault.kind, stage.servers, attached, layout.peer_links
        )
        return meant, describe(meant, roles) if word.whole_host else role
    if target in stage.plan.layout.balancers or word.role == "balancer":
        async with asyncio.timeout(LOOK_LIMIT_S):
            entered = await stage.cluster.entered()
        return resolve_balancer(target, stage.plan.layout.balancers, entered)
    host = resolve(target, roles, stage.hosts, holders(roles))
    return host, describe(host, roles)


async def _attached(stage: Stage, word: Target) -> str:
    """As resolve_processes wants it."""
    if word.role == "controller":
        async with asyncio.timeout(LOOK_LIMIT_S):
            return await stage.cluster.broker.controller()
    return stage.cluster.roster.attached(word.client) if word.client else ""


def take(stage: Stage, armed: Armed) -> None:
    """From now on it stands. Raises NoSuchTarget where another window has what it would have."""
    own = _things(armed)
    for number, other in stage.standing.items():
        if clash(own, _things(other)):
            raise NoSuchTarget(
                f"{armed.kind} {armed.target} means {armed.resolved}, where window {number} "
                f"({other.kind} {other.target}) stands: the end of one would undo the other"
            )
    stage.standing[armed.window] = armed


def to_look_at(armed: Armed, standing: Mapping[int, Armed]) -> Armed:
    """The fault as it can be seen beside those that stand: hosts that another one silences tell
    nothing of this one, neither that it holds nor that it cuts more than was meant."""
    others = [other for number, other in standing.items() if number != armed.window]
    silent = {
        host_of(place)
        for other in others
        if KINDS[other.kind].silences_peers
        for place in other.places
    }
    silent -= set(map(host_of, armed.places))
    return replace(armed, hosts=tuple(host for host in armed.hosts if host not in silent))


def _things(armed: Armed) -> frozenset[Thing]:
    resource = armed.options.resource
    return things(armed.kind, armed.resolved, resource, armed.proxies, armed.clients)
