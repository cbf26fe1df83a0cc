"""The shape of a layout file, the layout that it becomes, and what that promises."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from faults.core.peers import Served, Serving
from harness.plan.facts import Fact
from harness.plan.files.tables import Table
from harness.plan.files.toml_problems import TomlProblem
from harness.plan.layouts.guarantees import BROKERS, Guarantees, NotApplicable
from harness.plan.layouts.layout_values import NO_HANDLING, Host
from harness.plan.layouts.servers import Process, ServerRole, Servers
from harness.plan.model import Drain, Layout, LayoutFact
from harness.systems.layout_parts import (
    HOSTS_MAX,
    PROFILES_MAX,
    AsList,
    Name,
    Names,
    ProfileName,
    Title,
    host_problems,
)
from mqproof_nats.names import CLIENT_PORT, MONITORING_PORT, ROUTE_PORT
from spark_analysis.schema.words import Level

REPLICAS_MAX = 5  # docs: "R=5, the replication factor limit"
SYNC_INTERVAL_S = 120  # as NATS comes
# What a PubAck may mean, from the strongest to the weakest.
QUORUM_SYNCED = Level(1, "quorum_synced", "a quorum had it on its disks")
QUORUM_CACHED = Level(
    2, "quorum_cached", "a quorum had it in its page caches, to be synced to disk later"
)
STORED = Level(3, "stored", "one server had it on its disk")
BUFFERED = Level(4, "buffered", "one server had it in its page cache")
LEVELS = (QUORUM_SYNCED, QUORUM_CACHED, STORED, BUFFERED)
_BY_VOTE = NotApplicable("servers vote: one that lacks what a quorum has is not elected")


@dataclass(frozen=True, slots=True)
class Storage:
    """Layout.own: the settings that only NATS has."""

    sync_always: bool

    def describe(self) -> tuple[tuple[str, str], ...]:
        return (("sync_interval", "always" if self.sync_always else "2m, as NATS comes"),)


def storage(layout: Layout) -> Storage:
    assert isinstance(layout.own, Storage), layout.system
    return layout.own


class _NatsHostFile(Table):
    name: Name = Field(description="the host's name in scenarios and reports")
    processes: Names = Field(description="what runs on it: `server`")


class _ProfileFile(Table):
    detection_timeout_s: Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)] = Field(
        description="the longest election timeout in seconds: T in scenarios"
    )


class NatsLayoutFile(Table):
    """One layout file. The first profile is meant where none is named."""

    name: Name = Field(description="differs from all built-in layouts")
    title: Title = Field(description="the name in reports")
    hosts: Annotated[
        tuple[_NatsHostFile, ...], Field(min_length=1, max_length=HOSTS_MAX), AsList
    ] = Field(description="the machines")
    replicas: Annotated[int, Field(ge=1, le=REPLICAS_MAX)] = Field(
        description="of each stream, and of its consumer"
    )
    sync_always: bool = Field(
        default=False, description="servers sync each message before they acknowledge it"
    )
    profiles: Annotated[
        dict[ProfileName, _ProfileFile], Field(min_length=1, max_length=PROFILES_MAX)
    ] = Field(description="timers; the first profile is the default")

    def layout(self, system: str, profile: str) -> Layout:
        return Layout(
            name=self.name,
            profile=profile,
            system=system,
            title=self.title,
            hosts=tuple(Host(one.name, one.name, one.processes) for one in self.hosts),
            detection_timeout_s=self.profiles[profile].detection_timeout_s,
            copies=self.replicas,
            synchronise="automatic",
            partition_handling=NO_HANDLING,
            policies=(),
            own=Storage(self.sync_always),
        )

    def problems(self, _processes: tuple[str, ...]) -> Iterator[TomlProblem]:
        """Check several keys together."""
        yield from host_problems(self.hosts)
        replicas, hosts = self.replicas, len(self.hosts)
        if replicas is not None and 0 < hosts < replicas:
            text = f"{replicas} replicas on {hosts} hosts: no host holds two of one stream"
            yield TomlProblem(("replicas",), text)


def guarantees(layout: Layout) -> Guarantees:
    """State what a PubAck promises: a quorum has the message, and its disk only if it syncs."""
    replicated = (layout.copies or 1) > 1
    sync_always = storage(layout).sync_always
    if replicated:
        level = QUORUM_SYNCED if sync_always else QUORUM_CACHED
    else:
        level = STORED if sync_always else BUFFERED
    return Guarantees(
        masters=1,
        mirrored_on=NotApplicable("no policy says where replicas of a stream are"),
        promote_on_shutdown=_BY_VOTE,
        promote_on_failure=_BY_VOTE,
        elects=replicated,
        elects_by_majority=replicated,
        route_poll_s=NotApplicable("clients of this system use no name server"),
        confirm_waits_for_mirrors=False,
        confirm_waits_for_majority=replicated,
        confirm_waits_for_disk=sync_always,
        checks_within_s=NotApplicable("it knows no transaction that it asks about"),
        progress_kept_by=BROKERS,
        strength=level,
        strength_of_transient=level,
    )


def servers(layout: Layout) -> Servers:
    return Servers(
        processes=tuple(
            Process(
                host=host.name,
                word=word,
                role=ServerRole.BROKER,
                fixed_role=None,
                client_port=CLIENT_PORT,
            )
            for host in layout.hosts
            for word in host.processes
        ),
        apart=False,
        by_names=False,
        keep_logs=False,
        speaks_first=True,  # INFO, and PING from time to time
        client_settings=(),
        client_flags=(),
        copied_every_s=None,
        voters=(),
        controllers=(),
        serving=Serving(
            by_host={host.name: (Served((ROUTE_PORT,), ROUTE_PORT),) for host in layout.hosts},
            renewed=False,
        ),
        management_port=MONITORING_PORT,
    )


FACTS = {
    "nats_sync_interval_s": LayoutFact(
        fact=Fact(
            float, False, "how often NATS servers sync to disk, in seconds; 0: before a PubAck"
        ),
        value=lambda layout: 0 if storage(layout).sync_always else SYNC_INTERVAL_S,
    )
}
DRAIN = Drain(
    queue_name=lambda queue: queue,
    quiet_s=lambda _: 2.0,  # what waits for its acknowledgement counts as not consumed (client.py)
    more_s=lambda _: 0.0,
    in_order=lambda _, consumers: consumers <= 1,
    gone_by_force_s=5.0,
)
