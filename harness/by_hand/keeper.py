"""The keeper: a process that runs the clusters by hand, and outlives `mqproof up`.

1. It has its own session. Until the clusters are up it ends with its parent; then only a request,
   or a signal, ends it.
2. It undoes its faults and removes the clusters before it ends. If it is killed, the guardian of
   each cluster does it.
3. It holds a lock on its folder. The folder goes when everything in it is down.
4. Each line that it writes on standard output until it is up is a line for its parent (lines.py).
"""

import argparse
import asyncio
import os
import shutil
import sys
from collections.abc import Coroutine, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from faults.core.mechanisms import COMPOSE, LOCAL
from harness.by_hand.beside import start_beside
from harness.by_hand.choosing import chosen
from harness.by_hand.local import start_local
from harness.by_hand.serving import KeeperRequests
from harness.by_hand.starting import StartedClusters, ToStart
from harness.cleanup.guards import Guards
from harness.cluster.port import DeployError, WrongInput
from harness.deploy import by_hand_lines as lines
from harness.deploy.by_hand_files import ByHandClusters, save
from harness.deploy.owner import owner
from harness.judging.exits import Exit
from harness.outside.locks import LockAnswer, lock
from harness.plan.problems import PlanError
from harness.run import signals
from harness.workers.protocol import encode
from spark_analysis.files.failed import os_reason

_START = {LOCAL: start_local, COMPOSE: start_beside}


class Keeper:
    """The clusters of one folder, which is locked by this process."""

    def __init__(self, folder: Path, words: list[str], deployment: str) -> None:
        self._folder = folder
        self._deployment, self._choices = chosen(words, deployment)
        self._started = StartedClusters()
        self._end = asyncio.Event()
        self._over = asyncio.Event()
        self._guards: list[tuple[Guards, asyncio.Task[None]]] = []
        self._parent = True
        self._requests = KeeperRequests(self._started.running, deployment, self._end)

    async def keep(self) -> Exit:
        """Return when everything is down."""
        loop = asyncio.get_running_loop()
        with signals.handled(lambda: loop.call_soon_threadsafe(self._end.set)):
            try:
                code = await self._keep()
            except PlanError as error:
                self._say(lines.REFUSED, problems=[str(one) for one in error.problems])
                code = Exit.BAD_INPUT
            except WrongInput as error:
                self._say(lines.REFUSED, problems=[str(error)])
                code = Exit.BAD_INPUT
            except DeployError as error:
                self._say(lines.FAILED, text=str(error))
                code = Exit.NOT_DECIDED
            else:
                self._say(lines.END, code=int(code))
            await self._requests.finish()
            return code

    async def _keep(self) -> Exit:
        leash = asyncio.create_task(self._leash())
        try:
            if await self._unless_ended(self._start()):
                return await self._serve(leash)
        finally:
            leash.cancel()
            await self._remove()
        return Exit.INTERRUPTED

    async def _start(self) -> None:
        self._save(running=False)
        wanted = ToStart(
            self._choices,
            self._folder,
            lambda name: self._say(lines.STEP, text=name),
            self._guarded,
            self._started,
        )
        await _START[self._deployment](wanted)
        with _as_deploy_error(self._folder):
            self._requests.begin()
        self._save(running=True)

    async def _serve(self, leash: "asyncio.Task[bool]") -> Exit:
        with _as_deploy_error(self._folder), lines.socket_path(self._folder) as path:
            server = await asyncio.start_unix_server(self._requests.answer, path)
        self._say(lines.UP)
        if await leash:
            self._let_go()
            await self._end.wait()
        server.close()
        return Exit.PASSED

    def _guarded(self, experiment: Path) -> Guards:
        with _as_deploy_error(experiment):
            experiment.mkdir(parents=True)
        guards = Guards(experiment, False, self._note)
        watching = asyncio.create_task(guards.watch(self._over, self._lose))
        self._guards.append((guards, watching))
        return guards

    def _note(self, text: str) -> None:
        """Write to the keeper's log."""
        print(text, file=sys.stderr, flush=True)

    def _lose(self, reason: str) -> None:
        self._note(f"everything ends: {reason}")
        self._end.set()

    async def _remove(self) -> None:
        """Undo, remove, and forget. Raise DeployError, and leave the folder to `mqproof heal`."""
        if self._guards:
            self._say(lines.STEP, text="undo faults and remove the clusters")
        await self._requests.end()
        try:
            await self._started.remove()
        finally:
            self._over.set()
            for guards, watching in self._guards:
                await watching
                guards.end()
        shutil.rmtree(self._folder, ignore_errors=True)

    async def _unless_ended(self, work: Coroutine[Any, Any, None]) -> bool:
        """Return whether the work was done. It is cancelled if the end is requested."""
        task, end = asyncio.create_task(work), asyncio.create_task(self._end.wait())
        await asyncio.wait((task, end), return_when=asyncio.FIRST_COMPLETED)
        end.cancel()
        if not task.done():
            task.cancel()
        await asyncio.wait((task,))
        if task.cancelled():
            return False
        task.result()
        return True

    async def _leash(self) -> bool:
        """Return whether the parent let us go; request the end if it ended instead."""
        reader = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        if await reader.readline() == lines.GO:
            return True
        self._end.set()
        return False

    def _save(self, running: bool) -> None:
        described = tuple(one.described for one in self._started.running)
        with _as_deploy_error(self._folder):
            save(self._folder, ByHandClusters(owner(), self._deployment, running, described))

    def _say(self, say: str, **values: Any) -> None:
        if not self._parent:
            self._requests.report(say, **values)
            return
        with suppress(OSError):  # it went away; the leash reports it
            sys.stdout.buffer.write(encode({"say": say, **values}))
            sys.stdout.buffer.flush()

    def _let_go(self) -> None:
        self._parent = False
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


@contextmanager
def _as_deploy_error(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DeployError(os_reason(error, folder)) from error


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m harness.by_hand.keeper")
    parser.add_argument("--folder", required=True, type=Path)
    parser.add_argument("--deployment", required=True)
    parser.add_argument("words", nargs="*")
    options = parser.parse_args(arguments)
    with ExitStack() as held:
        if lock(options.folder, held, wait=False) is LockAnswer.HELD:
            raise AssertionError(f"{options.folder} was made for this process alone")
        return asyncio.run(_kept(options.folder, options.words, options.deployment))


async def _kept(folder: Path, words: list[str], deployment: str) -> Exit:
    return await Keeper(folder, words, deployment).keep()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
