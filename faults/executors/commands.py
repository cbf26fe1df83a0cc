"""Runs a user's commands for hosts that are not ours, one at a time a host, and notes each.

1. A command is its words: no shell reads them. Its standard input is empty. Its output goes to a
   file: a broker that it starts, and that inherits the file, does not block the caller. The undo
   runs in the same folder as the command that it undoes.
2. A command has a deadline and an output limit; past either, it and its process group are killed,
   and it is unknown whether it took effect.
3. A command is not undone while it still runs: a command waits for the host's previous one, even
   if that was given up, or another process (a harness that died) began it.
4. A command's output is noted with secrets masked, and reported without terminal control
   sequences.
"""

import asyncio
import json
import os
import signal
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tenacity import AsyncRetrying, RetryError, retry_if_result, stop_after_delay, wait_fixed

from faults.core.commands import DO, NO_ANSWER, VERIFY, HostCommand, HostCommands
from faults.core.model import FaultError, Receipt, VerifyResult

MARK = "MQPROOF_COMMAND"  # in the environment of what runs: `<cluster> <host> <kind> <step>`
OUTPUT_MAX = 8192  # of what a command wrote: the end
TAIL_MAX = 200  # of that, what an error tells
FLOOD_MAX = 64 << 20  # a command that writes more is out of control, and fills the disk
BLOT = "***"
_INTERVAL_S = 0.05


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a command. `status` is None if it had to be killed, `why` says for what."""

    status: int | None
    receipt: Receipt
    output: str
    why: str = ""

    @property
    def tail(self) -> str:
        said = "".join(mark if mark.isprintable() else " " for mark in self.output)
        said = " ".join(said.split())[-TAIL_MAX:]
        return f": {said}" if said else ""


class Commands:
    """The commands of one cluster. `log`: where each is noted; `secrets`: what is never noted;
    `folder`: where they run, "" is the folder of this process."""

    def __init__(
        self,
        cluster: str,
        commands: HostCommands,
        log: Path,
        secrets: Sequence[str] = (),
        folder: str = "",
    ) -> None:
        self._cluster = cluster
        self._commands = commands
        self._log = log
        # The longest first: one may be a part of another.
        self._secrets = sorted((one for one in secrets if one), key=len, reverse=True)
        self._folder = folder
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._running: set[asyncio.Task[Outcome]] = set()
        self._done: set[tuple[str, str]] = set()  # what was begun here, and has ended

    async def act(self, host: str, kind: str, step: str) -> Receipt:
        """Runs `do` or `undo`. Raises FaultError where it did not end with 0."""
        outcome = await self._run(host, kind, step)
        if outcome.status != 0:
            raise FaultError(_failure(_name(host, kind, step), outcome))
        return outcome.receipt

    async def verify_result(self, host: str, kind: str) -> VerifyResult | None:
        """Return whether the fault is in force by its `verify`; None if there is none.

        Raises FaultError if the command had to be killed, could not be started, or reports by its
        status that it did not find out.
        """
        command = self._command(host, kind)
        if not command.verify:
            return None
        outcome = await self._run(host, kind, VERIFY)
        if outcome.status is None or outcome.status >= NO_ANSWER:
            raise FaultError(_failure(_name(host, kind, VERIFY), outcome))
        detail = f"its verify command ended with {outcome.status}{outcome.tail}"
        return VerifyResult(outcome.status == 0, detail)

    def _command(self, host: str, kind: str) -> HostCommand:
        try:
            return self._commands[host, kind]
        except KeyError:
            raise FaultError(f"the topology has no command for {kind} of {host}") from None

    async def _run(self, host: str, kind: str, step: str) -> Outcome:
        """Run the command to its end, even if the caller gives up waiting for it."""
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
                    cwd=self._folder or None,
                    start_new_session=True,
                )
            except OSError as error:
                raise FaultError(f"{_name(host, kind, step)}: {words[0]}: {error}") from error
            why = await _killed_for(process, deadline_s, lambda: os.fstat(output.fileno()).st_size)
            receipt = Receipt(issued_ns, time.monotonic_ns())
            said = self._end_of(output)
            return Outcome(None if why else _status(process), receipt, said, why)

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

    def _end_of(self, output: IO[bytes]) -> str:
        """The end of what was written. A secret that the cut would have halved is not in it."""
        margin = max((len(secret.encode()) for secret in self._secrets), default=0)
        size = output.seek(0, os.SEEK_END)
        begin = max(0, size - OUTPUT_MAX - margin)
        output.seek(begin)
        said = self._blotted(output.read(OUTPUT_MAX + margin).decode(errors="replace"))
        return said[margin if begin else 0 :][-OUTPUT_MAX:]

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


async def _killed_for(
    process: asyncio.subprocess.Process, deadline_s: float, written: Callable[[], int]
) -> str:
    """Waits for its end; "" where it came by itself. `written`: bytes, up to now."""
    ending = asyncio.create_task(process.wait())
    why = f"no end within {deadline_s:g} s"
    with suppress(TimeoutError):
        async with asyncio.timeout(deadline_s):
            while not (await asyncio.wait({ending}, timeout=_INTERVAL_S))[0]:
                if written() > FLOOD_MAX:
                    why = f"it wrote more than {FLOOD_MAX >> 20} MB"
                    break
    if ending.done():
        return ""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await ending
    return why


def _status(process: asyncio.subprocess.Process) -> int:
    """Of one that has ended: 128 and the signal's number where a signal ended it."""
    status = process.returncode
    assert status is not None, "its end was waited for"
    return 128 - status if status < 0 else status


def _failure(name: str, outcome: Outcome) -> str:
    return (
        f"{name}: {outcome.why}"
        if outcome.why
        else (f"{name} ended with {outcome.status}{outcome.tail}")
    )


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
