"""The compose tool that is there: Compose v2 as a plugin, or docker-compose 1.29 and later.

1. Both are given the same words; what only one understands (`up --wait`) is never used.
2. Every call has a limit, and a failed one tells the last lines that the tool wrote.
"""

import asyncio
import shutil
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.cluster.port import DeployError

_TOOLS = (("docker", "compose"), ("docker-compose",))
_LAST_LINES = 12
_TAKEN = "overlaps"  # "Pool overlaps with other one on this address space"
_ASK_LIMIT_S = 20.0


class AddressTaken(DeployError):
    """Another network has these addresses since they were chosen."""


@dataclass(frozen=True, slots=True)
class ComposeTool:
    command: tuple[str, ...]
    version: str

    async def run(self, project: str, file: Path, words: list[str], limit_s: float) -> None:
        """Raises DeployError when it fails or does not end in time, AddressTaken for a network."""
        what = " ".join([*self.command, *words])
        process = await asyncio.create_subprocess_exec(
            *self.command,
            *("--project-name", project, "--file", str(file)),
            *words,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,  # an interrupt from the keyboard reaches only the harness
        )
        try:
            output, _ = await asyncio.wait_for(process.communicate(), limit_s)
        except TimeoutError:
            raise DeployError(f"{what} did not end within {limit_s:.0f} s") from None
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if process.returncode:
            lines = output.decode(errors="replace").strip().splitlines()[-_LAST_LINES:]
            text = "\n".join([f"{what} failed:", *lines])
            raise AddressTaken(text) if _TAKEN in text else DeployError(text)


def find_tool() -> ComposeTool:
    """The first tool that answers. Raises DeployError with how to get one."""
    for command in _TOOLS:
        version = _version(command)
        if version is not None:
            return ComposeTool(command, version)
    raise DeployError(
        "no compose tool: neither `docker compose` nor `docker-compose` answers",
        remedy="install Docker's compose plugin, or Debian's package docker-compose",
    )


def _version(command: tuple[str, ...]) -> str | None:
    if shutil.which(command[0]) is None:
        return None
    words = [*command, "version", "--short"]
    try:
        completed = subprocess.run(
            words, capture_output=True, text=True, timeout=_ASK_LIMIT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return (
        completed.stdout.strip()
        if completed.returncode == 0 and completed.stdout.strip()
        else None
    )
