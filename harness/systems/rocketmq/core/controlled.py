"""PURE: what a layout with controllers says: its file, its guarantees, its servers.

1. Every name server has a controller in it, RocketMQ's own way to run them without more hosts; or
   controllers stand by themselves, and no name server has one.
2. Controllers listen for brokers and for each other on their own port. In a name server it is a
   second port (layout.py, votes_at). The product spells its keys "DLeger".
3. Only the master decides who is in the SyncStateSet, and removes a slave that lags. A confirm for
   "the whole set" waits for no removed slave, but always for the least number of in-sync replicas.
4. A controller elects from the set; a majority of the controllers decides, not of the group.
5. Settings that every broker has are the family's (harness/systems/rocketmq/core/settings.py).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from harness.plan.clients.rocketmq_table import QUERIED_WITHIN_S
from harness.plan.files.toml_problems import TomlProblem
from harness.plan.layouts.guarantees import BROKERS, Guarantees, NotApplicable
from harness.plan.layouts.servers import Servers, Voter
from harness.plan.model import Layout
from harness.systems.rocketmq.core.layout import (
    CONTROLLER,
    IN_SYNC,
    NAME_SERVER,
    SYNC,
    HasProcesses,
    RocketMq,
    ServerProcess,
    brokers,
    name_servers,
    server_of,
    servers,
)
from harness.systems.rocketmq.core.layout_files import (
    VERSION_HELP,
    DistributedFile,
    Flush,
    released,
)
from harness.systems.rocketmq.core.servers import rocketmq_servers
from harness.systems.rocketmq.core.settings import STORE, broker, name_server
from harness.workers.remoting.leaders import BY_CONTROLLERS
from spark_analysis.schema.words import DISK_OPEN, Strength


@dataclass(frozen=True, slots=True, kw_only=True)
class Controlled(RocketMq):
    """`all_ack`: allAckInSyncStateSet: a confirm waits for the whole SyncStateSet, however many
    that are. `in_sync`: inSyncReplicas: else for so many brokers, the master among them.
    `least_in_sync`: minInSyncReplicas: with fewer in the set, sends are refused. `unclean`:
    enableElectUncleanMaster: a broker that was not in the set may be elected."""

    all_ack: bool
    in_sync: int
    least_in_sync: int
    unclean: bool

    def describe(self) -> tuple[tuple[str, str], ...]:
        """OwnLayout."""
        waits = "all in sync" if self.all_ack else f"{self.in_sync} in sync"
        rules = f"a confirm waits for {waits}, at least {self.least_in_sync}"
        unclean = "others may be elected" if self.unclean else "no other is elected"
        return (*RocketMq.describe(self), ("SyncStateSet", f"{rules}; {unclean}"))


def rules(layout: Layout) -> Controlled:
    """Raises TypeError for a layout of another system."""
    if not isinstance(layout.own, Controlled):
        raise TypeError(f"{layout.label} of {layout.system} has no controllers")
    return layout.own


def controllers(hosts: Sequence[HasProcesses]) -> tuple[ServerProcess, ...]:
    """Those that stand by themselves; else every name server has one in it."""
    alone = tuple(one for one in servers(hosts) if one.process == CONTROLLER)
    return alone or name_servers(hosts)


_Replicas = Annotated[int, Field(ge=1, le=9)]


class ControllerLayoutFile(DistributedFile):
    """One layout file; its rules by the product's names. The number of a broker says nothing."""

    others: ClassVar = (CONTROLLER,)

    version: Annotated[str, released("5.1.4")] = Field(description=VERSION_HELP)
    flush: Flush = Field(description="`sync`: a confirm waits for the disk")
    all_ack_in_sync_state_set: bool = Field(
        description="a confirm waits for every replica in sync (`allAckInSyncStateSet`)"
    )
    in_sync_replicas: _Replicas = Field(
        description="a confirm waits for so many replicas (`inSyncReplicas`)"
    )
    min_in_sync_replicas: _Replicas = Field(
        description="with fewer replicas in sync the master refuses sends (`minInSyncReplicas`)"
    )
    unclean_election: bool = Field(
        description="a replica out of sync may be elected (`enableElectUncleanMaster`)"
    )

    def layout(self, system: str, profile: str) -> Layout:
        own = Controlled(
            version=self.version,
            replication=IN_SYNC,
            flush=self.flush,
            timers=self.timers(profile),
            client_jvm=self.client_jvm,
            all_ack=self.all_ack_in_sync_state_set,
            in_sync=self.in_sync_replicas,
            least_in_sync=self.min_in_sync_replicas,
            unclean=self.unclean_election,
        )
        return self.made(system, profile, own)

    def group_problems(self) -> Iterator[TomlProblem]:
        alone = sum(CONTROLLER in host.processes for host in self.hosts)
        if (alone or sum(NAME_SERVER in host.processes for host in self.hosts)) == 2:
            text = "two controllers have no majority if one fails; use one, or three"
            yield TomlProblem(("hosts",), text)
        for key in ("in_sync_replicas", "min_in_sync_replicas"):
            yield from self.unreachable(key)


CONTROLLERS = "controllers"  # their group's name


def configuration(layout: Layout, host: str, process: str) -> dict[str, str]:
    """By key, of the server that is this process of this host."""
    server = server_of(layout.hosts, host, process)
    if server.is_broker:
        return broker(layout, server, _replica(layout))
    if server.process == CONTROLLER:
        return _controller(layout, server)
    own = name_server(layout, server)
    if server in controllers(layout.hosts):
        own |= {"enableControllerInNamesrv": "true"} | _controller(layout, server)
    return own


def controller(layout: Layout, server: ServerProcess) -> str:
    """The id of a controller: a letter and a number."""
    return f"n{controllers(layout.hosts).index(server)}"


def _controller(layout: Layout, server: ServerProcess) -> dict[str, str]:
    peers = (
        f"{controller(layout, one)}-{one.host}:{one.votes_at}" for one in controllers(layout.hosts)
    )
    return {
        "controllerDLegerGroup": CONTROLLERS,
        "controllerDLegerPeers": ";".join(peers),
        "controllerDLegerSelfId": controller(layout, server),
        "controllerStorePath": f"{STORE}/controller",
        "enableElectUncleanMaster": _word(rules(layout).unclean),
    }


def _replica(layout: Layout) -> dict[str, str]:
    """A broker is a slave without an id until a controller has said what it is."""
    own = rules(layout)
    addresses = (f"{one.host}:{one.votes_at}" for one in controllers(layout.hosts))
    return {
        "enableControllerMode": "true",
        "controllerAddr": ";".join(addresses),
        "brokerId": "-1",
        "brokerRole": "SLAVE",
        "allAckInSyncStateSet": _word(own.all_ack),
        "inSyncReplicas": str(own.in_sync),
        "minInSyncReplicas": str(own.least_in_sync),
    }


def _word(setting: bool) -> str:
    return str(setting).lower()


REPLICATED = (
    "all in-sync replicas at that time, or as many as the layout requires, had the message; "
    f"if no slave was in sync, only the master; {DISK_OPEN}"
)


def controller_guarantees(layout: Layout) -> Guarantees:
    own = rules(layout)
    replicated = own.all_ack or own.in_sync > 1
    alone = Strength.STORED if own.flush == SYNC else Strength.BUFFERED
    strength = Strength.REPLICATED if replicated else alone
    promoted = "always" if own.unclean else "when-synced"
    return Guarantees(
        masters=len({one.group for one in brokers(layout.hosts)}),
        mirrored_on=NotApplicable("no policy says where replicas of a group are"),
        promote_on_shutdown=promoted,
        promote_on_failure=promoted,
        elects=True,
        elects_by_majority=False,
        route_poll_s=own.timers.poll_s,
        confirm_waits_for_mirrors=_waits_for_all(own, layout.copies),
        confirm_waits_for_majority=False,
        confirm_waits_for_disk=own.flush == SYNC,
        checks_within_s=QUERIED_WITHIN_S,
        progress_kept_by=BROKERS,
        strength=strength,
        strength_of_transient=strength,  # every message goes into the log
    )


def _waits_for_all(own: Controlled, copies: int | None) -> bool:
    """For every slave that a controller would elect without "unclean"."""
    return own.all_ack or own.in_sync == copies


def controller_servers(layout: Layout) -> Servers:
    deciding = controllers(layout.hosts)
    groups = tuple(sorted({one.group for one in brokers(layout.hosts)}))
    voters = [
        Voter(
            host=one.host,
            word=one.process,
            query=BY_CONTROLLERS,
            groups=groups,
            id=controller(layout, one),
            peer="",  # who is asked needs none
        )
        for one in deciding
    ]
    return rocketmq_servers(layout, lambda _: None, voters, deciding)
