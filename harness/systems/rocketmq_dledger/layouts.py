"""The shape of a layout file of DLedger groups, and the layout that it becomes."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from harness.plan.model import Layout
from harness.plan.toml_problems import TomlProblem
from harness.systems.rocketmq.layout import ASYNC, MAJORITY, RocketMq
from harness.systems.rocketmq.layout_files import (
    VERSION_HELP,
    RocketFile,
    file_mistakes,
    groups,
    processes_of,
    released,
)

_MEMBERS_MIN = 3  # of two, both are needed: no group of two elects anybody after a death


class DledgerFile(RocketFile):
    """A layout file of groups. The number of a broker is that of a member, which may lead as any
    other."""

    version: str = Field(description="version of the servers")

    def layout(self, system: str, profile: str) -> Layout:
        timers = self.timers(profile)
        # DLedger's log is flushed by a thread of its own, whatever the configuration says.
        own = RocketMq(self.version, MAJORITY, ASYNC, timers, self.client_jvm)
        return self.made(system, profile, own)


class DledgerLayoutFile(DledgerFile):
    """One of the real ones."""

    version: Annotated[str, released("4.9.0", "5")] = Field(description=VERSION_HELP)


def mistakes(document: Mapping[str, Any], _: tuple[str, ...] = ()) -> Iterator[TomlProblem]:
    """Check several keys together; the shape finds missing and ill-typed keys."""
    found = list(file_mistakes(document))
    yield from found
    if any("processes" in problem.path for problem in found):
        return  # what its groups are is not known
    for group, members in sorted(groups(processes_of(document)).items()):
        if len(members) < _MEMBERS_MIN:
            text = f"{group} has {len(members)} members: fewer than {_MEMBERS_MIN} survive nothing"
            yield TomlProblem(("hosts",), text)
