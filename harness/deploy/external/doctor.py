"""What a topology file promises, held against the world, one row each: only a queue of its own
is declared, and deleted.

1. Brokers and a proxy are only asked; a command is looked for, and not run.
2. A look never raises: what cannot be found out is a row that is not ok.
3. All looks but those for programs are the agent's, as in a run: what works here works there.
"""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Iterator, Mapping
from uuid import uuid4

from faults.core.commands import STEPS
from faults.core.mechanisms import EXTERNAL
from faults.kinds import KINDS
from harness.cluster.agent import AgentClient, AgentError
from harness.cluster.port import DeployError
from harness.deploy.doctor import MachineCheck
from harness.deploy.external.cluster import VERSION_LIMIT_S
from harness.deploy.external.site import (
    NO_PROXY,
    Site,
    brokers_of,
    exposed,
    missing_variables,
    start_agent,
)
from harness.deploy.owner import owner
from harness.plan.layouts.topology import EMBEDDED, BrokerNode, Topology
from harness.systems.topologies import foreign_of

CONNECT_LIMIT_S = 4.0


async def examine(topology: Topology) -> tuple[MachineCheck, ...]:
    """Every row, in the order of the file."""
    rows = [*_variables(topology, os.environ), *_programs(topology)]
    site = Site(f"mqproof-{uuid4().hex[:8]}", os.curdir, owner(), topology, _proxy_of(topology))
    try:
        agent = await start_agent(site)
    except DeployError as error:
        return (*rows, MachineCheck("agent", str(error), False, "see above"))
    try:
        rows += [row async for row in _examined(site, agent)]
    finally:
        await agent.close()
    return (*rows, *possible(topology))


def possible(topology: Topology) -> Iterator[MachineCheck]:
    """Yield rows for the allowed faults, and those that could not be verified."""
    kinds = (kind for kind in KINDS.values() if EXTERNAL in kind.offers)
    yield MachineCheck("faults that may be done", topology.allowed(kinds), True)
    for (host, kind), command in topology.commands.items():
        if not command.verify:
            remedy = "add `verify` to its table: without one its run ends unknown"
            yield MachineCheck(
                f"{kind} of {host}", "has no verify command", False, remedy, optional=True
            )


def _variables(topology: Topology, environment: Mapping[str, str]) -> Iterator[MachineCheck]:
    missing = missing_variables(topology, environment)
    for name in topology.variables:
        if name in missing:
            yield MachineCheck(f"${name}", "not set", False, f"export {name}=...")
        else:
            yield MachineCheck(f"${name}", "set", True)
    if why := exposed(topology):
        yield MachineCheck("secrets", why, False, "take it out of the file")


def _programs(topology: Topology) -> Iterator[MachineCheck]:
    """Each once; a host may have it where this machine has not, but commands are run here."""
    programs = dict.fromkeys(
        command.words(step)[0]
        for command in topology.commands.values()
        for step in STEPS
        if command.words(step)
    )
    proxy = topology.proxy
    if proxy is not None and proxy.start not in ("", EMBEDDED):
        programs[proxy.start] = None
    for program in programs:
        found = shutil.which(program)
        remedy = "" if found else "install it on this machine, or give its whole path"
        yield MachineCheck(f"program {program}", found or "not found", found is not None, remedy)


async def _examined(site: Site, agent: AgentClient) -> AsyncIterator[MachineCheck]:
    topology = site.topology
    reached = [one for one in topology.nodes if one.reached]
    for broker in reached if topology.balancer is None else (*reached, topology.balancer):
        yield await _entered(topology, broker, agent)
    if not missing_variables(topology, os.environ):
        async for one in brokers_of(site, agent).examined():
            yield MachineCheck(
                one.what, one.found, not one.remedy, one.remedy, problem=one.problem
            )
    if site.proxy != NO_PROXY:
        yield await _proxy(site, agent)


async def _entered(topology: Topology, broker: BrokerNode, agent: AgentClient) -> MachineCheck:
    """Try name, TCP, greeting and login; return the first failure."""
    clients = foreign_of(topology).clients
    what = f"{broker.host}: {clients.speaks}"
    try:
        await asyncio.get_running_loop().getaddrinfo(broker.address, broker.port)
    except OSError as error:
        remedy = f"correct `{clients.key_of(topology)}` in the file"
        return MachineCheck(what, f"{broker.address}: {error}", False, remedy)
    greeting, way = clients.service_ports.greeting, {"host": broker.address, "port": broker.port}
    try:
        answer = await agent.call("connect", CONNECT_LIMIT_S, **way)
        if not answer["connected"]:
            remedy = "is it up, and reachable from this machine?"
            return MachineCheck(what, f"{broker.upstream}: {answer['detail']}", False, remedy)
        answer = await agent.call(greeting.call, CONNECT_LIMIT_S, **way, **greeting.arguments)
        if not answer["answered"]:
            found = f"no {clients.speaks} greeting: {answer['detail']}"
            return MachineCheck(what, found, False, "is it a broker?")
        await clients.enter(broker, agent, CONNECT_LIMIT_S)
    except AgentError as error:
        remedy = clients.remedy(topology, error)
        return MachineCheck(what, str(error), False, remedy)
    login = ", and takes the login" if topology.variables else ""
    return MachineCheck(what, f"{broker.upstream} greets{login}", True)


async def _proxy(site: Site, agent: AgentClient) -> MachineCheck:
    url = f"http://{site.proxy}/version"
    try:
        answer = await agent.call(
            "http", VERSION_LIMIT_S, method="GET", url=url, headers={}, body=""
        )
    except AgentError as error:
        return MachineCheck(
            "Toxiproxy", str(error), False, "start it, or correct `at` in the file"
        )
    version = str(answer["body"]).strip()
    return MachineCheck("Toxiproxy", f"{site.proxy}, {version}", answer["status"] == 200)


def _proxy_of(topology: Topology) -> str:
    return topology.proxy.at if topology.proxy is not None and topology.proxy.at else NO_PROXY
