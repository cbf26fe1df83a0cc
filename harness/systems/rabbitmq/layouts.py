"""The shape of a layout file of RabbitMQ's nodes, whatever their queues, and what it becomes.

1. The shape checks every key by itself; `mistakes` checks several keys together, in the document.
   All mistakes are reported at once.
2. Mistakes that follow from an unknown layout (in `like`) are not reported.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from harness.outside.text import brief
from harness.plan.files.toml_problems import TomlProblem
from harness.plan.layouts.layout_values import Host, PauseIfAllDown, Policy
from harness.plan.model import Layout
from harness.plan.problems import nearest
from harness.systems.layout_parts import (
    HOSTS_MAX,
    PROFILES_MAX,
    AsList,
    Name,
    Names,
    PeerLinks,
    ProfileName,
    Strict,
    Title,
    host_mistakes,
    peer_mistakes,
    tables,
    words,
)
from harness.systems.likeness import LIKE
from harness.systems.rabbitmq.versions import DEFAULT, RELEASES, release_of

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


class _HostFile(Strict):
    name: Name = Field(description="the host's name in scenarios and reports")
    processes: Names = Field(description="what runs on it, as in the built-in layouts")
    spare: bool = Field(
        default=False, description="the host is outside the cluster until an operation adds it"
    )


class _ProfileFile(Strict):
    detection_timeout_s: Annotated[
        float, Field(ge=DETECTION_TIMEOUT_S[0], le=DETECTION_TIMEOUT_S[1], allow_inf_nan=False)
    ] = Field(description="the net tick time in seconds: T in scenarios")


class _PauseFile(Strict):
    hosts: Names = Field(description="no node pauses as long as it sees one of them")
    recover: Literal["ignore", "autoheal"] = Field(description="when the partition ends")


class NodesLayoutFile(Strict):
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


def members(document: Mapping[str, Any]) -> int:
    """Hosts of the cluster as it begins, spares left out."""
    return sum(host.get("spare") is not True for _, host in tables(document, "hosts"))


def node_mistakes(
    document: Mapping[str, Any], processes: tuple[str, ...]
) -> Iterator[TomlProblem]:
    """Yield problems of several keys; the shape reports missing and ill-typed ones. `processes`:
    what every host of the system carries."""
    yield from host_mistakes(document)
    yield from _process_mistakes(document, processes)
    yield from _pause_mistakes(document)
    yield from peer_mistakes(document)
    if "image" in document and "version" in document:
        yield TomlProblem(("version",), "is read from the image: leave one of them out")
    if tables(document, "hosts") and not members(document):
        text = "every host is a spare one: there is no cluster to add it to"
        yield TomlProblem(("hosts",), text)


def _process_mistakes(
    document: Mapping[str, Any], processes: tuple[str, ...]
) -> Iterator[TomlProblem]:
    for place, host in tables(document, "hosts"):
        found = words(host.get("processes"))
        if found and tuple(found) != processes:
            right = ", ".join(f'"{word}"' for word in processes)
            text = f"a host of this system carries [{right}], not {found}"
            yield TomlProblem(("hosts", place, "processes"), text, (f"[{right}]",))


def _pause_mistakes(document: Mapping[str, Any]) -> Iterator[TomlProblem]:
    handling, pause = document.get("partition_handling"), document.get(PAUSE)
    if handling == PAUSE and pause is None and LIKE not in document:
        text = f"is missing: partition_handling = {PAUSE!r} needs `hosts` and `recover`"
        yield TomlProblem((PAUSE,), text)
    if pause is not None and isinstance(handling, str) and handling != PAUSE:
        yield TomlProblem((PAUSE,), f"is only for partition_handling = {PAUSE!r}")
    names = [
        host["name"]
        for _, host in tables(document, "hosts")
        if isinstance(host.get("name"), str) and host.get("spare") is not True
    ]
    wanted = words(pause.get("hosts")) if isinstance(pause, dict) else None
    for name in (one for one in wanted or () if names and one not in names):
        text = f"there is no host {brief(name)} in the cluster"
        yield TomlProblem((PAUSE, "hosts"), text, tuple(names), nearest(name, names))
