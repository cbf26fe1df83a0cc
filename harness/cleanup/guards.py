"""One guardian a project, from before its first process until after its last.

1. A guardian that dies is noticed, and another one takes its place.
2. Nothing goes on unguarded for more than UNGUARDED_S: the runs are ended then, with the reason.
"""

import asyncio
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from harness.cleanup.guardian import DeploymentKind, GuardianError, start_guardian
from harness.cluster.port import DeployError

POLL_S = 0.2
UNGUARDED_S = 2.0


class Watching(Protocol):
    """The harness's side of a guardian."""

    def watching(self) -> bool: ...

    def ending(self) -> str:
        """How it ended, where it did."""

    def done(self) -> None:
        """Raises GuardianError."""


@dataclass(slots=True)
class Guards:
    """The guardians of an experiment; `keep`: the clusters stay when it is over."""

    folder: Path
    keep: bool
    report: Callable[[str], None]
    start: Callable[[str, Path, bool, DeploymentKind], Watching] = start_guardian
    guardians: dict[str, Watching] = field(default_factory=dict)  # by project
    kinds: dict[str, DeploymentKind] = field(
        default_factory=dict
    )  # in the order in which they were made
    given_up: set[str] = field(default_factory=set)  # projects without a guardian from now on

    @property
    def external(self) -> list[str]:
        """All of that kind."""
        return [project for project, kind in self.kinds.items() if kind is DeploymentKind.EXTERNAL]

    def begin(self, kind: DeploymentKind, project: str) -> None:
        """Raises DeployError: without a guardian nothing is started."""
        self.kinds[project] = kind
        try:
            self.guardians[project] = self.start(project, self.folder, self.keep, kind)
        except GuardianError as failure:
            raise DeployError(f"no guardian, so nothing is started: {failure}") from failure

    async def watch(self, over: asyncio.Event, end: Callable[[str], object]) -> None:
        """Watch the guardians until it is over, and wait for a start in progress.

        `end` ends the runs, for a reason.
        """
        while not await _passed(over):
            for project, guardian in list(self.guardians.items()):
                if not guardian.watching() and project not in self.given_up:
                    await self._again(project, guardian.ending(), end)

    def end(self) -> None:
        """End the guardians; the loss of one was reported before."""
        for project, guardian in self.guardians.items():
            if project in self.given_up and not guardian.watching():
                continue
            try:
                guardian.done()
            except GuardianError as failure:
                self.report(f"the guardian did not end well: {failure}; try: mqproof heal")
        if self.keep and self.kinds:
            project = list(self.kinds)[-1]
            self.report(f"kept standing; to remove it: {self._removal(project)}")

    async def _again(self, project: str, ending: str, end: Callable[[str], object]) -> None:
        """Start another guardian in its place, or end all runs."""
        lost_s = time.monotonic()
        self.report(f"the guardian of {project} died ({ending}): another one is started")
        late = asyncio.get_running_loop().call_later(
            UNGUARDED_S, self._give_up, project, ending, end
        )
        try:
            while (why := await self._started(project)) and project not in self.given_up:
                self.report(f"no other guardian of {project}: {why}")
                await asyncio.sleep(POLL_S)
        finally:
            late.cancel()
        if not why:
            self.report(f"{project} is guarded again, after {time.monotonic() - lost_s:.1f} s")

    async def _started(self, project: str) -> str:
        """Return why no other guardian started; "" if one watches."""
        kind = self.kinds[project]
        try:
            self.guardians[project] = await asyncio.to_thread(
                self.start, project, self.folder, self.keep, kind
            )
        except GuardianError as failure:
            return str(failure)
        return ""

    def _give_up(self, project: str, ending: str, end: Callable[[str], object]) -> None:
        self.given_up.add(project)
        end(
            f"the guardian of {project} died ({ending}), and there was none for more than "
            f"{UNGUARDED_S:g} s"
        )

    def _removal(self, project: str) -> str:
        if self.kinds[project] is DeploymentKind.LOCAL:
            return f"{sys.executable} -m harness.cleanup.local_projects {project}"
        file = self.folder / "deployments" / project / "compose.yaml"
        return f"docker compose -p {project} -f {file} down -v"


async def _passed(over: asyncio.Event) -> bool:
    """Wait for POLL_S; return whether it is over."""
    with suppress(TimeoutError):
        async with asyncio.timeout(POLL_S):
            await over.wait()
    return over.is_set()
