"""A JSON-lines conversation with a subprocess of ours, over its standard streams.

1. Standard output carries the messages; the end of standard error is kept for error texts.
2. The process leads a session of its own: an interrupt from the keyboard reaches only the harness.
3. An end by a signal is reported as shells and containers do: 128 and the signal's number.
4. A signal goes through a descriptor of the process. asyncio's own `kill` (Python 3.11) looks
   first whether the process has ended. If so, it takes the exit status from the event loop.
"""

import asyncio
import os
import signal
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness.cluster.port import DeployError
from harness.workers.protocol import decode, encode

_LINE_LIMIT = 1 << 24
_ERROR_LINES = 20
_END_LIMIT_S = 2.0  # from the end of its output, or of its input, to its own


class PipeChannel:
    """port.Channel. Made by `start`."""

    def __init__(self, name: str, process: asyncio.subprocess.Process) -> None:
        self.name = name
        self._process = process
        self._descriptor = _opened(process.pid)
        self._errors: deque[str] = deque(maxlen=_ERROR_LINES)
        self._ended = False
        self._listening = asyncio.create_task(self._keep_errors())

    @classmethod
    async def start(
        cls, name: str, command: list[str], environment: dict[str, str], folder: Path
    ) -> "PipeChannel":
        """Raises DeployError."""
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=environment,
                cwd=folder,
                limit=_LINE_LIMIT,
                start_new_session=True,
            )
        except OSError as error:
            raise DeployError(f"{name} could not be started: {error}") from error
        return cls(name, process)

    @property
    def errors(self) -> str:
        """The last lines of its standard error."""
        return "\n".join(self._errors)

    async def send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None, "it was started with pipes"
        try:
            self._process.stdin.write(encode(message))
            await self._process.stdin.drain()
        except (OSError, RuntimeError) as error:
            raise DeployError(self._gone(str(error) or "its input is closed")) from error

    async def receive(self) -> dict[str, Any] | None:
        assert self._process.stdout is not None, "it was started with pipes"
        try:
            line = await self._process.stdout.readline()
            if line.endswith(b"\n"):  # a line that a kill cut off is no message
                return decode(line)
        except ValueError as error:  # no JSON, or a line without an end
            raise DeployError(self._gone(f"it wrote what is no message: {error}")) from error
        self._ended = True
        return None

    async def exit_code(self) -> int | None:
        if self._ended:
            with suppress(TimeoutError):
                async with asyncio.timeout(_END_LIMIT_S):
                    await self._process.wait()
                    # Python 3.11.2 does not wait for its output, which has the last words.
                    await asyncio.shield(self._listening)
        code = self._process.returncode
        return 128 - code if code is not None and code < 0 else code

    async def kill(self) -> None:
        if self._descriptor is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)

    async def close(self) -> None:
        """Waits a little for the process, so that nothing of it outlives the event loop."""
        assert self._process.stdin is not None, "it was started with pipes"
        self._process.stdin.close()
        try:
            await self._wait()
        finally:
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None

    async def _wait(self) -> None:
        assert self._process.stdin is not None, "it was started with pipes"
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_LIMIT_S):
                await self._process.wait()
                await self._listening
                with suppress(OSError):  # Python 3.11.2 prints an error that is harmless here
                    await self._process.stdin.wait_closed()

    async def _keep_errors(self) -> None:
        assert self._process.stderr is not None, "it was started with pipes"
        with suppress(ValueError):  # a line without an end: what came before it is kept
            async for line in self._process.stderr:
                self._errors.append(line.decode(errors="replace").rstrip("\n"))

    def _gone(self, reason: str) -> str:
        tail = f"; its last words:\n{self.errors}" if self._errors else ""
        return f"{self.name} cannot be talked to: {reason}{tail}"


def _opened(pid: int) -> int | None:
    """Return a descriptor of a process; None if it has ended and its parent has read how."""
    with suppress(ProcessLookupError):
        return os.pidfd_open(pid)
    return None
