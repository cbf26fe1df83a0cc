"""PURE: what layout files of RocketMQ's systems have in common, and what no cluster could be.

1. Hosts say which processes they carry (harness/systems/rocketmq/core/layout.py has the words). A
   system says which words it has beside name servers and brokers.
2. A profile has three timers that hang together: a name server whose idle time is not above a
   client's poll or a broker's registration drops who is well.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from harness.outside.text import brief
from harness.plan.files.tables import Table
from harness.plan.files.toml_lines import Path
from harness.plan.files.toml_problems import TomlProblem
from harness.plan.layouts.layout_values import NO_HANDLING, Host
from harness.plan.layouts.versions import ANY, is_version, numbers
from harness.plan.model import Layout
from harness.plan.problems import nearest
from harness.systems.layout_parts import (
    HOSTS_MAX,
    NAMES_MAX,
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
from harness.systems.rocketmq.core.layout import (
    MASTER_ID,
    NAME_SERVER,
    RocketMq,
    Timers,
    parse_broker,
)

_BROKERS = "broker-a-0: the group broker-a, and a number from 0 on"
Flush = Literal["sync", "async"]
VERSION_HELP = "version of the servers: the number of a release on Maven Central"


def released(first: str, before: str = "") -> AfterValidator:
    """Validate a version: a release from `first` on and, if it is given, before `before`."""

    def check(word: str) -> str:
        if not is_version(word) or word.endswith(ANY):
            raise ValueError(f"{brief(word)} is no version, such as {first}")
        if numbers(word) < numbers(first) or (before and numbers(word) >= numbers(before)):
            until = f" and before {before}" if before else ""
            raise ValueError(f"mqproof runs versions from {first} on{until}, not {word}")
        return word

    return AfterValidator(check)


_FLAG_MAX = 1000  # characters


def _absolute(word: str) -> str:
    if not PurePosixPath(word).is_absolute():
        raise ValueError(f"{brief(word)} is no absolute path of a folder")
    return word


def _jvm_flag(word: str) -> str:
    fits = word.startswith(("-D", "-X")) and not any(letter.isspace() for letter in word)
    if not fits or len(word) > _FLAG_MAX:
        shown = brief(word)
        raise ValueError(f"{shown} is no property (-Dname=value) and no flag (-Xmx256m) of a JVM")
    return word


_JvmFlag = Annotated[str, AfterValidator(_jvm_flag)]


class _HostFile(Table):
    name: Name = Field(description="the host's name in scenarios and reports")
    processes: Names = Field(
        description="`name-server`, brokers such as `broker-a-0` (group and number), or "
        "`controller` if the system has controllers"
    )


class ProfileFile(Table):
    idle_s: Annotated[int, Field(ge=11, le=600)] = Field(
        description="a name server drops a silent broker after so many seconds: T in scenarios"
    )
    register_s: Annotated[int, Field(ge=10, le=60)] = Field(  # brokers take nothing else
        description="seconds between two registrations of a broker"
    )
    poll_s: Annotated[int, Field(ge=1, le=600)] = Field(
        description="seconds between two route queries of a client"
    )

    def problem(self) -> str:
        """Return what is wrong with the timers together; "" if nothing is, or one is unknown."""
        idle, register, poll = self.idle_s, self.register_s, self.poll_s
        if None in (idle, register, poll) or idle > max(register, poll):
            return ""
        return (
            f"idle_s = {idle} must be above register_s = {register} and poll_s = {poll}: a "
            f"name server would give up who is well"
        )


class RocketFile(Table):
    """What every one of them has. The first profile is meant where none is named. `others`: words
    of processes beside name servers and brokers, that any number of hosts may have."""

    others: ClassVar[tuple[str, ...]] = ()

    name: Name = Field(description="differs from all built-in layouts")
    title: Title = Field(description="the name in reports")
    hosts: Annotated[tuple[_HostFile, ...], Field(min_length=1, max_length=HOSTS_MAX), AsList] = (
        Field(description="the machines")
    )
    peer_links: PeerLinks = Field(
        default="direct", description="`toxiproxy`: links between hosts pass mqproof's Toxiproxy"
    )
    client_tcp_retries2: Annotated[int, Field(ge=3, le=15)] | None = Field(
        default=None,
        title="3 to 15",
        description="`net.ipv4.tcp_retries2` of clients; without it the system decides",
    )
    client_jvm: Annotated[tuple[_JvmFlag, ...], Field(max_length=NAMES_MAX), AsList] = Field(
        default=(), description="properties and flags of clients' JVMs: `-Dname=value`, `-Xmx256m`"
    )
    profiles: Annotated[
        Mapping[ProfileName, ProfileFile], Field(min_length=1, max_length=PROFILES_MAX)
    ] = Field(description="timers; the first profile is the default")

    @property
    def copies(self) -> int:
        """Of a message: brokers of a group."""
        return max(map(len, self.groups.values()), default=0)

    @property
    def groups(self) -> dict[str, set[int]]:
        """The groups of brokers, and their brokers' numbers."""
        return groups(host.processes for host in self.hosts)

    def problems(self, _processes: tuple[str, ...]) -> Iterator[TomlProblem]:
        """LayoutFile."""
        yield from host_problems(self.hosts)
        yield from peer_problems(self.peer_links, len(self.hosts))
        for name, profile in self.profiles.items():
            if text := profile.problem():
                yield TomlProblem(("profiles", name, "idle_s"), text)
        if not self.hosts or any(host.processes is None for host in self.hosts):
            return  # what its groups are is not known
        found = list(self._process_problems() or self._cluster_problems())
        yield from found
        if not any("processes" in problem.path for problem in found):
            yield from self.group_problems()

    def group_problems(self) -> Iterator[TomlProblem]:
        """Check what a system requires of its groups, whose processes are right."""
        return iter(())

    def unreachable(self, key: str) -> Iterator[TomlProblem]:
        """Yield that more replicas are wanted than a group has. `key`: of their number."""
        wanted = getattr(self, key)
        if wanted is not None and wanted > self.copies:
            text = (
                f"{key} = {wanted}, and a group has {self.copies}: nothing would ever be confirmed"
            )
            yield TomlProblem((key,), text)

    def _process_problems(self) -> list[TomlProblem]:
        shared = (NAME_SERVER, *self.others)
        return [
            problem
            for place, host in enumerate(self.hosts)
            for problem in _word_problems(("hosts", place, "processes"), host.processes, shared)
        ]

    def _cluster_problems(self) -> Iterator[TomlProblem]:
        placed = [
            (place, word) for place, host in enumerate(self.hosts) for word in host.processes
        ]
        if NAME_SERVER not in {word for _, word in placed}:
            yield TomlProblem(("hosts",), f"no host has a {NAME_SERVER}")
        seen: set[str] = set()
        for place, word in placed:
            if word in seen and parse_broker(word):  # any number of hosts may have the others
                text = f"{brief(word)} is another host's already"
                yield TomlProblem(("hosts", place, "processes"), text)
            seen.add(word)
        for text in _group_problems(self.groups):
            yield TomlProblem(("hosts",), text)

    def timers(self, profile: str) -> Timers:
        chosen = self.profiles[profile]
        return Timers(chosen.idle_s, chosen.register_s, chosen.poll_s)

    def made(self, system: str, profile: str, own: RocketMq) -> Layout:
        return Layout(
            name=self.name,
            profile=profile,
            system=system,
            title=self.title,
            hosts=tuple(Host(host.name, host.name, _ordered(host)) for host in self.hosts),
            detection_timeout_s=own.timers.idle_s,
            copies=self.copies,
            synchronise="automatic" if self.copies > 1 else "none",
            partition_handling=NO_HANDLING,
            peer_links=self.peer_links,
            policies=(),
            own=own,
            file_version=own.version,
            client_tcp_retries2=self.client_tcp_retries2,
        )


class DistributedFile(RocketFile):
    """What those of the real servers have as well."""

    distribution: Annotated[str, AfterValidator(_absolute)] | None = Field(
        default=None,
        description="absolute path of a vendor's own build of that version, "
        "instead of its release",
    )

    def made(self, system: str, profile: str, own: RocketMq) -> Layout:
        layout = super().made(system, profile, own)
        return replace(layout, distribution=self.distribution or "")


def groups(hosts: Iterable[Sequence[str]]) -> dict[str, set[int]]:
    """Of the processes of hosts: a group and its brokers' numbers."""
    found: dict[str, set[int]] = defaultdict(set)
    for processes in hosts:
        for group, id in filter(None, map(parse_broker, processes)):
            found[group].add(id)
    return found


def _word_problems(
    path: Path, found: Sequence[str], shared: tuple[str, ...]
) -> Iterator[TomlProblem]:
    for word in found:
        if word not in shared and parse_broker(word) is None:
            text = f"{brief(word)} is no process"
            yield TomlProblem(path, text, (*shared, _BROKERS), nearest(word, shared))
    for word, count in Counter(found).items():
        if count > 1:
            yield TomlProblem(path, f"{brief(word)} stands there {count} times")


def _group_problems(groups: dict[str, set[int]]) -> list[str]:
    if not groups:
        return ["no host has a broker"]
    problems = [
        f"{group} has the numbers {', '.join(map(str, sorted(ids)))}, not 0, 1, 2, ..."
        for group, ids in sorted(groups.items())
        if ids != set(range(len(ids)))
    ]
    if len({len(ids) for ids in groups.values()}) > 1:
        sizes = ", ".join(f"{group} {len(ids)}" for group, ids in sorted(groups.items()))
        problems.append(f"groups need as many brokers each as the others, found {sizes}")
    return problems


def _ordered(host: _HostFile) -> tuple[str, ...]:
    """Controllers and name servers first, then brokers by number: so they start."""

    def place(word: str) -> tuple[int, str]:
        broker = parse_broker(word)
        return (0, word) if broker is None else (1 + (broker[1] != MASTER_ID), word)

    return tuple(sorted(host.processes, key=place))
