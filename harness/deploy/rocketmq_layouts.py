"""The shape of a layout file of RocketMQ, and the layout that it becomes.

1. Hosts say which processes they carry (harness/plan/rocketmq_layout.py has the words); what no
   cluster could be made of is told with what is missing.
2. A profile has three timers that hang together: a name server whose idle time is not above a
   client's poll or a broker's registration drops who is well.
"""

from collections import Counter, defaultdict
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from harness.deploy.layout_parts import HOSTS_MAX, HostName, Name, Names, Strict, distinct
from harness.plan.model import Host, Layout
from harness.plan.rocketmq_layout import (
    MASTER_ID,
    NAME_SERVER,
    SYNC,
    RocketMq,
    Timers,
    parse_broker,
)

_WORDS = f"{NAME_SERVER!r}, or 'broker-a-0': the group broker-a, and an id, of which 0 is master"


def _process(words: tuple[str, ...]) -> tuple[str, ...]:
    wrong = [word for word in words if word != NAME_SERVER and parse_broker(word) is None]
    if wrong:
        raise ValueError(f"{', '.join(map(repr, wrong))} is no process; there are {_WORDS}")
    if repeated := [word for word, count in Counter(words).items() if count > 1]:
        raise ValueError(f"{', '.join(repeated)} stands there twice")
    return words


def _jvm_flag(word: str) -> str:
    if not word.startswith(("-D", "-X")) or any(letter.isspace() for letter in word):
        raise ValueError(f"{word!r} is no property (-Dname=value) and no flag (-Xmx256m) of a JVM")
    return word


_JvmFlag = Annotated[str, AfterValidator(_jvm_flag)]


class _HostFile(Strict):
    name: HostName
    processes: Annotated[Names, AfterValidator(_process)]


class _ProfileFile(Strict):
    idle_s: Annotated[int, Field(ge=11, le=600)]
    register_s: Annotated[int, Field(ge=10, le=60)]  # brokers take nothing else
    poll_s: Annotated[int, Field(ge=1, le=600)]

    @model_validator(mode="after")
    def _idle_is_longest(self) -> "_ProfileFile":
        if self.idle_s <= max(self.register_s, self.poll_s):
            raise ValueError(
                f"idle_s = {self.idle_s} must be above register_s = {self.register_s} and "
                f"poll_s = {self.poll_s}: a name server would give up who is well"
            )
        return self


def _cluster(hosts: tuple[_HostFile, ...]) -> tuple[_HostFile, ...]:
    distinct([host.name for host in hosts])
    words = [word for host in hosts for word in host.processes]
    mistakes = [
        f"{word} is on {count} hosts"
        for word, count in Counter(words).items()
        if count > 1 and word != NAME_SERVER
    ]
    if NAME_SERVER not in words:
        mistakes.append(f"no host has a {NAME_SERVER}")
    mistakes += _group_mistakes(_groups(hosts))
    if mistakes:
        raise ValueError("; ".join(mistakes))
    return hosts


def _groups(hosts: tuple[_HostFile, ...]) -> dict[str, set[int]]:
    found: dict[str, set[int]] = defaultdict(set)
    for host in hosts:
        for group, id in filter(None, map(parse_broker, host.processes)):
            found[group].add(id)
    return found


def _group_mistakes(groups: dict[str, set[int]]) -> list[str]:
    if not groups:
        return ["no host has a broker"]
    mistakes = [
        f"{group} has the ids {', '.join(map(str, sorted(ids)))}, not 0 (its master), 1, 2, ..."
        for group, ids in sorted(groups.items())
        if ids != set(range(len(ids)))
    ]
    if len({len(ids) for ids in groups.values()}) > 1:
        told = ", ".join(f"{group} {len(ids)}" for group, ids in sorted(groups.items()))
        mistakes.append(f"groups need as many brokers each as the others, found {told}")
    return mistakes


class RocketLayoutFile(Strict):
    """One layout file. The first profile is meant where none is named."""

    name: Name
    title: str
    version: Literal["4.9.7", "5.3.3"]
    replication: Literal["sync", "async"]
    flush: Literal["sync", "async"]
    hosts: Annotated[
        tuple[_HostFile, ...], Field(min_length=1, max_length=HOSTS_MAX), AfterValidator(_cluster)
    ]
    client_jvm: tuple[_JvmFlag, ...] = ()
    profiles: Annotated[dict[str, _ProfileFile], Field(min_length=1)]

    @model_validator(mode="after")
    def _somebody_to_wait_for(self) -> "RocketLayoutFile":
        if self.replication == SYNC and self.copies == 1:
            raise ValueError("replication = 'sync' on groups without a slave: nobody would answer")
        return self

    @property
    def copies(self) -> int:
        return max(map(len, _groups(self.hosts).values()))

    def layout(self, system: str, profile: str) -> Layout:
        chosen = self.profiles[profile]
        timers = Timers(chosen.idle_s, chosen.register_s, chosen.poll_s)
        return Layout(
            name=self.name,
            profile=profile,
            system=system,
            title=self.title,
            hosts=tuple(Host(host.name, host.name, _ordered(host)) for host in self.hosts),
            timer_s=chosen.idle_s,
            copies=self.copies,
            synchronise="automatic" if self.copies > 1 else "none",
            partition_handling="none",
            policies=(),
            rocketmq=RocketMq(self.version, self.replication, self.flush, timers, self.client_jvm),
        )


def _ordered(host: _HostFile) -> tuple[str, ...]:
    """The name server first, then masters: so they start."""

    def place(word: str) -> tuple[int, str]:
        broker = parse_broker(word)
        return (0, word) if broker is None else (1 + (broker[1] != MASTER_ID), word)

    return tuple(sorted(host.processes, key=place))
