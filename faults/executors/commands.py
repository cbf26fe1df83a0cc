"""Runs a user's commands for hosts that are not ours, one at a time a host, and notes each.

1. A command is its words: no shell reads them. Its standard input is empty; what it writes goes
   to a file, so that a broker that it starts, and that inherits the file, keeps nobody waiting.
2. It has a deadline; past it, it and what it started in its session are killed, and whether it
   took effect is unknown.
3. Nobody undoes what is still being done: a command waits for the host's one before, even where
   that was given up, or where another process (a harness that died) began it.
4. What a command said is noted with secrets blotted out.
"""

import asyncio
import json
import os
import signal
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tenacity import AsyncRetrying, RetryError, retry_if_result, stop_after_delay, wait_fixed

from faults.commands import DO, VERIFY, HostCommand, HostCommands
from faults.model import FaultError, Receipt, Told

MARK = "MQPROOF_COMMAND"  # in the environment of what runs: `<cluster> <host> <kind> <step>`
OUTPUT_MAX = 8192  # of what a command wrote: the end
TAIL_MAX = 200  # of that, what an error tells
BLOT = "***"
_INTERVAL_S = 0.05


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended; `status` is None where it had to be killed at its deadline."""

    status: int | None
    receipt: Receipt
    output: str

    @property
    def tail(self) -> str:
        said = " ".join(self.output.split())[-TAIL_MAX:]
        return f": {said}" if said else ""


class Commands:
    """The commands of one cluster. `log`: where each is noted; `secrets`: what is never noted."""

    def __init__(
        self, cluster: str, commands: HostCommands, log: Path, secrets: Sequence[str] = ()
    ) -> None:
        self._cluster = cluster
        self._commands = commands
        self._log = log
        self._secrets = tuple(secret for secret in secrets if secret)
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._running: set[asyncio.Task[Outcome]] = set()
        self._done: set[tuple[str, str]] = set()  # what was begun here, and has ended

    async def act(self, host: str, kind: str, step: str) -> Receipt:
        """Runs `do` or `undo`. Raises FaultError where it did not end with 0."""
        outcome = await self._run(host, kind, step)
        if outcome.status is None:
            deadline_s = self._command(host, kind).deadline_s
            raise FaultError(f"{_name(host, kind, step)}: no end within {deadline_s:g} s")
        if outcome.status != 0:
            what = f"{_name(host, kind, step)} ended with {outcome.status}"
            raise FaultError(f"{what}{outcome.tail}")
        return outcome.receipt

    async def told(self, host: str, kind: str) -> Told | None:
        """Whether the fault is in force by its `verify`; None where there is none.

        Raises FaultError where the command had to be killed or could not be started.
        """
        command = self._command(host, kind)
        if not command.verify:
            return None
        outcome = await self._run(host, kind, VERIFY)
        if outcome.status is None:
            raise FaultError(
                f"{_name(host, kind, VERIFY)}: no end within {command.deadline_s:g} s"
            )
        detail = f"its verify command ended with {outcome.status}{outcome.tail}"
        return Told(outcome.status == 0, detail)

    def _command(self, host: str, kind: str) -> HostCommand:
        try:
            return self._commands[host, kind]
        except KeyError:
            raise FaultError(f"the topology has no command for {kind} of {host}") from None

    async def _run(self, host: str, kind: str, step: str) -> Outcome:
        """To its end, whoever gives up waiting for it."""
        task = asyncio.create_task(self._in_turn(host, kind, step))
        self._running.add(task)
        task.add_done_callback(self._over)
        return await asyncio.shield(task)

    def _over(self, task: asyncio.Task[Outcome]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # seen: who asked may have given up by now

    async def _in_turn(self, host: str, kind: str, step: str) -> Outcome:
        command = self._command(host, kind)
        async with self._turns[host]:
            if step == DO:
                self._done.add((host, kind))
            elif (host, kind) not in self._done:
                await self._others_end(f"{self._cluster} {host} {kind} {DO}", command.deadline_s)
            outcome = await self._ended(host, kind, step, command.words(step), command.deadline_s)
        self._note(host, kind, step, command.words(step), outcome)
        return outcome

    async def _ended(
        self, host: str, kind: str, step: str, words: Sequence[str], deadline_s: float
    ) -> Outcome:
        mark = f"{self._cluster} {host} {kind} {step}"
        with tempfile.TemporaryFile() as output:
            issued_ns = time.monotonic_ns()
            try:
                process = await asyncio.create_subprocess_exec(
                    *words,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, MARK: mark},
                    start_new_session=True,
                )
            except OSError as error:
                raise FaultError(f"{_name(host, kind, step)}: {words[0]}: {error}") from error
            status = await _status(process, deadline_s)
            receipt = Receipt(issued_ns, time.monotonic_ns())
            return Outcome(status, receipt, self._blotted(_end_of(output)))

    async def _others_end(self, mark: str, limit_s: float) -> None:
        """Waits for what another process began; what does not end in time is killed."""
        attempts = AsyncRetrying(
            stop=stop_after_delay(limit_s),
            wait=wait_fixed(_INTERVAL_S),
            retry=retry_if_result(bool),
        )

        async def look() -> list[int]:
            return _marked(mark)

        try:
            await attempts(look)
        except RetryError:
            for pid in _marked(mark):
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)

    def _blotted(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, BLOT)
        return text

    def _note(
        self, host: str, kind: str, step: str, words: Sequence[str], outcome: Outcome
    ) -> None:
        """One JSON object a line; a disk that is full keeps no fault from being undone."""
        line = {
            "host": host,
            "kind": kind,
            "step": step,
            "words": [self._blotted(word) for word in words],
            "status": outcome.status,
            "issued_ns": outcome.receipt.issued_ns,
            "returned_ns": outcome.receipt.returned_ns,
            "output": outcome.output,
        }
        with suppress(OSError), self._log.open("a", encoding="utf-8") as log:
            log.write(json.dumps(line) + "\n")


async def _status(process: asyncio.subprocess.Process, deadline_s: float) -> int | None:
    """128 and the signal's number where a signal ended it; None past the deadline."""
    try:
        async with asyncio.timeout(deadline_s):
            status = await process.wait()
    except TimeoutError:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        return None
    return 128 - status if status < 0 else status


def _end_of(output: IO[bytes]) -> str:
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - OUTPUT_MAX))
    return output.read().decode(errors="replace")


def _marked(mark: str) -> list[int]:
    """The processes of this user that are such a command; what one has left running is none."""
    entry = f"{MARK}={mark}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            pid = int(folder.name)
            with suppress(OSError):
                said = (folder / "environ").read_bytes().split(b"\0")
                if entry in said and os.getsid(pid) == pid:
                    found.append(pid)
    return found


def _name(host: str, kind: str, step: str) -> str:
    return f"the {step} command for {kind} of {host}"
