"""What is ours around clusters that are not: found by notes, mended, rid of workers, removed.

1. A note says that something may be left, whatever runs or does not. It is forgotten when all of
   it is removed and no journal says that a fault stands.
2. Faults are undone as the journal tells: by the owner's commands, at the proxy. Nothing else is
   done to a broker.
"""

import shlex
from collections.abc import Sequence
from pathlib import Path

from faults.core.commands import UNDO
from faults.core.model import FaultError
from faults.executors.external import ExternalExecutor
from harness.cleanup.heal import JOURNALS, RunningProject
from harness.cleanup.local_projects import LocalProjects
from harness.deploy.external import site as external_site
from harness.deploy.external.faults import healer
from harness.deploy.external.removal import remove
from harness.deploy.external.site import Site
from harness.run_folder.journal import JournalError, read, standing

_NOWHERE, _NOBODY = Path("/dev/null"), "nobody"


class ExternalProjects:
    """heal.Projects and guardian.Workers of this user's notes."""

    async def find(self) -> Sequence[RunningProject]:
        return [_running_project(name) for name in external_site.noted()]

    def executor(self, project: str) -> ExternalExecutor:
        return healer(_load(project))

    async def sweep(self, project: str) -> Sequence[str]:
        """Without a journal nothing was begun; of one that is torn, whatever holds by its verify
        command is undone."""
        site = _load(project)
        if not list(Path(site.experiment).glob(JOURNALS)):
            return ()
        swept, failures = [], []
        commands = site.commands()
        for (host, kind), command in site.topology.commands.items():
            try:
                result = await commands.verify_result(host, kind)
                if result is not None and result.in_force:
                    await commands.act(host, kind, UNDO)
                    swept.append(f"{kind} of {host} undone")
            except FaultError as failure:
                failures.append(str(failure))
                continue
            if result is None:
                words = shlex.join(command.undo)
                failures.append(
                    f"{host}: no command verifies a {kind}, so it may still be active; look at "
                    f"the host, and if it is, run: {words}"
                )
        if failures:
            raise FaultError("; ".join([*failures, *swept]))
        return swept

    async def remove(self, project: str) -> None:
        if project not in external_site.noted():
            return
        site = _load(project)
        doubts = list(await remove(site))
        experiment = Path(site.experiment)
        if anything_armed(experiment):
            doubts.append(f"a fault still stands; its undo is in {experiment / JOURNALS}")
        if doubts:
            raise FaultError("; ".join(doubts))
        external_site.forget(project)

    async def workers(self, project: str) -> Sequence[str]:
        return await LocalProjects().workers(project)

    async def kill_workers(self, project: str) -> None:
        await LocalProjects().kill_workers(project)


def anything_armed(experiment: Path) -> bool:
    """Whether a journal says so, or cannot be read."""
    try:
        return any(
            armed.returns for path in experiment.glob(JOURNALS) for armed in standing(read(path))
        )
    except (JournalError, OSError):
        return True


def _running_project(name: str) -> RunningProject:
    """A note that cannot be read has no journals and no owner that lives: healing tells of it."""
    try:
        site = _load(name)
    except FaultError:
        return RunningProject(name, _NOWHERE, _NOBODY, False)
    return RunningProject(name, Path(site.experiment), site.owner, False)


def _load(name: str) -> Site:
    try:
        return external_site.load(name)
    except OSError as error:
        raise FaultError(str(error)) from error
