"""Running DLedger groups: members report the leaders.

1. A member leads that takes itself for the leader, and that a majority of the group follows: one
   that stood still goes on to take itself for it, and its peers follow another.
2. Name servers show the leader with the id 0, and every other member with its number and 1.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from harness.plan.model import Layout
from harness.systems.containers import ClusterAdapters, Stand
from harness.systems.rocketmq.api import QUICK_LIMIT_S, RocketApi, votes
from harness.systems.rocketmq.broker import RocketBroker
from harness.systems.rocketmq.layout import MASTER_ID, ServerProcess, brokers
from harness.systems.rocketmq.no_operator import NoOperator
from harness.systems.rocketmq.parts import api_of, parts_of
from harness.systems.rocketmq_dledger.layout import member
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
