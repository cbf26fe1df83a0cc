"""RocketMQ's groups of three, who elect their leader by Raft (DLedger).

1. A member leads that takes itself for the leader, and that a majority of the group follows: one
   that stood still goes on to take itself for it, and its peers follow another.
2. Name servers show the leader with the id 0, and every other member with its number and 1.
3. Clusters that somebody else runs are RocketMQ's, or the reference's. The shape of their topology
   file checks every key by itself; `problems` checks several keys together. Members are asked who
   leads at their ports in `dLegerPeers`.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from harness.outside.text import brief
from harness.plan.files.toml_problems import TomlProblem
from harness.plan.files.topology_shape import BROKERS_MAX, TopologyShape
from harness.plan.layouts.topology import Topology
from harness.plan.model import Layout
from harness.systems.containers import ClusterAdapters, Stand
from harness.systems.files import text_in
from harness.systems.rocketmq.api import QUICK_LIMIT_S, RocketApi, votes
from harness.systems.rocketmq.broker import RocketBroker
from harness.systems.rocketmq.containers import rocketmq_containers
from harness.systems.rocketmq.core.dledger import (
    MEMBERS_MIN,
    REPLICATED,
    DledgerLayoutFile,
    configuration,
    dledger_guarantees,
    dledger_servers,
    member,
)
from harness.systems.rocketmq.core.layout import (
    ASYNC,
    MAJORITY,
    MASTER_ID,
    RocketMq,
    ServerProcess,
    brokers,
)
from harness.systems.rocketmq.core.layout_files import VERSION_HELP, released
from harness.systems.rocketmq.core.services import services
from harness.systems.rocketmq.declaration import rocketmq_declaration
from harness.systems.rocketmq.foreign.declaration import rocketmq_foreign
from harness.systems.rocketmq.foreign.file import RocketBrokerTable, RocketTopologyFile, sizes_of
from harness.systems.rocketmq.no_operator import NoOperator
from harness.systems.rocketmq.parts import api_of, parts_of
from harness.workers.remoting import answers, requests
from harness.workers.remoting.errors import RequestRefused, WireError

Followed = Mapping[ServerProcess, str | None]  # by member: its leader ("": none); None: no answer


class Members:
    """leading.Leading."""

    def __init__(self, layout: Layout, api: RocketApi) -> None:
        self._brokers = brokers(layout.hosts)
        self._api = api

    async def now(self) -> tuple[ServerProcess, ...]:
        leaders = leaders_by(await self._followed())
        return tuple(_shown(one, leaders) for one in self._brokers)

    async def in_sync(
        self,
        master: ServerProcess,  # noqa: ARG002  (the port's)
        slaves: Sequence[ServerProcess],  # noqa: ARG002
    ) -> list[ServerProcess] | None:
        """Return None: a leader does not report how far its followers are."""
        return None

    async def controller(self) -> str:
        return ""

    async def doubts(self) -> tuple[str, ...]:
        return doubts(await self._followed())

    async def _followed(self) -> dict[ServerProcess, str | None]:
        answers = await asyncio.gather(*map(self._follows, self._brokers))
        return dict(zip(self._brokers, answers, strict=True))

    async def _follows(self, server: ServerProcess) -> str | None:
        request = requests.dledger_leader(server.group, member(server))
        answer = await self._api.ask(server, request, votes, QUICK_LIMIT_S)
        try:
            return None if answer is None else answers.dledger_leader(request, answer)
        except (RequestRefused, WireError):
            return None


def leaders_by(followed: Followed) -> dict[str, ServerProcess]:
    """Return leaders by group, without groups that have none."""
    return {
        server.group: server
        for server, whom in followed.items()
        if whom == member(server) and _has_majority(server, followed)
    }


def doubts(followed: Followed) -> tuple[str, ...]:
    """Members that do not answer, or follow another than the one that leads."""
    leaders = leaders_by(followed)
    return tuple(_doubts(followed, leaders))


def _doubts(followed: Followed, leaders: Mapping[str, ServerProcess]) -> Iterable[str]:
    for server, whom in followed.items():
        leader = leaders.get(server.group)
        if whom is None:
            yield f"{server.process} of {server.host} does not report its leader"
        elif leader is not None and whom != member(leader):
            follows = f"follows {whom}" if whom else "follows no leader"
            yield f"{server.process} of {server.host} {follows}, not {member(leader)}"


def _has_majority(server: ServerProcess, followed: Followed) -> bool:
    group = [whom for one, whom in followed.items() if one.group == server.group]
    return 2 * group.count(member(server)) > len(group)


def _shown(one: ServerProcess, leaders: Mapping[str, ServerProcess]) -> ServerProcess:
    return replace(one, id=MASTER_ID if leaders.get(one.group) == one else one.id + 1)


def dledger_parts(stand: Stand) -> ClusterAdapters:
    layout, api = stand.layout, api_of(stand)
    broker = RocketBroker(layout, api, Members(layout, api))
    return parts_of(stand, broker, NoOperator(layout.system), brokers(layout.hosts))


# --- clusters that somebody else runs ---------------------------------------------------------

_ID_MAX = 99


class _MemberTable(RocketBrokerTable):
    id: Annotated[int, Field(ge=0, le=_ID_MAX)] = Field(
        description="the number in `dLegerSelfId`: 0 of n0"
    )
    peer_port: Annotated[int, Field(ge=1, le=65_535)] = Field(
        title="port", description="its port in `dLegerPeers`, at its `address`"
    )

    @property
    def server(self) -> ServerProcess:
        return replace(super().server, votes=self.peer_port)


class _DledgerTopologyFile(RocketTopologyFile):
    broker: Annotated[list[_MemberTable], Field(min_length=1, max_length=BROKERS_MAX)] = Field(
        description="one table per member of a group"
    )

    def topology(self, name: str, source: str) -> Topology:
        # DLedger's log is flushed by a thread of its own, whatever the configuration says.
        declared = RocketMq(self.version, MAJORITY, ASYNC, self.timers)
        return self.of_brokers(name, source, self.broker, declared)

    def problems(self) -> Iterator[TomlProblem]:
        """Check several keys together; the shape finds missing and ill-typed keys."""
        yield from self.server_problems(self.broker)
        for group, size in sorted(sizes_of(self.broker).items()):
            if size < MEMBERS_MIN:
                text = f"{brief(group)} has {size} members: fewer than {MEMBERS_MIN} survive"
                yield TomlProblem(("broker",), f"{text} nothing")


class RealGroupsFile(_DledgerTopologyFile):
    """One file of RocketMQ's own servers."""

    version: Annotated[str, released("4.9.0", "5")] = Field(description=VERSION_HELP)


class ReferenceGroupsTopology(_DledgerTopologyFile):
    """One file of the reference's servers."""

    version: Literal["reference"] = Field(
        default="reference", description="the reference has no versions"
    )


REFERENCE_GROUPS_FOREIGN = rocketmq_foreign(TopologyShape(file=ReferenceGroupsTopology), Members)
ROCKETMQ_DLEDGER = rocketmq_declaration(
    "rocketmq-dledger",
    layout_file=DledgerLayoutFile,
    guarantees=dledger_guarantees,
    replicated=REPLICATED,
    servers=dledger_servers,
    containers=rocketmq_containers(services(configuration), dledger_parts),
    foreign=rocketmq_foreign(
        TopologyShape(file=RealGroupsFile),
        Members,
        example=text_in("harness.systems", "examples/rocketmq_dledger.toml"),
    ),
)
