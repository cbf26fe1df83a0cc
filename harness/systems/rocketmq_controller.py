"""RocketMQ 5 whose masters are elected by controllers, of two brokers a group.

1. A controller leads that says so, and whom a majority of the controllers names: one that stood
   still goes on to take itself for the leader.
2. Name servers show a master with the id 0, and a slave with the one that a controller gave it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from faults.core.places import place
from harness.plan.model import Layout
from harness.systems.containers import ClusterAdapters, Stand
from harness.systems.rocketmq.api import QUICK_LIMIT_S, RocketApi, votes
from harness.systems.rocketmq.broker import RocketBroker
from harness.systems.rocketmq.containers import rocketmq_containers
from harness.systems.rocketmq.core.controlled import (
    REPLICATED,
    ControllerLayoutFile,
    configuration,
    controller,
    controller_guarantees,
    controller_servers,
    controllers,
)
from harness.systems.rocketmq.core.layout import MASTER_ID, ServerProcess, brokers
from harness.systems.rocketmq.core.services import services
from harness.systems.rocketmq.declaration import rocketmq_declaration
from harness.systems.rocketmq.no_operator import NoOperator
from harness.systems.rocketmq.parts import api_of, parts_of
from harness.workers.remoting import answers, requests
from harness.workers.remoting.errors import RequestRefused, WireError
from harness.workers.remoting.leaders import Controllers, SyncState

NOT_KNOWN = -1  # the id of a broker that controllers do not know
States = Mapping[str, SyncState]  # by group
# By the server that is a controller or has one in it; None: it did not answer.
ControllerAnswers = Mapping[ServerProcess, Controllers | None]


class ControllersWord:
    """leading.Leading."""

    def __init__(self, layout: Layout, api: RocketApi) -> None:
        self._brokers = brokers(layout.hosts)
        self._ids = {one: controller(layout, one) for one in controllers(layout.hosts)}
        self._api = api

    async def now(self) -> tuple[ServerProcess, ...]:
        states = await self._states(await self._ask_controllers())
        return tuple(shown(one, states) for one in self._brokers)

    async def in_sync(
        self, master: ServerProcess, slaves: Sequence[ServerProcess]
    ) -> list[ServerProcess] | None:
        """Return the SyncStateSet; no slave if no controller reports it."""
        states = await self._states(await self._ask_controllers())
        state = states.get(master.group)
        return [] if state is None else [one for one in slaves if has_in_sync(state, one)]

    async def controller(self) -> str:
        leader = leader_of(await self._ask_controllers(), self._ids)
        return "" if leader is None else place(leader.host, leader.process)

    async def doubts(self) -> tuple[str, ...]:
        controllers = await self._ask_controllers()
        states = await self._states(controllers)
        return (*_controllers_doubts(controllers), *_broker_doubts(self._brokers, states))

    async def _ask_controllers(self) -> dict[ServerProcess, Controllers | None]:
        request = requests.controllers()
        replies = await self._api.ask_each(self._ids, request, votes, QUICK_LIMIT_S)
        found: dict[ServerProcess, Controllers | None] = dict.fromkeys(replies)
        for server, answer in replies.items():
            if answer is not None:
                try:
                    found[server] = answers.controllers(request, answer)
                except (RequestRefused, WireError):
                    continue
        return found

    async def _states(self, controllers: ControllerAnswers) -> States:
        """Return states by group; none if no controller leads."""
        leader = leader_of(controllers, self._ids)
        if leader is None:
            return {}
        request = requests.sync_states({one.group for one in self._brokers})
        answer = await self._api.ask(leader, request, votes, QUICK_LIMIT_S)
        try:
            return {} if answer is None else answers.sync_states(request, answer)
        except (RequestRefused, WireError):
            return {}


def leader_of(
    controllers: ControllerAnswers, ids: Mapping[ServerProcess, str]
) -> ServerProcess | None:
    """The controller that leads, or the name server that it is in."""
    named = [answer.leader for answer in controllers.values() if answer is not None]
    for server, answer in controllers.items():
        if answer is not None and answer.leads and 2 * named.count(ids[server]) > len(ids):
            return server
    return None


def shown(one: ServerProcess, states: States) -> ServerProcess:
    """With the id that name servers are to show."""
    state = states.get(one.group)
    if state is None:
        return replace(one, id=NOT_KNOWN)
    if state.master == one.advertised:
        return replace(one, id=MASTER_ID)
    ids = {replica.address: replica.id for replica in (*state.in_sync, *state.others)}
    return replace(one, id=ids.get(one.advertised, NOT_KNOWN))


def has_in_sync(state: SyncState, one: ServerProcess) -> bool:
    return any(replica.address == one.advertised for replica in state.in_sync)


def _controllers_doubts(controllers: ControllerAnswers) -> Iterator[str]:
    for server, answer in controllers.items():
        if answer is None:
            yield f"the controller of {server.host} does not answer"
    if not any(answer is not None and answer.leads for answer in controllers.values()):
        yield "no controller leads"


def _broker_doubts(brokers: Iterable[ServerProcess], states: States) -> Iterator[str]:
    for one in brokers:
        state = states.get(one.group)
        if state is None:
            yield f"no controller reports {one.process}"
        elif not has_in_sync(state, one):
            yield f"{one.process} of {one.host} is not in the SyncStateSet"


def controller_parts(stand: Stand) -> ClusterAdapters:
    layout, api = stand.layout, api_of(stand)
    broker = RocketBroker(layout, api, ControllersWord(layout, api))
    return parts_of(stand, broker, NoOperator(layout.system), controllers(layout.hosts))


ROCKETMQ_CONTROLLER = rocketmq_declaration(
    "rocketmq-controller",
    layout_file=ControllerLayoutFile,
    guarantees=controller_guarantees,
    replicated=REPLICATED,
    servers=controller_servers,
    containers=rocketmq_containers(services(configuration), controller_parts),
)
