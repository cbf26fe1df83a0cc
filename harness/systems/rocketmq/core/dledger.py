"""PURE: what a layout of DLedger groups says: its file, its guarantees, its servers.

1. A confirm waits until a majority of the group has appended the message, and for no disk: logs
   are flushed by a thread of their own.
2. A member that lacks a confirmed message is never elected, and none is without a majority.
3. A member's id and role are not configured: they follow from the election. The product
   spells its keys "DLeger".
4. Settings that every broker has are the family's (harness/systems/rocketmq/core/settings.py).
"""

from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import Field

from harness.plan.clients.rocketmq_table import QUERIED_WITHIN_S
from harness.plan.files.toml_problems import TomlProblem
from harness.plan.layouts.guarantees import BROKERS, Guarantees, NotApplicable
from harness.plan.layouts.servers import Servers, Voter
from harness.plan.model import Layout
from harness.systems.rocketmq.core.layout import (
    ASYNC,
    MAJORITY,
    RocketMq,
    ServerProcess,
    brokers,
    own,
    server_of,
)
from harness.systems.rocketmq.core.layout_files import (
    VERSION_HELP,
    DistributedFile,
    RocketFile,
    released,
)
from harness.systems.rocketmq.core.servers import rocketmq_servers
from harness.systems.rocketmq.core.settings import broker, name_server
from harness.workers.remoting.leaders import BY_MEMBERS
from spark_analysis.schema.words import DISK_OPEN, Strength

MEMBERS_MIN = 3  # of two, both are needed: no group of two elects anybody after a death


class DledgerFile(RocketFile):
    """A layout file of groups. The number of a broker is that of a member, which may lead as any
    other."""

    version: str = Field(description="version of the servers")

    def layout(self, system: str, profile: str) -> Layout:
        timers = self.timers(profile)
        # DLedger's log is flushed by a thread of its own, whatever the configuration says.
        own = RocketMq(self.version, MAJORITY, ASYNC, timers, self.client_jvm)
        return self.made(system, profile, own)

    def group_problems(self) -> Iterator[TomlProblem]:
        for group, members in sorted(self.groups.items()):
            if len(members) < MEMBERS_MIN:
                few = f"{group} has {len(members)} members"
                text = f"{few}: fewer than {MEMBERS_MIN} survive nothing"
                yield TomlProblem(("hosts",), text)


class DledgerLayoutFile(DledgerFile, DistributedFile):
    """One of the real ones."""

    version: Annotated[str, released("4.9.0", "5")] = Field(description=VERSION_HELP)


def configuration(layout: Layout, host: str, process: str) -> dict[str, str]:
    """By key, of the server that is this process of this host."""
    server = server_of(layout.hosts, host, process)
    if not server.is_broker:
        return name_server(layout, server)
    return broker(layout, server, _membership(layout, server))


def member(server: ServerProcess) -> str:
    """The id of a member in its group: a letter and a number."""
    return f"n{server.id}"


def _membership(layout: Layout, server: ServerProcess) -> dict[str, str]:
    group = [one for one in brokers(layout.hosts) if one.group == server.group]
    group.sort(key=lambda one: one.id)
    return {
        "enableDLegerCommitLog": "true",
        "dLegerGroup": server.group,
        "dLegerPeers": ";".join(f"{member(one)}-{one.host}:{one.votes_at}" for one in group),
        "dLegerSelfId": member(server),
    }


REPLICATED = f"a majority of the group's members had the message; {DISK_OPEN}"
_BY_VOTE = NotApplicable("members vote, and only one that has all that was confirmed is elected")


def dledger_guarantees(layout: Layout) -> Guarantees:
    return Guarantees(
        masters=len({one.group for one in brokers(layout.hosts)}),
        mirrored_on=NotApplicable("no policy says where members of a group are"),
        promote_on_shutdown=_BY_VOTE,
        promote_on_failure=_BY_VOTE,
        elects=True,
        elects_by_majority=True,
        route_poll_s=own(layout).timers.poll_s,
        confirm_waits_for_mirrors=False,
        confirm_waits_for_majority=True,
        confirm_waits_for_disk=False,
        checks_within_s=QUERIED_WITHIN_S,
        progress_kept_by=BROKERS,
        strength=Strength.REPLICATED,
        strength_of_transient=Strength.REPLICATED,  # every message goes into the log
    )


def dledger_servers(layout: Layout) -> Servers:
    members = brokers(layout.hosts)
    voters = [_voter(one, members) for one in members]
    return rocketmq_servers(layout, lambda _: None, voters, controllers=())


def _voter(one: ServerProcess, members: Sequence[ServerProcess]) -> Voter:
    peer = next(other for other in members if other.group == one.group and other != one)
    return Voter(
        host=one.host,
        word=one.process,
        query=BY_MEMBERS,
        groups=(one.group,),
        id=member(one),
        peer=member(peer),
    )
