"""The Broker port for RocketMQ: what its servers say of themselves, through the agent.

1. A topic is made on the masters of all groups, by hand: nothing makes one by itself. Its master
   is that of its home, the group of the host that it was declared on. Who is master of a group is
   asked whenever it matters (leading.py).
2. Where the cluster's word is wanted, every name server's is taken together: one that hangs or was
   cut off shows less than others, or what was.
3. RocketMQ closes no connection that somebody asks it to close: who left is gone when the kernel
   says so.
4. A SYNC_MASTER confirms nothing until its slave has reported, up to 5 s after it connected
   (docs/behaviour/rocketmq.md 6). The load begins later: clients that send again what was not
   confirmed would have it delivered twice.
5. Deleting what is not there (any more) is no error, nor is a slave's refusal: it copies what its
   master has.
6. On a cluster that somebody else runs the trial messages of rule 4 go to a topic of the run's.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeGuard, TypeVar

from harness.cluster.polling import until
from harness.cluster.port import DeployError, Health, Roles
from harness.plan.model import Layout
from harness.systems.rocketmq.api import ASK_LIMIT_S, QUICK_LIMIT_S, RocketApi
from harness.systems.rocketmq.core import cluster_state
from harness.systems.rocketmq.core.layout import (
    ServerProcess,
    home,
    own,
    servers,
    topic_of,
)
from harness.systems.rocketmq.leading import Leading
from harness.workers.clients.rocketmq.options import group
from harness.workers.remoting import answers, client_requests, requests
from harness.workers.remoting.commands import Command
from harness.workers.remoting.errors import RequestRefused, WireError
from harness.workers.remoting.requests import RemotingAnswer, Request, TopicQueue
from harness.workers.remoting.routes import View
from harness.workers.remoting.tables import Topic

VERSION = "rocketmq"  # its name among the versions that a run records
QUEUES = 4  # of a topic on each group
DECLARE_SPARE_S = 35.0  # beside the time in which a slave copies its master's topics
VERSION_LIMIT_S = 20.0
REPORTED_LIMIT_S = 15.0  # of slaves that connect; one that is down is not waited for any longer
TRIAL = TopicQueue("BenchmarkTest", 0)  # of a topic that every broker has
OWN_TRIAL = "_TRIAL"  # behind a topic's name: no scenario's queue has capitals in its name
UNREPORTED = (RemotingAnswer.SLAVE_NOT_AVAILABLE, RemotingAnswer.FLUSH_SLAVE_TIMEOUT)
CATCH_UP_LIMIT_S = 1.0  # so long a slave may take to hold what its master held
READERS = "readers"
_NOT_COPIED = (
    "; a slave copies its master's topics: with access control the master needs the addresses of "
    "its slaves in globalWhiteRemoteAddresses"
)
Read = TypeVar("Read")


class RocketBroker:
    """port.Broker."""

    cannot_answer: frozenset[str] = frozenset()

    def __init__(self, layout: Layout, api: RocketApi, leading: Leading) -> None:
        self._is_ours = layout.topology is None
        self._layout = layout
        self._api = api
        self._leading = leading
        self._servers = servers(layout.hosts)
        self._homes: dict[str, str] = {}  # topic -> group

    @property
    def _copied_every_s(self) -> int:
        return own(self._layout).copied_every_s

    @property
    def _brokers(self) -> list[ServerProcess]:
        return [one for one in self._servers if one.is_broker]

    @property
    def _name_servers(self) -> list[ServerProcess]:
        return [one for one in self._servers if one.is_name_server]

    async def declare(
        self,
        queue: str,
        durable: bool,  # noqa: ARG002  (the port's)
        host: str,
        max_priority: int = 0,
    ) -> None:
        """Whatever a log holds is on its disk: there is no other kind of topic."""
        assert not max_priority, "no client of it can do priorities"
        topic = topic_of(queue)
        self._homes[topic] = home(self._layout.hosts, host)
        brokers = await self._leading.now()
        if leaderless := cluster_state.without_master(brokers):
            raise DeployError(f"topic {topic}: no leader in {', '.join(leaderless)}")
        masters = cluster_state.masters_of(brokers)
        trial = TRIAL if self._is_ours else TopicQueue(f"{topic}{OWN_TRIAL}", 0)
        if not self._is_ours:
            await self._create(masters, requests.create_topic(trial.topic, 1))
        await self._create(masters, requests.create_topic(topic, QUEUES))
        limit_s = DECLARE_SPARE_S + self._copied_every_s
        missing = await until(lambda: self._without(topic), lambda found: not found, limit_s)
        if missing:
            names = ", ".join(missing)
            hint = "" if self._is_ours else _NOT_COPIED
            raise DeployError(f"{topic} is still missing on {names} after {limit_s:g} s{hint}")
        await until(
            lambda: self._unreported(masters, trial), lambda found: not found, REPORTED_LIMIT_S
        )

    async def _create(self, masters: Sequence[ServerProcess], create: Request) -> None:
        for server, answer in (await self._api.ask_each(masters, create)).items():
            if answer is None or answer.header.code != RemotingAnswer.SUCCESS:
                reply = "nothing" if answer is None else answer.header.remark or answer.header.code
                raise DeployError(f"{server.process} refused {create.words}: it said {reply}")

    async def roles(self, queue: str) -> Roles:
        brokers, views = await asyncio.gather(
            self._leading.now(), self._views(requests.route(topic_of(queue)), answers.route)
        )
        shown = [view for view in views.values() if view is not None]
        if not shown:
            raise DeployError(f"no name server reports who holds topic {topic_of(queue)}")
        held = cluster_state.holders(self.home_of(queue), brokers, shown)
        masters = cluster_state.masters_of(held)
        slaves = [one for one in held if one not in masters]
        synchronised = await self._in_sync(masters[0], slaves) if masters else []
        return cluster_state.roles_of(held, synchronised)

    async def masters(self, queue: str) -> dict[str, bool | None]:
        """Of the brokers of the topic's home, by their own configuration."""
        holders = [one for one in self._brokers if one.group == self.home_of(queue)]
        request = Request(requests.Code.GET_BROKER_CONFIG, "its configuration")
        replies = await self._api.ask_each(holders, request)
        return {
            server.host: None if answer is None else cluster_state.claims(answer.body.decode())
            for server, answer in replies.items()
        }

    async def held(self, queue: str, host: str) -> int | None:  # noqa: ARG002  (the port's)
        """Return None: no broker counts the messages of a topic that are not consumed yet."""
        return None

    async def members(self, host: str) -> tuple[str, ...]:
        raise DeployError(f"{host} is in no cluster whose members it could report")

    async def policy(self, name: str) -> dict[str, Any] | None:
        raise DeployError(f"no policy {name}: topics are copied as brokers are configured")

    async def controller(self) -> str:
        return await self._leading.controller()

    async def connections(self, prefix: str, close: bool) -> tuple[str, ...]:
        """Return it by the masters that answer, and the slaves of the others; one must answer.
        Raise DeployError if one of these no longer answers.

        A broker that was frozen reads heartbeats of clients that have left since, and lists them
        until they were silent for two minutes. Only consumers on a master's list hold messages
        back, so only these count if closing would be the last resort.
        """
        answering = await self._topics(await self._leading.now())
        if not answering:
            raise DeployError("no broker reports which topics it has")
        topics = cluster_state.deciding(answering)
        beginning = topic_of(prefix)
        named = {one for found in topics.values() for one in found if one.startswith(beginning)}
        readers = {group(topic, READERS) for topic in named}
        known = await asyncio.gather(*map(self._groups, topics))
        # Of several consumer groups each has one of its own (clients/rocketmq/options.py).
        own = tuple(f"{one}_" for one in readers)
        readers |= {one for found in known for one in found if one.startswith(own)}
        questions = [(requests.consumers(one), cluster_state.consumers) for one in sorted(readers)]
        if not close:
            questions.append((requests.producers(), cluster_state.producers))
        found = await asyncio.gather(
            *(self._listed(server, *question) for server in topics for question in questions)
        )
        return tuple(sorted({name for one in found for name in one if name.startswith(prefix)}))

    async def delete(self, prefix: str) -> None:
        """Of masters first: a slave copies what they have."""
        beginning = topic_of(prefix)
        gone: set[str] = set()
        brokers = await self._leading.now()
        masters = cluster_state.masters_of(brokers)
        for chosen in (masters, [one for one in brokers if one not in masters]):
            for server, topics in (await self._topics(chosen)).items():
                named = cluster_state.of_runs(topics, beginning)
                gone.update(named)
                await self._send_orders(server, map(requests.delete_topic, named))
                with suppress(DeployError):  # it has just stopped answering
                    groups = cluster_state.of_runs(await self._groups(server), beginning)
                    await self._send_orders(server, map(requests.delete_group, groups))
        for server in self._name_servers:
            await self._send_orders(server, map(requests.delete_route, sorted(gone)))

    async def queues(self, prefix: str) -> tuple[str, ...]:
        """Return the names of topics that begin so, of all brokers that answer."""
        found = await self._topics(await self._leading.now())
        if not found:
            raise DeployError("no broker reports which topics it has")
        every = {topic for topics in found.values() for topic in topics}
        return cluster_state.of_runs(every, topic_of(prefix))

    # --- further queries to a running cluster ----------------------------------------------------

    async def greets(self, host: str) -> bool:
        """Whether all servers of the host answer."""
        own = [one for one in self._servers if one.host == host]
        return all(await asyncio.gather(*map(self._api.greets, own)))

    async def listed(self, place: str) -> bool:
        """Return whether every name server that answers shows the brokers of a place.

        The place is a host, or a process of one (faults/core/places.py). Name servers there must
        answer, and show all brokers that others show: one that was restarted knows no broker until
        brokers register again.
        """
        views = await self._views(requests.cluster_info(), answers.cluster)
        shown = [view for view in views.values() if view is not None]
        if not shown:
            raise DeployError(f"no name server reports whether {place} is listed")
        own = cluster_state.at(place, self._servers)
        own_views = [views[one] for one in own if one.is_name_server]
        if not all(
            view is not None and cluster_state.shows_all(view, shown) for view in own_views
        ):
            return False
        return all(
            cluster_state.lists(view, [one for one in own if one.is_broker]) for view in shown
        )

    async def health(self, limit_s: float) -> Health:
        """As port.Cluster.health says."""
        return await until(self._look, lambda health: health.clean, limit_s)

    async def set_policies(self) -> None:
        """It has none."""

    async def versions(self) -> dict[str, str]:
        """As brokers tell them: `V4_9_7` is 4.9.7."""
        found = await until(self._versions, bool, VERSION_LIMIT_S)
        if not found:
            raise DeployError(f"no broker reported its version within {VERSION_LIMIT_S:g} s")
        return {VERSION: ", ".join(sorted(found))}

    async def _versions(self) -> set[str]:
        replies = await self._read_each(self._brokers, requests.runtime_info(), answers.runtime)
        tables = [table for table in replies.values() if table is not None]
        return set(map(version_of, tables))

    # --- questions -------------------------------------------------------------------------------

    async def _look(self) -> Health:
        views = await self._views(requests.cluster_info(), answers.cluster)
        brokers = await self._leading.now()
        masters = cluster_state.masters_of(brokers)
        ends = await self._ends(masters)
        # Later: what a master wrote since is not missed.
        ends |= await self._ends([one for one in brokers if one not in masters])
        found = (*cluster_state.doubts(brokers, views, ends), *await self._leading.doubts())
        return Health(clean=not found, doubts=found)

    async def _in_sync(
        self, master: ServerProcess, slaves: Sequence[ServerProcess]
    ) -> list[ServerProcess]:
        reported = await self._leading.in_sync(master, slaves)
        return await self._caught_up(master, slaves) if reported is None else reported

    async def _caught_up(
        self, master: ServerProcess, slaves: Sequence[ServerProcess]
    ) -> list[ServerProcess]:
        """The slaves that hold what the master holds now, or soon do."""
        wanted = (await self._ends([master], QUICK_LIMIT_S))[master]
        if wanted is None or not slaves:
            return []

        async def look() -> list[ServerProcess]:
            ends = await self._ends(slaves, QUICK_LIMIT_S)
            return [one for one in slaves if (ends[one] or 0) >= wanted]

        return await until(look, lambda found: len(found) == len(slaves), CATCH_UP_LIMIT_S)

    async def _unreported(
        self, masters: Iterable[ServerProcess], trial: TopicQueue
    ) -> list[ServerProcess]:
        """Send a message to each master; return those that wait in vain for their slave."""
        now_ms = time.time_ns() // 1_000_000
        message = client_requests.send(READERS, trial, b"mqproof", {}, now_ms)
        replies = await self._api.ask_each(masters, message)
        return [
            server
            for server, answer in replies.items()
            if answer is not None and answer.header.code in UNREPORTED
        ]

    async def _without(self, topic: str) -> tuple[str, ...]:
        """The servers that do not know a topic as they should."""
        wanted = {one.group for one in self._brokers}
        views = await self._views(requests.route(topic), answers.route)
        topics = await self._read_each(self._brokers, requests.topic_configs(), answers.topics)
        missing = [
            server
            for server, view in views.items()
            if view is None or {one.broker for one in view.queues} != wanted
        ]
        missing += [
            server
            for server, found in topics.items()
            if found is None or topic not in _names(found)
        ]
        return tuple(f"{one.process} of {one.host}" for one in missing)

    async def _topics(
        self, chosen: Sequence[ServerProcess]
    ) -> dict[ServerProcess, tuple[str, ...]]:
        """Names of topics, of the brokers that answer."""
        replies = await self._read_each(chosen, requests.topic_configs(), answers.topics)
        return {server: _names(topics) for server, topics in replies.items() if topics is not None}

    async def _groups(self, server: ServerProcess) -> tuple[str, ...]:
        return await self._listed(server, requests.subscription_groups(), cluster_state.groups)

    async def _listed(
        self, server: ServerProcess, request: Request, read: Callable[[bytes], tuple[str, ...]]
    ) -> tuple[str, ...]:
        """Return the names; none if the broker refuses, as it does of a group that it does not
        know. Raise DeployError without an answer, or if it is not understood."""
        answer = await self._api.ask(server, request)
        named = f"{server.process} of {server.host}"
        if answer is None:
            raise DeployError(f"{named} does not answer: {request.words}")
        try:
            return read(answer.body) if _done(answer) else ()
        except WireError as error:
            raise DeployError(f"{named} gave no answer that can be read: {error}") from error

    async def _send_orders(self, server: ServerProcess, orders: Iterable[Request]) -> None:
        for order in orders:
            await self._api.ask(server, order)

    async def _ends(
        self, chosen: Sequence[ServerProcess], limit_s: float = ASK_LIMIT_S
    ) -> dict[ServerProcess, int | None]:
        replies = await self._read_each(chosen, requests.runtime_info(), answers.log, limit_s)
        return {server: None if log is None else log[1] for server, log in replies.items()}

    async def _views(
        self, request: Request, read: Callable[[Request, Command], View]
    ) -> dict[ServerProcess, View | None]:
        return await self._read_each(self._name_servers, request, read)

    async def _read_each(
        self,
        chosen: Iterable[ServerProcess],
        request: Request,
        read: Callable[[Request, Command], Read],
        limit_s: float = ASK_LIMIT_S,
    ) -> dict[ServerProcess, Read | None]:
        """Return the results; None without an answer, or if it is not understood."""

        def understood(answer: Command | None) -> Read | None:
            try:
                return None if answer is None else read(request, answer)
            except (RequestRefused, WireError):
                return None

        replies = await self._api.ask_each(chosen, request, limit_s=limit_s)
        return {server: understood(answer) for server, answer in replies.items()}

    # --- where a topic is at home ----------------------------------------------------------------

    def home_of(self, queue: str) -> str:
        """Its group. Of a topic that somebody else declared, the layout's first."""
        topic = topic_of(queue)
        return self._homes.get(topic) or home(self._layout.hosts, "")


def version_of(runtime: Mapping[str, str]) -> str:
    """Return it as brokers tell it in their runtime info. Raise KeyError."""
    return runtime["brokerVersionDesc"].removeprefix("V").replace("_", ".")


def _names(topics: Iterable[Topic]) -> tuple[str, ...]:
    return tuple(one.name for one in topics)


def _done(answer: Command | None) -> TypeGuard[Command]:
    return answer is not None and answer.header.code == RemotingAnswer.SUCCESS
