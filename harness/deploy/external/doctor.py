"""What a topology file promises, held against the world, one row each; nothing is touched.

1. Brokers, the management API and a proxy are only asked; a command is looked for, and not run.
2. A look never raises: what cannot be found out is a row that is not ok.
3. All looks but those for programs are the agent's, as in a run: what works here works there.
"""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Iterator, Mapping
from uuid import uuid4

from faults.commands import STEPS
from faults.kinds import KINDS
from faults.mechanisms import EXTERNAL
from harness.cluster.agent import AgentClient, AgentError
from harness.cluster.port import DeployError
from harness.deploy.doctor import Row
from harness.deploy.external import looks
from harness.deploy.external.cluster import TICKS, VERSION_LIMIT_S
from harness.deploy.external.rights import missing
from harness.deploy.external.site import (
    NO_PROXY,
    Site,
    exposed,
    login,
    management,
    missing_variables,
    start_agent,
)
from harness.deploy.owner import owner
from harness.plan.topology import EMBEDDED, Broker, Topology
from harness.plan.topology_toml import layout_of
from harness.systems.rabbitmq import words
from harness.systems.rabbitmq.api import NODES, OVERVIEW, ManagementApi, Reply
from harness.systems.rabbitmq.doors import MIRRORED_DOORS

CONNECT_LIMIT_S = 4.0
_CANARY = "mqproof-doctor"


async def examine(topology: Topology) -> tuple[Row, ...]:
    """Every row, in the order of the file."""
    rows = [*_variables(topology, os.environ), *_programs(topology)]
    site = Site(f"mqproof-{uuid4().hex[:8]}", os.curdir, owner(), topology, _proxy_of(topology))
    try:
        agent = await start_agent(site)
    except DeployError as error:
        return (*rows, Row("agent", str(error), False, "see above"))
    try:
        rows += [row async for row in _asked(site, agent)]
    finally:
        await agent.close()
    return (*rows, *possible(topology))


def possible(topology: Topology) -> Iterator[Row]:
    """What a scenario may ask for, and what nobody could prove."""
    kinds = tuple(name for name, kind in KINDS.items() if EXTERNAL in kind.offers)
    yield Row("faults that may be done", topology.allowed(kinds), True)
    for (host, kind), command in topology.commands.items():
        if not command.verify:
            remedy = "add `verify` to its table: without one its run ends unknown"
            yield Row(f"{kind} of {host}", "has no verify command", False, remedy, optional=True)


def _variables(topology: Topology, environment: Mapping[str, str]) -> Iterator[Row]:
    missing = missing_variables(topology, environment)
    for name in topology.variables:
        if name in missing:
            yield Row(f"${name}", "not set", False, f"export {name}=...")
        else:
            yield Row(f"${name}", "set", True)
    if why := exposed(topology):
        yield Row("secrets", why, False, "take it out of the file")


def _programs(topology: Topology) -> Iterator[Row]:
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
        yield Row(f"program {program}", found or "not found", found is not None, remedy)


async def _asked(site: Site, agent: AgentClient) -> AsyncIterator[Row]:
    topology = site.topology
    for broker in topology.brokers:
        yield await _amqp(broker, agent)
    if not missing_variables(topology, os.environ):
        async for row in _management(topology, agent):
            yield row
    if site.proxy != NO_PROXY:
        yield await _proxy(site, agent)


async def _amqp(broker: Broker, agent: AgentClient) -> Row:
    """By name, TCP, greeting and login: the first that fails is told."""
    what, way = f"{broker.host}: AMQP", {"host": broker.address, "port": broker.port}
    try:
        await asyncio.get_running_loop().getaddrinfo(broker.address, broker.port)
    except OSError as error:
        return Row(what, f"{broker.address}: {error}", False, "mend `amqp` in the file")
    try:
        said = await agent.call("connect", CONNECT_LIMIT_S, **way)
        if not said["connected"]:
            remedy = "is it up, and reachable from this machine?"
            return Row(what, f"{broker.upstream}: {said['detail']}", False, remedy)
        greets = MIRRORED_DOORS.greeting
        said = await agent.call(greets.call, CONNECT_LIMIT_S, **way, **greets.arguments)
        if not said["answered"]:
            return Row(what, f"no AMQP greeting: {said['detail']}", False, "is it a broker?")
        canary = f"{_CANARY}.{broker.host}"
        own = {"canary": canary, "queue": "", "by": MIRRORED_DOORS.canaries}
        await agent.call("canary_open", CONNECT_LIMIT_S, **own, **way)
        await agent.call("canary_close", CONNECT_LIMIT_S, canary=canary)
    except AgentError as error:
        remedy = "may this user enter the virtual host / with these credentials?"
        return Row(what, str(error), False, remedy)
    return Row(what, f"{broker.upstream} greets, and takes the login", True)


async def _management(topology: Topology, agent: AgentClient) -> AsyncIterator[Row]:
    names = {broker.node: f"rabbit@{broker.host}" for broker in topology.brokers}
    api = ManagementApi(agent, management(topology), login(topology))
    renamed = ManagementApi(agent, management(topology), login(topology), names)
    answers = await api.ask_all(OVERVIEW)
    for host, reply in answers.items():
        yield _overview(topology, host, reply)
    rights = await missing(topology, api)
    try:
        nodes, ticks = await asyncio.gather(api.first(NODES), api.first(TICKS))
    except DeployError as error:
        remedy = "; ".join(rights) or "see the rows above"
        yield Row("cluster", str(error), False, remedy)
        return
    for doubt in rights:
        yield Row("rights", doubt, False, "`rabbitmqctl set_user_tags` gives it")
    doubts = (*looks.strangers(topology, nodes), *looks.ticks(topology, ticks))
    if doubts:
        yield Row("cluster", "; ".join(doubts), False, "mend the file: name every node as it is")
        return
    said = await renamed.bodies(NODES)
    found = words.doubts(layout_of(topology), said, {})  # no queue there is a run's
    text = "; ".join(found) or f"{len(nodes)} nodes run, no partition, no alarm"
    yield Row("cluster", text, not found, "a run begins on a clean cluster" if found else "")


def _overview(topology: Topology, host: str, reply: Reply | None) -> Row:
    what, url = f"{host}: management", topology.broker(host).management
    if reply is None:
        return Row(
            what, f"{url} does not answer", False, "is its plugin enabled, and the URL right?"
        )
    if reply.status != 200:
        names = " and ".join(f"${name}" for name in topology.variables)
        remedy = f"what {names} hold must be a user with the tag `monitoring`"
        return Row(what, f"{url} answers {reply.status}", False, remedy)
    version = reply.body.get("rabbitmq_version", "of an unknown version")
    return Row(what, f"{url}, RabbitMQ {version}", True)


async def _proxy(site: Site, agent: AgentClient) -> Row:
    url = f"http://{site.proxy}/version"
    try:
        said = await agent.call(
            "http", VERSION_LIMIT_S, method="GET", url=url, headers={}, body=""
        )
    except AgentError as error:
        return Row("Toxiproxy", str(error), False, "start it, or mend `at` in the file")
    version = str(said["body"]).strip()
    return Row("Toxiproxy", f"{site.proxy}, {version}", said["status"] == 200)


def _proxy_of(topology: Topology) -> str:
    return topology.proxy.at if topology.proxy is not None and topology.proxy.at else NO_PROXY
