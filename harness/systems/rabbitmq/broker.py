"""The Broker port for a RabbitMQ cluster: its management API and one declare, through the agent.

1. Where the cluster's word is wanted, hosts are asked side by side and the first that answers is
   believed, or the first that so many agree with as the kind of queue asks for (queues.py): one
   that hangs delays nothing. Where each host's own word is wanted, all are awaited.
2. Deleting or closing what is not there (any more) is no error.
3. A connection is listed up to a second after it was opened (rabbitmq.conf), and unlisted at once.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any

from harness.cluster.agent import AgentClient, AgentError
from harness.cluster.polling import until
from harness.cluster.port import DeployError, Health, Roles
from harness.plan.layouts.layout_values import Policy
from harness.plan.model import Layout
from harness.systems.rabbitmq.api import (
    CONNECTIONS,
    EXCHANGES,
    FEATURE_FLAGS,
    NODES,
    OVERVIEW,
    QUEUES,
    ManagementApi,
    connection_path,
    enable_path,
    exchange_path,
    policy_path,
    queue_path,
    urls,
)
from harness.systems.rabbitmq.core import cluster_state, khepri
from harness.systems.rabbitmq.core.queues import QueueKind, agreed, unanimous
from harness.systems.rabbitmq.core.service_ports import AMQP_HEADER, AMQP_PORT, API_PORT
from harness.systems.rabbitmq.foreign.core import looks
from harness.systems.rabbitmq.held import Held

VERSION = "rabbitmq"  # its name among the versions that a run records
SHARED_PRIORITY = 1000  # of several policies that fit the highest counts: others may mean all
DECLARE = "harness.workers.agent_calls.amqp:declare"  # the agent imports it
FAN_OUT = "harness.workers.agent_calls.amqp:fan_out"
REMOVE_EXCHANGE = "harness.workers.agent_calls.amqp:remove_exchange"
MAX_PRIORITY = "x-max-priority"
_GREET_LIMIT_S = 2.0
_DECLARE_LIMIT_S = 20.0
_REMOVE_LIMIT_S = 5.0
_MIRRORS_LIMIT_S = 30.0
_KHEPRI_LIMIT_S = 60.0


class RabbitBroker:
    """port.Broker. `ways`: host -> address and port that the agent dials, in the layout's order.

    `held`: returns how many messages a node holds itself.
    `ours`: of a cluster that is not ours alone, how the names of the queues begin that are; no
    other is looked at, and where the master of one lies is its own to say.
    """

    def __init__(
        self,
        layout: Layout,
        agent: AgentClient,
        ways: Mapping[str, tuple[str, int]],
        api: ManagementApi,
        kind: QueueKind,
        held: Held,
        ours: Callable[[], Sequence[str]] | None = None,
    ) -> None:
        self._layout = layout
        self._agent = agent
        self._ways = dict(ways)
        self._api = api
        self.cannot_answer = frozenset(ways) - frozenset(api.hosts)
        self._kind = kind
        self._held = held
        self._ours = ours
        self._exchanges: set[str] = set()  # that this process made

    @classmethod
    def on_ports(
        cls,
        layout: Layout,
        agent: AgentClient,
        addresses: Mapping[str, str],
        kind: QueueKind,
        held: Held,
        amqp_port: int = AMQP_PORT,
        api_port: int = API_PORT,
    ) -> "RabbitBroker":
        """Of hosts that all use the same ports."""
        ways = {host: (address, amqp_port) for host, address in addresses.items()}
        api = ManagementApi(agent, urls(addresses, api_port), limit_s=kind.ask_limit_s)
        return cls(layout, agent, ways, api, kind, held)

    @property
    def api(self) -> ManagementApi:
        return self._api

    def add(
        self, host: str, address: str, amqp_port: int = AMQP_PORT, api_port: int = API_PORT
    ) -> None:
        """One more member: it is asked like every other from now on."""
        self._ways[host] = (address, amqp_port)
        self._api.add(host, urls({host: address}, api_port)[host])

    async def declare(self, queue: str, durable: bool, host: str, max_priority: int = 0) -> None:
        address, port = self._ways[host]
        await self._agent.call(
            DECLARE,
            timeout_s=_DECLARE_LIMIT_S,
            host=address,
            port=port,
            queue=queue,
            durable=durable,
            arguments={
                **self._kind.arguments(self._layout),
                **({MAX_PRIORITY: max_priority} if max_priority else {}),
            },
        )
        queue_info = await self._api.first(queue_path(queue))
        wanted = self._kind.mirrors_wanted(self._layout, queue_info)
        there = partial(_holds, "" if self._ours else host, wanted)
        roles = await until(lambda: self.roles(queue), there, _MIRRORS_LIMIT_S)
        if not there(roles):
            where = "somewhere" if self._ours else f"on {host}"
            raise DeployError(
                f"{queue}: wanted its master {where} and {wanted} synchronised mirrors, "
                f"found {roles.master} and {list(_full(roles))} after {_MIRRORS_LIMIT_S:g} s"
            )
        look = partial(self._api.first, queue_path(queue))
        mirrored = partial(looks.mirrored_as_declared, self._layout)
        looks.accept(self._layout, await until(look, mirrored, _MIRRORS_LIMIT_S))

    async def fan_out(
        self, exchange: str, queues: Sequence[str], durable: bool, host: str
    ) -> None:
        address, port = self._ways[host]
        self._exchanges.add(exchange)
        await self._agent.call(
            FAN_OUT,
            timeout_s=_DECLARE_LIMIT_S,
            host=address,
            port=port,
            exchange=exchange,
            queues=list(queues),
            durable=durable,
        )

    async def roles(self, queue: str) -> Roles:
        roles, may_be_dead = await self._named_roles(queue)
        return await self._of_running(roles) if may_be_dead else roles

    async def _of_running(self, roles: Roles) -> Roles:
        """By the word of the master's host: in a partition it counts on its own side alone."""
        reply = await self._api.ask(roles.master, NODES) if roles.master else None
        if reply is not None and reply.status == 200:
            return cluster_state.of_running(roles, reply.body)
        return cluster_state.of_running(roles, await self._api.first(NODES))

    async def _named_roles(self, queue: str) -> tuple[Roles, bool]:
        """Return also whether a mirror that is named may be on a host that is down."""
        statuses: list[int] = []
        answers: list[Roles] = []
        may_be_dead = False
        enough = self._kind.agreeing(len(self._api.hosts))
        async with aclosing(self._api.as_answered(queue_path(queue))) as replies:
            async for reply in replies:
                if reply.status == 200:
                    answers.append(self._kind.roles_of(reply.body))
                    may_be_dead |= self._kind.names_dead(reply.body)
                if (roles := agreed(answers, enough)) is not None:
                    return roles, may_be_dead
                statuses.append(reply.status)
        if answers:
            return unanimous(queue, answers), may_be_dead
        # A broker does not find a queue whose only holder is down.
        if 404 in statuses:
            return Roles(master=None, mirrors=(), synchronised=()), False
        raise DeployError(f"no broker reports who holds {queue}")

    async def masters(self, queue: str) -> dict[str, bool | None]:
        answers = await self._api.ask_all(queue_path(queue))
        claims: dict[str, bool | None] = dict.fromkeys(self._ways)  # without an API: unknown
        for host, reply in answers.items():
            if reply is None or reply.status not in (200, 404):
                claims[host] = None
            else:
                claims[host] = (
                    reply.status == 200 and self._kind.roles_of(reply.body).master == host
                )
        return claims

    async def held(self, queue: str, host: str) -> int | None:
        return await self._held(self._api, queue, host)

    async def members(self, host: str) -> tuple[str, ...]:
        reply = await self._api.ask(host, NODES)
        if reply is None or reply.status != 200:
            raise DeployError(f"{host} does not report which nodes there are")
        return cluster_state.members(reply.body)

    async def policy(self, name: str) -> dict[str, Any] | None:
        async with aclosing(self._api.as_answered(policy_path(name))) as replies:
            async for reply in replies:
                if reply.status in (200, 404):
                    return dict(reply.body["definition"]) if reply.status == 200 else None
        raise DeployError(f"no broker reports policy {name}")

    async def controller(self) -> str:
        return ""

    async def connections(self, prefix: str, close: bool) -> tuple[str, ...]:
        listed = await self._api.first(CONNECTIONS)
        ours = {
            str(row["name"]): str(row["user_provided_name"])
            for row in listed
            if str(row.get("user_provided_name", "")).startswith(prefix)
        }
        if close:
            closing = (self._api.ask_all(connection_path(name), "DELETE") for name in ours)
            await asyncio.gather(*closing)
        return tuple(sorted(ours.values()))

    async def delete(self, prefix: str) -> None:
        await self._delete_listed(QUEUES, queue_path, prefix)
        # A process that is dead may have left some on a cluster that stays. The reference's API
        # lists none.
        if self._ours or not self._exchanges:
            await self._delete_listed(EXCHANGES, exchange_path, prefix)
        left = sorted(one for one in self._exchanges if one.startswith(prefix))
        for way in self._ways.values():
            left = await self._left(left, way)

    async def _delete_listed(
        self, listing: str, path_of: Callable[[str], str], prefix: str
    ) -> None:
        """On every host, by its own list of names."""
        for host, listed in (await self._api.bodies(listing)).items():
            names = [str(row["name"]) for row in listed or ()]
            for name in (name for name in names if name.startswith(prefix)):
                await self._api.ask(host, path_of(name), "DELETE")

    async def _left(self, exchanges: list[str], way: tuple[str, int]) -> list[str]:
        """Remove exchanges through one host, for each is everywhere. Return those that are left
        when it fails: a silent host is waited for once."""
        address, port = way
        for place, exchange in enumerate(exchanges):
            try:
                await self._agent.call(
                    REMOVE_EXCHANGE,
                    timeout_s=_REMOVE_LIMIT_S,
                    host=address,
                    port=port,
                    exchange=exchange,
                )
            except AgentError:
                return exchanges[place:]
            self._exchanges.discard(exchange)
        return []

    async def queues(self, prefix: str) -> tuple[str, ...]:
        """Names of queues that begin so, by the first host that answers. Raises DeployError."""
        names = (str(row["name"]) for row in await self._api.first(QUEUES))
        return tuple(sorted(name for name in names if name.startswith(prefix)))

    async def greets(self, host: str) -> bool:
        """Whether the host's broker answers the AMQP header."""
        address, port = self._ways[host]
        call, own = AMQP_HEADER.greets
        try:
            value = await self._agent.call(call, _GREET_LIMIT_S, host=address, port=port, **own)
        except AgentError:
            return False
        return bool(value["answered"])

    async def listed(self, host: str) -> bool:
        """Whether every other host that answers lists this one's broker as running."""
        return all((await self.listing(host)).values())

    async def listing(self, host: str) -> dict[str, bool]:
        """By every other host that answers: whether it lists this one's broker as running. If no
        other has an API, its own word counts, which a broker that is down does not give."""
        answers = await self._api.bodies(NODES)
        others = {
            by: cluster_state.runs(host, nodes)
            for by, nodes in answers.items()
            if nodes is not None
        }
        if set(self._api.hosts) != {host}:
            others.pop(host, None)
        if not others:
            raise DeployError(f"no other broker reports whether {host} is listed")
        return others

    async def alarms(self, resource: str) -> dict[str, dict[str, bool]]:
        """Return, for every host that answers, which hosts it reports in alarm, or not."""
        answers = await self._api.bodies(NODES)
        return {
            by: cluster_state.alarms(nodes, resource)
            for by, nodes in answers.items()
            if nodes is not None
        }

    async def set_policies(self) -> None:
        """The layout's policies, and Khepri if it wants that; they hold for the whole cluster.

        Raises DeployError.
        """
        if khepri.wanted(self._layout):
            await self._enable_khepri()
        for policy in self._layout.policies:
            await self._set_policy(policy)

    async def remove_policies(self) -> None:
        """Those; of one that is not there, too. Raises DeployError."""
        for policy in self._layout.policies:
            async with aclosing(
                self._api.as_answered(policy_path(policy.name), "DELETE")
            ) as replies:
                statuses = [reply.status async for reply in replies]
            if not {204, 404} & set(statuses):
                raise DeployError(f"policy {policy.name} was not removed: {statuses or 'silence'}")

    async def health(self, limit_s: float) -> Health:
        """As port.Cluster.health says."""
        return await until(self._look, lambda health: health.clean, limit_s)

    async def versions(self) -> dict[str, str]:
        found = versions_in(await self._api.first(OVERVIEW))
        stores = sorted(set(khepri.stores(await self._api.bodies(FEATURE_FLAGS)).values()))
        return {**found, **({khepri.STORE: " and ".join(stores)} if stores else {})}

    async def _enable_khepri(self) -> None:
        """It moves all metadata, which may take longer than a question may."""
        host = next(iter(self._ways))
        reply = await self._api.ask(host, enable_path(khepri.FLAG), "PUT", {"name": khepri.FLAG})
        others = await until(self._without_khepri, lambda hosts: not hosts, _KHEPRI_LIMIT_S)
        if others:
            detail = "nothing" if reply is None else f"{reply.status} {reply.body}"
            raise DeployError(
                f"{', '.join(others)} did not enable {khepri.FLAG} within {_KHEPRI_LIMIT_S:g} s: "
                f"{host} answered the request with {detail}"
            )

    async def _without_khepri(self) -> tuple[str, ...]:
        return khepri.not_in_khepri(await self._api.bodies(FEATURE_FLAGS))

    async def _look(self) -> Health:
        nodes, queues = await asyncio.gather(self._api.bodies(NODES), self._api.bodies(QUEUES))
        if self._ours is not None:
            prefixes = tuple(self._ours())
            queues = {
                host: cluster_state.named(listed, prefixes) for host, listed in queues.items()
            }
        found = cluster_state.doubts(self._layout, nodes, queues, self._kind.doubts)
        return Health(clean=not found, doubts=found)

    async def _set_policy(self, policy: Policy) -> None:
        body = {
            "pattern": policy.pattern,
            "definition": dict(policy.definition),
            "apply-to": "queues",
            "priority": SHARED_PRIORITY if self._ours else 0,
        }
        host = next(iter(self._ways))
        reply = await self._api.ask(host, policy_path(policy.name), "PUT", body)
        if reply is None or reply.status not in (201, 204):
            detail = "nothing" if reply is None else f"{reply.status} {reply.body}"
            raise DeployError(f"{host} did not take policy {policy.name}: it said {detail}")


def versions_in(overview: object) -> dict[str, str]:
    """Return the versions that an overview reports. A fork of RabbitMQ may report none."""
    keys = {VERSION: "rabbitmq_version", "erlang": "erlang_version"}
    found = overview if isinstance(overview, dict) else {}
    return {name: str(found[key]) for name, key in keys.items() if found.get(key)}


def _holds(host: str, mirrors: int, roles: Roles) -> bool:
    """A fresh queue's mirrors hold all of it at once; the API tells so a little later.

    `host`: "" is any.
    """
    placed = roles.master == host if host else roles.master is not None
    return placed and len(_full(roles)) >= mirrors


def _full(roles: Roles) -> tuple[str, ...]:
    """Return the synchronised mirrors; if they are not reported, all mirrors.

    A fresh queue has no message that a mirror could lack.
    """
    return roles.mirrors if roles.synchronised is None else roles.synchronised
