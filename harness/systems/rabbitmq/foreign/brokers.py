"""An external cluster, by RabbitMQ's management API: foreign.ForeignBrokers.

Its nodes have any names. Contradictions use those; everything else uses the hosts of the file.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace

from harness.cluster.agent import AgentError
from harness.cluster.port import DeployError
from harness.cluster.started_clients import OURS
from harness.plan.model import Layout
from harness.plan.problems import Problem
from harness.systems.foreign import Access, Examined
from harness.systems.rabbitmq.api import (
    FEATURE_FLAGS,
    NODES,
    OVERVIEW,
    QUEUES,
    ManagementApi,
    Reply,
)
from harness.systems.rabbitmq.broker import VERSION, RabbitBroker, versions_in
from harness.systems.rabbitmq.core import cluster_state
from harness.systems.rabbitmq.core.queues import QueueKind
from harness.systems.rabbitmq.foreign.core import looks
from harness.systems.rabbitmq.foreign.core.own import node_names, own
from harness.systems.rabbitmq.foreign.rights import ACCESS_REFUSED, TRIED, missing, permitted
from harness.systems.rabbitmq.held import by_nobody

TRIAL = "harness.workers.agent_calls.amqp_trial:trial"  # the agent imports it
TRIAL_LIMIT_S = 5.0
TICKS = "/api/nodes?columns=name,net_ticktime"


class ForeignRabbits:
    """`layout`: the access's topology, as runs know it. `kind`: of runs' queues."""

    def __init__(self, access: Access, layout: Layout, kind: QueueKind) -> None:
        self._access = access
        self._layout = layout
        self._kind = _declared(kind)
        topology = self._topology = access.topology
        ways = {one.host: (one.address, one.port) for one in topology.brokers}
        self._plain = self._api({})
        api = self._api(node_names(topology))
        self.broker = RabbitBroker(
            layout, access.agent, ways, api, self._kind, by_nobody, access.ours
        )

    def _api(self, nodes: Mapping[str, str]) -> ManagementApi:
        return ManagementApi(
            self._access.agent,
            own(self._topology).management,
            self._access.login,
            nodes,
            self._kind.ask_limit_s,
            self._topology.virtual_host,
        )

    async def refusals(self) -> tuple[Problem, ...]:
        """By the overview, which any user with a tag may see, and the virtual host's queues."""
        for path in (OVERVIEW, QUEUES):
            replies = await self._plain.ask_all(path)
            statuses = {host: one.status if one else None for host, one in replies.items()}
            if found := looks.refused(self._topology, statuses, path == QUEUES):
                return found
        return tuple(looks.lacks_tag(self._topology, text) for text in await self._missing())

    async def rights(self) -> tuple[Problem, ...]:
        _, refused, detail = await self._trial()
        row = permitted(self._topology, refused, detail)
        if row.problem is not None:
            return (row.problem,)
        if not refused or ACCESS_REFUSED not in detail:
            return ()
        return (looks.lacks_right(self._topology, row.found, row.remedy),)

    async def contradictions(self) -> tuple[str, ...]:
        return tuple(one.found for one in await self._contradicted())

    async def examined(self) -> AsyncIterator[Examined]:
        for host, reply in (await self._plain.ask_all(OVERVIEW)).items():
            yield self._overview(host, reply)
        rights = await self._missing()
        try:
            found = await self._contradicted()
        except DeployError as error:
            yield Examined("cluster", str(error), "; ".join(rights) or "see the rows above")
            return
        for doubt in rights:
            yield Examined("rights", doubt, looks.tags_command(self._topology))
        for one in found:
            yield one
        if found:
            return
        if refused := await self.refusals():
            found_there = "; ".join(one.text for one in refused)
            yield Examined("virtual host", found_there, looks.virtual_host_remedy(self._topology))
            return
        yield await self._tried()
        yield await self._state()

    async def remove_queues(self) -> None:
        prefixes = tuple(self._access.ours())
        for prefix in prefixes:
            await self.broker.delete(prefix)
        left = [name for name in await self.broker.queues(OURS) if name.startswith(prefixes)]
        if left:
            raise DeployError(f"queues are left: {', '.join(left)}")

    async def remove_settings(self) -> None:
        if self._topology.own.sets:
            await self.broker.remove_policies()

    async def _tried(self) -> Examined:
        reason, refused, detail = await self._trial()
        if reason:
            return Examined(TRIED, f"could not be tried: {reason}", "see the rows above")
        return permitted(self._topology, refused, detail)

    async def _trial(self) -> tuple[str, str, str]:
        """Try what a run does with a queue, at the first broker that takes the user. Return why
        that was not possible; the step that was refused, and the broker's words. "": none."""
        reason = "there is no broker"
        for one in self._topology.brokers:
            try:
                answer = await self._access.agent.call(
                    TRIAL,
                    TRIAL_LIMIT_S,
                    host=one.address,
                    port=one.port,
                    arguments=dict(self._kind.arguments(self._layout)),
                )
            except AgentError as error:
                reason = str(error)
                continue
            refused, detail = str(answer["refused"]), str(answer["detail"])
            if refused:  # a queue that is not exclusive is still there
                await self.broker.delete(str(answer["queue"]))
            return "", refused, detail
        return reason, "", ""

    async def _contradicted(self) -> tuple[Examined, ...]:
        """What contradicts the file. Raise DeployError if no API answers."""
        nodes, ticks, overviews, flags = await asyncio.gather(
            self._plain.first(NODES),
            self._plain.first(TICKS),
            self._plain.bodies(OVERVIEW),
            self._plain.bodies(FEATURE_FLAGS),
        )
        topology = self._topology
        differing = [*looks.strangers(topology, nodes), *looks.ticks(topology, ticks)]
        reported = {host: versions_in(one).get(VERSION, "") for host, one in overviews.items()}
        impossible = looks.versioned(topology, self._access.versions, reported)
        unhandled = looks.unhandled(topology, flags, reported)
        rows = (
            Examined("cluster", "; ".join(differing), looks.AS_IT_IS),
            Examined("version", "; ".join(impossible), looks.OTHER_SYSTEM),
            Examined("metadata store", "; ".join(unhandled), looks.NO_HANDLING),
        )
        return tuple(one for one in rows if one.found)

    async def _missing(self) -> tuple[str, ...]:
        return await missing(self._topology, self._plain)

    async def _state(self) -> Examined:
        """Of a cluster that is the file's: whether a run could begin on it."""
        answers = await self.broker.api.bodies(NODES)
        # No queue there is a run's.
        found = cluster_state.doubts(self._layout, answers, {}, self._kind.doubts)
        count = len(self._topology.brokers)
        text = "; ".join(found) or f"{count} nodes run, no partition, no alarm"
        return Examined("cluster", text, "a run begins on a clean cluster" if found else "")

    def _overview(self, host: str, reply: Reply | None) -> Examined:
        what, url = f"{host}: management", own(self._topology).management[host]
        if reply is None:
            remedy = "is its plugin enabled, and the URL right?"
            return Examined(what, f"{url} does not answer", remedy)
        if reply.status != 200:
            found = f"{url} answers {reply.status}"
            return Examined(what, found, looks.overview_remedy(self._topology, reply.status))
        version = versions_in(reply.body).get(VERSION, "of an unknown version")
        return Examined(what, f"{url}, RabbitMQ {version}", "")


def _declared(kind: QueueKind) -> QueueKind:
    """The kind of queue, with the arguments that the file declares."""

    def arguments(layout: Layout) -> dict[str, str | int]:
        assert layout.topology is not None, "an external cluster has one"
        return {**kind.arguments(layout), **dict(own(layout.topology).arguments)}

    return replace(kind, arguments=arguments)
