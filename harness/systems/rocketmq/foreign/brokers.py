"""An external cluster, by its name servers and brokers: foreign.ForeignBrokers."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from functools import partial

from harness.cluster.polling import until
from harness.cluster.port import DeployError
from harness.plan.model import Layout
from harness.plan.problems import Problem
from harness.systems.foreign import Access, Examined
from harness.systems.rocketmq.api import RocketApi
from harness.systems.rocketmq.broker import RocketBroker, version_of
from harness.systems.rocketmq.core import cluster_state
from harness.systems.rocketmq.core.layout import ServerProcess
from harness.systems.rocketmq.foreign.core import looks
from harness.systems.rocketmq.foreign.core.looks import Found
from harness.systems.rocketmq.foreign.core.own import own
from harness.systems.rocketmq.foreign.trial import tried
from harness.systems.rocketmq.leading import Leading
from harness.workers.remoting import answers, requests
from harness.workers.remoting.commands import Command
from harness.workers.remoting.errors import RequestRefused, WireError
from harness.workers.remoting.requests import Code, RemotingAnswer, Request
from harness.workers.remoting.routes import View

GONE_LIMIT_S = 25.0  # a slave may copy what its master still had, and copies again after 10 s
_ACCOUNT = "the keys of an account that the brokers' access control admits"
Leads = Callable[[Layout, RocketApi], Leading]


class ForeignRockets:
    """`layout`: the access's topology, as runs know it. `leads`: who reports the masters."""

    def __init__(self, access: Access, layout: Layout, leads: Leads) -> None:
        self._access = access
        self._layout = layout
        topology = self._topology = access.topology
        self._api = RocketApi(access.agent, {one.host: one.address for one in topology.nodes})
        self._leading = leads(layout, self._api)
        self.broker = RocketBroker(layout, self._api, self._leading)
        self._servers = own(topology).servers

    @property
    def _brokers(self) -> list[ServerProcess]:
        return [one for one in self._servers if one.is_broker]

    @property
    def _name_servers(self) -> list[ServerProcess]:
        return [one for one in self._servers if one.is_name_server]

    async def refusals(self) -> tuple[Problem, ...]:
        refused = await self._refused()
        return tuple(
            self._problem(f"{host} refuses requests: {why}", looks.key_remedy(self._topology))
            for host, why in refused.items()
        )

    async def rights(self) -> tuple[Problem, ...]:
        """A topic is listed for a while after its deletion, so it is tried only where brokers have
        access control."""
        if not self._topology.variables:
            return ()
        try:
            row = await self._tried()
        except DeployError:
            return ()
        return (self._problem(row.found, row.remedy),) if row.refused else ()

    def _problem(self, text: str, remedy: str) -> Problem:
        place = self._topology.place("[credentials]")
        return Problem(place, text, expected=_ACCOUNT, advice=remedy)

    async def _tried(self) -> Examined:
        masters = cluster_state.masters_of(await self._leading.now())
        return await tried(self._topology, self._api, masters, self._name_servers)

    async def _refused(self) -> dict[str, str]:
        """Return why, by host. Every broker answers this request if access control lets it."""
        replies = await self._api.ask_each(self._brokers, requests.topic_configs())
        return {
            one.host: why
            for one, answer in replies.items()
            if answer is not None and (why := looks.denied(answer))
        }

    async def contradictions(self) -> tuple[str, ...]:
        return tuple(one.text for one in await self._found())

    async def examined(self) -> AsyncIterator[Examined]:
        try:
            found = await self._found()
            views = await self._views()
            for server, view in views.items():
                yield _shown(server, view)
            for one in found:
                yield Examined("cluster", one.text, one.remedy)
            if found or await self._refused():
                return  # who refuses has a row of its own: door.py
            yield await self._tried()
            yield await self._state()
        except DeployError as error:
            yield Examined("cluster", str(error), "see the rows above")

    async def remove_queues(self) -> None:
        for prefix in tuple(self._access.ours()):
            await self.broker.delete(prefix)
            listed = partial(self.broker.queues, prefix)
            left = await until(listed, lambda found: not found, GONE_LIMIT_S)
            if left:
                raise DeployError(f"topics are left: {', '.join(left)}")

    async def remove_settings(self) -> None:
        """None was made."""

    async def _found(self) -> tuple[Found, ...]:
        """Everything that contradicts the file. Raise DeployError where no name server answers."""
        views, settings, versions = await asyncio.gather(
            self._views(), self._settings(), self._versions()
        )
        if not any(view is not None for view in views.values()):
            ways = ", ".join(f"{one.host} ({one.advertised})" for one in views)
            raise DeployError(f"no name server answers: {ways}; start one, or correct `address`")
        found = [*looks.brokers_shown(self._topology, views)]
        for server, table in settings.items():
            found += looks.configured(self._topology, server, table)
        for server, version in versions.items():
            found += looks.versioned(self._topology, server, version)
        return tuple(found)

    async def _views(self) -> dict[ServerProcess, View | None]:
        request = requests.cluster_info()
        replies = await self._api.ask_each(self._name_servers, request)
        return {server: _view(request, answer) for server, answer in replies.items()}

    async def _settings(self) -> dict[ServerProcess, dict[str, str]]:
        request = Request(Code.GET_BROKER_CONFIG, "its configuration")
        replies = await self._api.ask_each(self._brokers, request)
        return {
            server: looks.settings_of(answer.body.decode(errors="replace"))
            for server, answer in _done(replies)
        }

    async def _versions(self) -> dict[ServerProcess, str]:
        request = requests.runtime_info()
        replies = await self._api.ask_each(self._brokers, request)
        found = {}
        for server, answer in _done(replies):
            try:
                found[server] = version_of(answers.runtime(request, answer))
            except (RequestRefused, WireError, KeyError):
                continue  # what a broker does not report is no contradiction
        return found

    async def _state(self) -> Examined:
        """Whether a run could begin."""
        health = await self.broker.health(0.0)
        count = len(self._brokers)
        well = f"{count} brokers at every name server; every slave has what its master has"
        remedy = "" if health.clean else "a run begins on a clean cluster"
        return Examined("cluster", "; ".join(health.doubts) or well, remedy)


def _view(request: Request, answer: Command | None) -> View | None:
    try:
        return None if answer is None else answers.cluster(request, answer)
    except (RequestRefused, WireError):
        return None


def _shown(server: ServerProcess, view: View | None) -> Examined:
    what = f"{server.host}: brokers"
    if view is None:
        remedy = "start it, or correct `address` of its [[name_server]] table"
        return Examined(
            what, f"{server.advertised} does not report which brokers there are", remedy
        )
    return Examined(what, str(view), "")


def _done(
    replies: Mapping[ServerProcess, Command | None],
) -> Iterable[tuple[ServerProcess, Command]]:
    return (
        (server, answer)
        for server, answer in replies.items()
        if answer is not None and answer.header.code == RemotingAnswer.SUCCESS
    )
