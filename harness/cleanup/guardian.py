"""The guardian: a process that outlives the harness, undoes its faults and removes its project.

1. It has its own session and ignores the signals that people send to a harness. It reads a pipe
   whose other end only the harness holds.
2. The line `done` ends it without any action. If the pipe ends without that line, the harness has
   died: the guardian undoes faults at once, before anything else. If the engine does not answer,
   or the projects cannot be found, it tries again for CLEAR_LIMIT_S, and ATTEMPTS_LEAST times.
3. Then workers get WORKERS_LIMIT_S to stop by themselves, which closes their logs; the remaining
   ones are killed.
4. Then the project is removed, unless it is kept, until nothing of it has appeared for QUIET_S:
   processes that the harness had started may still create containers.
5. It has a standby (harness/cleanup/standby.py), which takes its place if both the harness and the
   guardian are killed.
6. Everything it does is written to guardian.log of the experiment, with seconds since the end of
   the harness. It never raises out of a step: the next one still has to happen.
"""

import argparse
import asyncio
import select
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, Protocol, TypeVar

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    RetryError,
    retry_if_exception_type,
    retry_if_result,
    stop_after_attempt,
    stop_after_delay,
    stop_all,
    wait_fixed,
)

from faults.core.model import FaultError
from harness.cleanup import standby
from harness.cleanup.heal import HealResult, Projects, clear, mend

LOG = "guardian.log"
READY = b"watching\n"
DONE = b"done\n"
START_LIMIT_S = 30.0
STOP_LIMIT_S = 10.0
WORKERS_LIMIT_S = 8.0  # they stop by themselves 5 s after the harness is lost
QUIET_S = 5.0
CLEAR_LIMIT_S = 40.0
ATTEMPTS_LEAST = 3  # a single one may wait for longer than CLEAR_LIMIT_S
_INTERVAL_S = 0.5
_IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Say = Callable[[str], None]
Found = TypeVar("Found")


class GuardianError(Exception):
    """The guardian did not start, or was not there when it was to be ended."""


class Workers(Protocol):
    """The worker processes of a project. Raises FaultError."""

    async def workers(self, project: str) -> Sequence[str]: ...

    async def kill_workers(self, project: str) -> None: ...


class GuardedProjects(Projects, Workers, Protocol):
    """The projects of one kind, and all that a guardian may do to them."""


class DeploymentKind(StrEnum):
    """The deployment whose projects a guardian cleans up."""

    COMPOSE = "compose"
    LOCAL = "local"
    EXTERNAL = "external"


@dataclass(frozen=True, slots=True)
class Assignment:
    """The project that a guardian watches over."""

    project: str
    experiment: Path
    keep: bool


class Guardian:
    """The harness's side of a running guardian."""

    def __init__(self, process: "subprocess.Popen[bytes]", log: Path) -> None:
        self._process = process
        self._log = log

    def watching(self) -> bool:
        return self._process.poll() is None

    def ending(self) -> str:
        """Return how it ended; "" while it watches."""
        status = self._process.poll()
        if status is None:
            return ""
        return f"signal {-status}" if status < 0 else f"status {status}"

    def done(self) -> None:
        """End it without any action. Raise GuardianError if it has died."""
        assert self._process.stdin is not None, "it was started with a pipe"
        try:
            self._process.stdin.write(DONE)
            self._process.stdin.close()
            status = self._process.wait(STOP_LIMIT_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise GuardianError(f"the guardian could not be ended: {error}") from error
        if status != 0:
            raise GuardianError(f"the guardian ended with status {status}")
        with suppress(OSError):  # the folder may be gone by now
            if not self._log.stat().st_size:
                self._log.unlink()


def start_guardian(
    project: str,
    experiment: Path,
    keep: bool,
    kind: DeploymentKind = DeploymentKind.COMPOSE,
    command: Sequence[str] = (sys.executable, "-m", "harness.cleanup.guardian"),
) -> Guardian:
    """Start a guardian and return when it watches. Raise GuardianError."""
    experiment = experiment.resolve()
    words = [*command, "--project", project, "--experiment", str(experiment), "--kind", kind]
    log = experiment / LOG
    try:
        process = _begin([*words, *(["--keep"] if keep else [])], log)
    except OSError as error:
        raise GuardianError(f"the guardian did not start: {error}") from error
    assert process.stdout is not None, "it was started with a pipe"
    readable, _, _ = select.select([process.stdout], [], [], START_LIMIT_S)
    if not readable or process.stdout.readline() != READY:
        process.kill()
        process.wait()
        raise GuardianError(f"the guardian did not start; see {log}")
    return Guardian(process, log)


def _begin(words: Sequence[str], log: Path) -> "subprocess.Popen[bytes]":
    """Raises OSError."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as errors:
        return subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,  # not ours: who waits for the end of ours would wait for the guardian
            cwd=Path(__file__).parents[2],  # where these packages lie, installed or not
            start_new_session=True,
        )


def watch(assignment: Assignment, projects: Callable[[], GuardedProjects], pipe: BinaryIO) -> int:
    """Run the guardian; return its exit status. `projects` is called when the harness is gone; it
    raises FaultError."""
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    # Ready first: without a guardian for UNGUARDED_S the runs end, and the standby takes its time.
    sys.stdout.buffer.write(READY)
    sys.stdout.buffer.flush()
    with standby.beside(sys.orig_argv, assignment.experiment):
        for line in iter(pipe.readline, b""):
            if line == DONE:
                return 0
        return _take_over(assignment, projects)


def _take_over(assignment: Assignment, projects: Callable[[], GuardedProjects]) -> int:
    say = _log(assignment.experiment)
    say(f"the harness is gone; project {assignment.project}")
    try:
        asyncio.run(take_over(assignment, projects, say))
    except Exception as error:  # the log is the only one that still listens
        say(f"the guardian failed: {error!r}")
        return 1
    return 0


async def take_over(
    assignment: Assignment, projects: Callable[[], GuardedProjects], say: Say
) -> None:
    """Reach the projects, also if the engine is busy at first, then clean up. Raise FaultError."""

    async def reach() -> GuardedProjects:
        return projects()

    await guard(assignment, await _again("reach the projects", reach, say), say)


async def guard(assignment: Assignment, projects: GuardedProjects, say: Say) -> None:
    """Clean up after a dead harness."""
    for step in (_mend, end_workers, _clear):
        try:
            await step(assignment, projects, say)
        except Exception as error:  # whatever it is, the next step has to happen
            say(f"{step.__name__.strip('_')}: FAILED: {error!r}")


async def _mend(assignment: Assignment, projects: GuardedProjects, say: Say) -> None:
    every = await _again("look for faults", projects.find, say)
    found = [one for one in every if one.name == assignment.project]
    if not found:
        say("nothing of the project stands")
    for project in found:
        async for row in mend(
            projects, replace(project, experiment=assignment.experiment), "guardian"
        ):
            say(_text(row))


async def _again(what: str, look: Callable[[], Awaitable[Found]], say: Say) -> Found:
    """Look until the engine answers. Raise FaultError if it does not within CLEAR_LIMIT_S.

    It may be busy just after the harness died, and nothing else undoes the faults.
    """

    async def attempt() -> Found:  # tenacity awaits only what is declared as a coroutine
        return await look()

    def note(state: RetryCallState) -> None:
        if state.attempt_number == 1 and state.outcome is not None:
            say(f"{what}: FAILED: {state.outcome.exception()}; it is tried again")

    attempts = AsyncRetrying(
        stop=stop_all(stop_after_delay(CLEAR_LIMIT_S), stop_after_attempt(ATTEMPTS_LEAST)),
        wait=wait_fixed(_INTERVAL_S),
        retry=retry_if_exception_type(FaultError),
        before_sleep=note,
        reraise=True,
    )
    return await attempts(attempt)


async def end_workers(assignment: Assignment, projects: Workers, say: Say) -> None:
    """Kill those that do not stop by themselves. Raise FaultError."""
    left = await _left_workers(assignment.project, projects)
    if left:
        say(f"kill workers that did not stop by themselves: {'; '.join(left)}")
        await projects.kill_workers(assignment.project)
    else:
        say("no worker runs")


async def _left_workers(project: str, projects: Workers) -> Sequence[str]:
    """Return the workers that still run after WORKERS_LIMIT_S."""

    async def look() -> Sequence[str]:
        return await projects.workers(project)

    attempts = AsyncRetrying(
        stop=stop_after_delay(WORKERS_LIMIT_S),
        wait=wait_fixed(_INTERVAL_S),
        retry=retry_if_result(bool),
    )
    try:
        return await attempts(look)
    except RetryError as error:
        left: Sequence[str] = error.last_attempt.result()
        return left


async def _clear(assignment: Assignment, projects: GuardedProjects, say: Say) -> None:
    """Remove the project until nothing was found for QUIET_S, at most for CLEAR_LIMIT_S."""
    if assignment.keep:
        say("kept, as requested (--keep)")
        return
    say(_text(await clear(projects, assignment.project)))
    began = quiet_since = time.monotonic()
    while time.monotonic() - quiet_since < QUIET_S and time.monotonic() - began < CLEAR_LIMIT_S:
        if await _stands(assignment.project, projects, say):
            say(_text(await clear(projects, assignment.project)))
            quiet_since = time.monotonic()
        await asyncio.sleep(_INTERVAL_S)  # between two looks
    if await _stands(assignment.project, projects, say):
        say("something is left of the project: run `mqproof heal`")


async def _stands(project: str, projects: GuardedProjects, say: Say) -> bool:
    try:
        return any(one.name == project for one in await projects.find())
    except FaultError as failure:
        say(f"look for leftovers: FAILED: {failure}")
        return True


def _text(row: HealResult) -> str:
    return row.what if row.ok and not row.doubt else f"{row.what}: FAILED: {row.doubt}"


def _log(experiment: Path) -> Say:
    """Return a function that appends lines to the log, or else to standard error."""
    began = time.monotonic()

    def say(text: str) -> None:
        line = f"+{time.monotonic() - began:.2f} s {text}\n"
        try:
            with (experiment / LOG).open("a", encoding="utf-8") as file:
                file.write(line)
        except OSError:
            sys.stderr.write(line)

    return say


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m harness.cleanup.guardian")
    parser.add_argument("--project", required=True)
    parser.add_argument("--experiment", required=True, type=Path)
    parser.add_argument("--kind", required=True, type=DeploymentKind)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args(arguments)
    assignment = Assignment(options.project, options.experiment, options.keep)
    return watch(assignment, lambda: _projects(options.kind, options.experiment), sys.stdin.buffer)


def _projects(kind: DeploymentKind, experiment: Path) -> GuardedProjects:
    """Import and return the projects of a kind when they are needed. Raise FaultError.

    These imports take most of a guardian's start, and it must watch soon, above all if it takes
    another one's place.
    """
    if kind is DeploymentKind.LOCAL:
        from harness.cleanup.local_projects import LocalProjects

        return LocalProjects(experiment)
    if kind is DeploymentKind.EXTERNAL:
        from harness.cleanup.external_projects import ExternalProjects

        return ExternalProjects()
    from harness.cleanup.docker_projects import connected

    return connected()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
