"""An external cluster, by RabbitMQ's management API: foreign.ForeignBrokers.

Its nodes have any names. Contradictions use those; everything else uses the hosts of the file.
"""

import asyncio
from collections.abc import AsyncIterator

from harness.cluster.agent import AgentError
from harness.cluster.port import DeployError
from harness.cluster.started_clients import OURS
from harness.plan.model import Layout
from harness.systems.foreign import Access, Examined
from harness.systems.rabbitmq import cluster_state
from harness.systems.rabbitmq.api import NODES, OVERVIEW, ManagementApi, Reply
from harness.systems.rabbitmq.broker import RabbitBroker
from harness.systems.rabbitmq.foreign import looks
from harness.systems.rabbitmq.foreign.own import node_names, own
from harness.systems.rabbitmq.foreign.rights import TRIED, missing, permitted
from harness.systems.rabbitmq.held import by_nobody
from harness.systems.rabbitmq.queues import MIRRORED

TRIAL = "harness.workers.agent_calls.amqp_trial:trial"  # the agent imports it
TRIAL_LIMIT_S = 5.0
TICKS = "/api/nodes?columns=name,net_ticktime"


class ForeignRabbits:
    """`layout`: the access's topology, as runs know it."""

    def __init__(self, access: Access, layout: Layout) -> None:
        self._access = access
        self._layout = layout
        topology = self._topology = access.topology
        urls = own(topology).management
        ways = {one.host: (one.address, one.port) for one in topology.brokers}
        self._plain = ManagementApi(access.agent, urls, access.login)
        api = ManagementApi(access.agent, urls, access.login, node_names(topology))
        self.broker = RabbitBroker(
            layout, access.agent, ways, api, MIRRORED, by_nobody, access.ours
        )

    async def refusals(self) -> tuple[str, ...]:
        answers = await self._plain.ask_all(OVERVIEW)
        statuses = {
            host: None if reply is None else reply.status for host, reply in answers.items()
        }
        return looks.refused(self._topology, statuses) or await self._missing()

    async def contradictions(self) -> tuple[str, ...]:
        nodes, ticks = await asyncio.gather(self._plain.first(NODES), self._plain.first(TICKS))
        return (*looks.strangers(self._topology, nodes), *looks.ticks(self._topology, ticks))

    async def examined(self) -> AsyncIterator[Examined]:
        for host, reply in (await self._plain.ask_all(OVERVIEW)).items():
            yield self._overview(host, reply)
        rights = await self._missing()
        try:
            found = await self.contradictions()
        except DeployError as error:
            yield Examined("cluster", str(error), "; ".join(rights) or "see the rows above")
            return
        for doubt in rights:
            yield Examined("rights", doubt, "`rabbitmqctl set_user_tags` gives it")
        if found:
            remedy = "mend the file: name every node as it is"
            yield Examined("cluster", "; ".join(found), remedy)
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
        """What a run does with a queue, tried at the first broker that takes the user."""
        reason = "there is no broker"
        for one in self._topology.brokers:
            try:
                answer = await self._access.agent.call(
                    TRIAL, TRIAL_LIMIT_S, host=one.address, port=one.port
                )
            except AgentError as error:
                reason = str(error)
                continue
            return permitted(self._topology, str(answer["refused"]), str(answer["detail"]))
        return Examined(TRIED, f"could not be tried: {reason}", "see the rows above")

    async def _missing(self) -> tuple[str, ...]:
        return await missing(self._topology, self._plain)

    async def _state(self) -> Examined:
        """Of a cluster that is the file's: whether a run could begin on it."""
        answers = await self.broker.api.bodies(NODES)
        # No queue there is a run's.
        found = cluster_state.doubts(self._layout, answers, {}, MIRRORED.doubts)
        count = len(self._topology.brokers)
        text = "; ".join(found) or f"{count} nodes run, no partition, no alarm"
        return Examined("cluster", text, "a run begins on a clean cluster" if found else "")

    def _overview(self, host: str, reply: Reply | None) -> Examined:
        what, url = f"{host}: management", own(self._topology).management[host]
        if reply is None:
            remedy = "is its plugin enabled, and the URL right?"
            return Examined(what, f"{url} does not answer", remedy)
        if reply.status != 200:
            names = " and ".join(f"${name}" for name in self._topology.variables)
            remedy = f"what {names} hold must be a user with the tag `monitoring`"
            return Examined(what, f"{url} answers {reply.status}", remedy)
        version = reply.body.get("rabbitmq_version", "of an unknown version")
        return Examined(what, f"{url}, RabbitMQ {version}", "")
