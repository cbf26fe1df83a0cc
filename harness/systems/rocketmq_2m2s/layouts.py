"""The shape of a layout file of masters and slaves, and the layout that it becomes."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from harness.plan.model import Layout
from harness.plan.toml_problems import TomlProblem
from harness.systems.rocketmq.layout import ASYNC, SYNC, RocketMq
from harness.systems.rocketmq.layout_files import (
    VERSION_HELP,
    Flush,
    RocketFile,
    file_mistakes,
    groups,
    processes_of,
    released,
)


class MasterSlaveFile(RocketFile):
    """A layout file of masters and slaves. Of a group's brokers the one with the number 0 is the
    master. `version`: of the servers."""

    version: str = Field(description="version of the servers")
    replication: Literal["sync", "async"] = Field(
        description="`sync`: a confirm waits for a slave"
    )
    flush: Flush = Field(description="`sync`: a confirm waits for the disk")

    def layout(self, system: str, profile: str) -> Layout:
        timers = self.timers(profile)
        own = RocketMq(self.version, self.replication, self.flush, timers, self.client_jvm)
        return self.made(system, profile, own)


class RocketLayoutFile(MasterSlaveFile):
    """One of the real ones."""

    version: Annotated[str, released("4.9.0")] = Field(description=VERSION_HELP)


def mistakes(document: Mapping[str, Any], _: tuple[str, ...] = ()) -> Iterator[TomlProblem]:
    """Check several keys together; the shape finds missing and ill-typed keys."""
    found = list(file_mistakes(document))
    yield from found
    if any("processes" in problem.path for problem in found):
        return  # what its groups are is not known
    sizes = map(len, groups(processes_of(document)).values())
    if document.get("replication") == SYNC and set(sizes) == {1}:
        text = f"{SYNC!r} on groups without a slave: no slave would acknowledge; add slaves"
        yield TomlProblem(("replication",), text, (ASYNC,))
