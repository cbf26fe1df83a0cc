"""Cleanup of what an experiment left behind: active faults first, then projects of dead owners.

1. Everything is found by labels, through the engine, or by the environment of processes. Journals
   list the active faults.
2. Cleanup may be repeated: undoing a fault that is not there is no error.
3. A project whose owner still runs is left alone, and so is one that people started by hand (it
   has no owner).
4. Without a readable journal everything that could be a fault is removed: broker processes that
   ended are started, frozen ones resumed, chains and netem of mqproof removed, the proxy reset.
5. One failure does not stop the rest: each step is a row with its outcome.
6. A project that is kept (`mqproof.keep` = 1) gets its faults undone and keeps running, unless its
   experiment is chosen by name.
7. If some experiments are chosen, others are not touched. A dry run only looks and reads.
"""

import shlex
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from faults.core.model import Armed, Executor, FaultError
from faults.performing import perform_all
from harness.outside.files import is_folder, real_path
from harness.plan.operations import OPERATIONS
from harness.run_folder.journal import Journal, JournalError, read, standing

JOURNALS = "runs/*/journal.jsonl"


@dataclass(frozen=True, slots=True)
class RunningProject:
    """A running project as the engine, or /proc, shows it."""

    name: str
    experiment: Path
    owner: str  # "<pid> <start ticks> <boot id>"
    keep: bool


@dataclass(frozen=True, slots=True)
class Chosen:
    """The choice of experiments whose projects are cleaned up; by default all."""

    results: Path | None = None  # experiments in this folder, or the one that it is
    experiment: str = ""  # its name, or its folder

    def means(self, experiment: Path) -> bool:
        if self.results is not None and not experiment.is_relative_to(real_path(self.results)):
            return False
        named = experiment.name, str(experiment)
        return not self.experiment or self.experiment in named or self._folder == experiment

    def keeps(self, project: RunningProject) -> bool:
        """Return whether it keeps running: only who names its experiment removes it."""
        return project.keep and not self.experiment

    @property
    def there(self) -> bool:
        """Return whether there is such a folder, with running projects or not."""
        if not self.experiment:
            return self.results is None or is_folder(self.results)
        inside = (self.results or Path()) / self.experiment
        return is_folder(inside) or (self.results is None and is_folder(self._folder))

    @property
    def _folder(self) -> Path:
        return real_path(Path(self.experiment))


EVERYBODY = Chosen()


@dataclass(frozen=True, slots=True)
class HealResult:
    """One thing that healing did, or could not do."""

    project: str
    what: str
    ok: bool = True
    doubt: str = ""


class Projects(Protocol):
    """The projects of one engine, the local or the external ones, and what healing may do to them.

    Raises FaultError.
    """

    async def find(self) -> Sequence[RunningProject]: ...

    def executor(self, project: str) -> Executor: ...

    async def sweep(self, project: str) -> Sequence[str]:
        """Remove everything that could be a fault; return what was removed."""

    async def remove(self, project: str) -> None:
        """Remove all of it; it is no error if there is nothing."""


async def heal(
    projects: Projects,
    alive: Callable[[str], bool],
    chosen: Chosen = EVERYBODY,
    dry: bool = False,
) -> AsyncIterator[HealResult]:
    """Clean up; yield a row for each step. `alive` returns whether an owner still runs."""
    try:
        found = await projects.find()
    except FaultError as failure:
        yield HealResult("", "find what was left behind", False, str(failure))
        return
    for project in [one for one in found if chosen.means(one.experiment)]:
        if not project.owner:
            yield HealResult(project.name, "left alone: it was started by hand")
        elif alive(project.owner):
            pid = project.owner.partition(" ")[0]
            yield HealResult(project.name, f"left alone: its owner, process {pid}, still runs")
        elif dry:
            for row in _meant(project, chosen.keeps(project)):
                yield row
        else:
            async for row in _healed(projects, project, chosen.keeps(project)):
                yield row


async def _healed(
    projects: Projects, project: RunningProject, keep: bool
) -> AsyncIterator[HealResult]:
    async for row in mend(projects, project, "heal"):
        yield row
    if keep:
        yield HealResult(project.name, _kept(project))
    else:
        yield await clear(projects, project.name)


def _kept(project: RunningProject) -> str:
    name = shlex.quote(project.experiment.name)
    return f"kept, as requested (--keep); to remove it: mqproof heal --experiment {name}"


def _meant(project: RunningProject, keep: bool) -> Iterator[HealResult]:
    """Yield rows for what `_healed` would do."""
    journals, doubts = _journals(project.experiment)
    for doubt in doubts:
        yield HealResult(project.name, f"would sweep away what could be a fault, for {doubt}")
    for path, faults in journals.items():
        for armed in reversed(faults):
            never = "" if armed.returns else ": the scenario never ends it"
            yield HealResult(
                project.name, f"{'' if never else 'would '}{_undo(path, armed)}{never}"
            )
    if not journals and not doubts:
        yield HealResult(project.name, "would sweep away what could be a fault: it has no journal")
    yield HealResult(project.name, _kept(project) if keep else "would remove all of it")


def _every_run(folder: Path) -> bool:  # noqa: ARG001  (of any run)
    return True


async def mend(
    projects: Projects,
    project: RunningProject,
    by: str,
    is_own: Callable[[Path], bool] = _every_run,
) -> AsyncIterator[HealResult]:
    """Undo every active fault of the project. `is_own`: whether a run's folder is the project's,
    where an experiment has several.
    """
    journals, doubts = _journals(project.experiment, is_own)
    for doubt in doubts:
        yield HealResult(project.name, "read a journal", False, doubt)
    for path, faults in journals.items():
        for armed in reversed(faults):  # a hang holds what an earlier slow would release
            yield await _undone(projects, project.name, path, armed, by)
    if not journals or doubts:
        yield await _swept(projects, project.name)


def _journals(
    experiment: Path, is_own: Callable[[Path], bool] = _every_run
) -> tuple[dict[Path, tuple[Armed, ...]], list[str]]:
    """Return the active faults of each readable journal, and why others cannot be read."""
    journals: dict[Path, tuple[Armed, ...]] = {}
    doubts = []
    for path in sorted(one for one in experiment.glob(JOURNALS) if is_own(one.parent)):
        try:
            journals[path] = standing(read(path))
        except (JournalError, OSError) as failure:
            doubts.append(str(failure))
    return journals, doubts


async def _undone(
    projects: Projects, project: str, path: Path, armed: Armed, by: str
) -> HealResult:
    what = _undo(path, armed)
    if not armed.returns:
        return HealResult(project, f"{what}: the scenario never ends it")
    try:
        await perform_all(projects.executor(project), armed.undo)
    except FaultError as failure:
        return HealResult(project, what, False, str(failure))
    try:
        journal = Journal(path, by)
        journal.undone(armed)
        journal.close()
    except OSError as failure:
        return HealResult(project, what, True, f"undone, but not noted: {failure}")
    return HealResult(project, what)


def _undo(path: Path, armed: Armed) -> str:
    of = "operation" if armed.kind in OPERATIONS else "fault"
    return f"undo {armed.kind} of {armed.resolved} ({of} {armed.window} of {path.parent.name})"


async def _swept(projects: Projects, project: str) -> HealResult:
    what = "sweep away what could be a fault"
    try:
        swept = await projects.sweep(project)
    except FaultError as failure:
        return HealResult(project, what, False, str(failure))
    return HealResult(project, f"{what}: {'; '.join(swept) or 'nothing was there'}")


async def clear(projects: Projects, project: str) -> HealResult:
    """Remove the whole project."""
    what = "remove all of it"
    try:
        await projects.remove(project)
    except FaultError as failure:
        return HealResult(project, what, False, str(failure))
    return HealResult(project, what)
