"""PURE: the shape of a layout file of RabbitMQ's nodes, whatever their queues, and its layout.

1. The shape checks every key by itself; `problems` checks several keys together. All problems are
   reported at once.
2. Problems that follow from an unknown layout (in `like`) are not reported.
"""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from harness.outside.text import brief
from harness.plan.files.tables import Table
from harness.plan.files.toml_problems import TomlProblem
from harness.plan.layouts.layout_values import Host, PauseIfAllDown, Policy
from harness.plan.model import Layout
from harness.plan.problems import nearest
from harness.systems.core.likeness import LIKE
from harness.systems.layout_parts import (
    HOSTS_MAX,
    PROFILES_MAX,
    AsList,
    Name,
    Names,
    PeerLinks,
    ProfileName,
    Title,
    host_problems,
    peer_problems,
)
from harness.systems.rabbitmq.core.versions import DEFAULT, RELEASES, release_of

DETECTION_TIMEOUT_S = (0.1, 3600.0)
PAUSE = "pause_if_all_down"
Handling = Literal["ignore", "pause_minority", "pause_if_all_down", "autoheal"]


def _version(word: str) -> str:
    if not release_of(word):
        raise ValueError(f"no image of RabbitMQ {brief(word)}; there are {', '.join(RELEASES)}")
    return word


Version = Annotated[str, AfterValidator(_version)]
WatermarkMib = Annotated[int, Field(ge=64, le=2048)]  # a container has 4 GiB
ImageName = Annotated[str, Field(pattern=r"^[^\s-]\S{0,254}$")]
IMAGE_HELP = (
    "your own image of the brokers, instead of one of mqproof's; its version is read from it"
)


class _HostFile(Table):
    name: Name = Field(description="the host's name in scenarios and reports")
    processes: Names = Field(description="what runs on it, as in the built-in layouts")
    spare: bool = Field(
        default=False, description="the host is outside the cluster until an operation adds it"
    )


class _ProfileFile(Table):
    detection_timeout_s: Annotated[
        float, Field(ge=DETECTION_TIMEOUT_S[0], le=DETECTION_TIMEOUT_S[1], allow_inf_nan=False)
    ] = Field(description="the net tick time in seconds: T in scenarios")


class _PauseFile(Table):
    hosts: Names = Field(description="no node pauses as long as it sees one of them")
    recover: Literal["ignore", "autoheal"] = Field(description="when the partition ends")


class NodesLayoutFile(Table):
    """What every layout file of nodes has. The first profile is meant where none is named."""

    name: Name = Field(description="differs from all built-in layouts")
    title: Title = Field(description="the name in reports")
    partition_handling: Handling = Field(description="what nodes do in a network partition")
    hosts: Annotated[tuple[_HostFile, ...], Field(min_length=1, max_length=HOSTS_MAX), AsList] = (
        Field(description="the machines")
    )
    pause_if_all_down: _PauseFile | None = Field(
        default=None, description="required by that partition handling"
    )
    peer_links: PeerLinks = Field(
        default="direct", description="`toxiproxy`: links between hosts pass mqproof's Toxiproxy"
    )
    client_endpoint: Literal["hosts", "one", "haproxy", "haproxy-pair"] = Field(
        default="hosts", description="what clients connect to: every host, one, or load balancers"
    )
    memory_high_watermark_mib: WatermarkMib | None = Field(
        default=None,
        description="memory in MiB above which a node raises its alarm, which blocks publishers",
    )
    profiles: Annotated[
        dict[ProfileName, _ProfileFile], Field(min_length=1, max_length=PROFILES_MAX)
    ] = Field(description="timers; the first profile is the default")

    @property
    def pause(self) -> PauseIfAllDown | None:
        found = self.pause_if_all_down
        return PauseIfAllDown(found.hosts, found.recover) if found else None

    def of_queues(
        self,
        system: str,
        profile: str,
        copies: int,
        synchronise: str,
        policies: tuple[Policy, ...] = (),
        version: str = DEFAULT,
    ) -> Layout:
        """The layout, with what a kind of queue says of itself."""
        return Layout(
            name=self.name,
            profile=profile,
            system=system,
            title=self.title,
            hosts=self._hosts(spare=False),
            spares=self._hosts(spare=True),
            detection_timeout_s=self.profiles[profile].detection_timeout_s,
            copies=copies,
            synchronise=synchronise,
            partition_handling=self.partition_handling,
            pause_if_all_down=self.pause,
            peer_links=self.peer_links,
            client_endpoint=self.client_endpoint,
            memory_high_watermark_mib=self.memory_high_watermark_mib,
            policies=policies,
            version="" if version == DEFAULT else version,
        )

    def _hosts(self, spare: bool) -> tuple[Host, ...]:
        return tuple(
            Host(host.name, host.name, host.processes)
            for host in self.hosts
            if host.spare is spare
        )

    @property
    def cluster(self) -> tuple[_HostFile, ...]:
        """Hosts of the cluster as it begins, spares left out."""
        return tuple(host for host in self.hosts if host.spare is not True)

    @property
    def whole(self) -> bool:
        """Whether no key is missing only because the layout that it is like is unknown."""
        return LIKE not in self.given

    def problems(self, processes: tuple[str, ...]) -> Iterator[TomlProblem]:
        """LayoutFile."""
        yield from host_problems(self.hosts)
        yield from self._process_problems(processes)
        yield from self._pause_problems()
        yield from peer_problems(self.peer_links, len(self.hosts))
        if {"image", "version"} <= self.given.keys():
            text = "is read from the image: leave one of them out"
            yield TomlProblem(("version",), text)
        if self.hosts and not self.cluster:
            text = "every host is a spare one: there is no cluster to add it to"
            yield TomlProblem(("hosts",), text)

    def _process_problems(self, processes: tuple[str, ...]) -> Iterator[TomlProblem]:
        for place, host in enumerate(self.hosts):
            if host.processes and tuple(host.processes) != processes:
                right = ", ".join(f'"{word}"' for word in processes)
                text = f"a host of this system carries [{right}], not {list(host.processes)}"
                yield TomlProblem(("hosts", place, "processes"), text, (f"[{right}]",))

    def _pause_problems(self) -> Iterator[TomlProblem]:
        handling, pause = self.given.get("partition_handling"), self.pause_if_all_down
        if handling == PAUSE and pause is None and self.whole:
            text = f"is missing: partition_handling = {PAUSE!r} needs `hosts` and `recover`"
            yield TomlProblem((PAUSE,), text)
        if pause is not None and isinstance(handling, str) and handling != PAUSE:
            yield TomlProblem((PAUSE,), f"is only for partition_handling = {PAUSE!r}")
        names = [name for name in (host.given.get("name") for host in self.cluster) if name]
        wanted = pause.hosts if pause is not None else None
        for name in (one for one in wanted or () if names and one not in names):
            text = f"there is no host {brief(name)} in the cluster"
            yield TomlProblem((PAUSE, "hosts"), text, tuple(names), nearest(name, names))
