"""What layout files of RocketMQ's systems have in common, and what no cluster could be made of.

1. Hosts say which processes they carry (harness/systems/rocketmq/layout.py has the words). A
   system says which words it has beside name servers and brokers.
2. A profile has three timers that hang together: a name server whose idle time is not above a
   client's poll or a broker's registration drops who is well.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from harness.outside.text import brief
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
    Strict,
    Title,
    host_mistakes,
    peer_mistakes,
    tables,
    words,
)
from harness.systems.rocketmq.layout import (
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


_Hosts = list[tuple[int, list[str]]]  # a host's place in the file, and its processes


def _jvm_flag(word: str) -> str:
    fits = word.startswith(("-D", "-X")) and not any(letter.isspace() for letter in word)
    if not fits or len(word) > _FLAG_MAX:
        shown = brief(word)
        raise ValueError(f"{shown} is no property (-Dname=value) and no flag (-Xmx256m) of a JVM")
    return word


_JvmFlag = Annotated[str, AfterValidator(_jvm_flag)]


class _HostFile(Strict):
    name: Name = Field(description="the host's name in scenarios and reports")
    processes: Names = Field(
        description="`name-server`, brokers such as `broker-a-0` (group and number), or "
        "`controller` if the system has controllers"
    )


class ProfileFile(Strict):
    idle_s: Annotated[int, Field(ge=11, le=600)] = Field(
        description="a name server drops a silent broker after so many seconds: T in scenarios"
    )
    register_s: Annotated[int, Field(ge=10, le=60)] = Field(  # brokers take nothing else
        description="seconds between two registrations of a broker"
    )
    poll_s: Annotated[int, Field(ge=1, le=600)] = Field(
        description="seconds between two route queries of a client"
    )


class RocketFile(Strict):
    """What every one of them has. The first profile is meant where none is named."""

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
        return max(map(len, groups(host.processes for host in self.hosts).values()))

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


def file_mistakes(
    document: Mapping[str, Any], others: tuple[str, ...] = ()
) -> Iterator[TomlProblem]:
    """Yield problems of several keys; the shape reports missing and ill-typed ones. `others`:
    words of processes beside name servers and brokers, that any number of hosts may have."""
    yield from host_mistakes(document)
    yield from peer_mistakes(document)
    yield from _profile_mistakes(document)
    hosts = _processes(document)
    shared = (NAME_SERVER, *others)
    wrong = [one for place, found in hosts for one in _process_mistakes(place, found, shared)]
    yield from wrong
    if hosts and not wrong:
        yield from _cluster_mistakes(hosts, shared)


def processes_of(document: Mapping[str, Any]) -> list[list[str]]:
    """Host by host; of none where one of them is left to the shape."""
    return [found for _, found in _processes(document)]


def groups(hosts: Iterable[Sequence[str]]) -> dict[str, set[int]]:
    """Of the processes of hosts: a group and its brokers' numbers."""
    found: dict[str, set[int]] = defaultdict(set)
    for processes in hosts:
        for group, id in filter(None, map(parse_broker, processes)):
            found[group].add(id)
    return found


def _processes(document: Mapping[str, Any]) -> _Hosts:
    found = [(place, words(host.get("processes"))) for place, host in tables(document, "hosts")]
    return [] if any(one is None for _, one in found) else [(n, one or []) for n, one in found]


def _process_mistakes(
    place: int, found: list[str], shared: tuple[str, ...]
) -> Iterator[TomlProblem]:
    path = ("hosts", place, "processes")
    for word in found:
        if word not in shared and parse_broker(word) is None:
            text = f"{brief(word)} is no process"
            yield TomlProblem(path, text, (*shared, _BROKERS), nearest(word, shared))
    for word, count in Counter(found).items():
        if count > 1:
            yield TomlProblem(path, f"{brief(word)} stands there {count} times")


def _cluster_mistakes(hosts: _Hosts, shared: tuple[str, ...]) -> Iterator[TomlProblem]:
    every = [word for _, found in hosts for word in found]
    if NAME_SERVER not in every:
        yield TomlProblem(("hosts",), f"no host has a {NAME_SERVER}")
    seen: set[str] = set()
    for place, word in ((place, word) for place, found in hosts for word in found):
        if word in seen and word not in shared:
            text = f"{brief(word)} is another host's already"
            yield TomlProblem(("hosts", place, "processes"), text)
        seen.add(word)
    for text in _group_mistakes(groups(found for _, found in hosts)):
        yield TomlProblem(("hosts",), text)


def _group_mistakes(groups: dict[str, set[int]]) -> list[str]:
    if not groups:
        return ["no host has a broker"]
    mistakes = [
        f"{group} has the numbers {', '.join(map(str, sorted(ids)))}, not 0, 1, 2, ..."
        for group, ids in sorted(groups.items())
        if ids != set(range(len(ids)))
    ]
    if len({len(ids) for ids in groups.values()}) > 1:
        sizes = ", ".join(f"{group} {len(ids)}" for group, ids in sorted(groups.items()))
        mistakes.append(f"groups need as many brokers each as the others, found {sizes}")
    return mistakes


def _profile_mistakes(document: Mapping[str, Any]) -> Iterator[TomlProblem]:
    profiles = document.get("profiles")
    for name, profile in profiles.items() if isinstance(profiles, dict) else ():
        timers = profile if isinstance(profile, dict) else {}
        found = [timers.get(key) for key in ("idle_s", "register_s", "poll_s")]
        seconds = [one for one in found if isinstance(one, int)]
        if len(seconds) < len(found):
            continue
        idle, register, poll = seconds
        if idle <= max(register, poll):
            text = (
                f"idle_s = {idle} must be above register_s = {register} and poll_s = {poll}: a "
                f"name server would give up who is well"
            )
            yield TomlProblem(("profiles", name, "idle_s"), text)


def _ordered(host: _HostFile) -> tuple[str, ...]:
    """Controllers and name servers first, then brokers by number: so they start."""

    def place(word: str) -> tuple[int, str]:
        broker = parse_broker(word)
        return (0, word) if broker is None else (1 + (broker[1] != MASTER_ID), word)

    return tuple(sorted(host.processes, key=place))
