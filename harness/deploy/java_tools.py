"""Where Maven and Java run: on this machine, or in a container where it has none.

What a command reads and writes lies in one folder, which means the same at both places.
"""

import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Protocol

import docker
from docker.errors import DockerException

from harness.cluster.port import DeployError
from harness.deploy import labels
from harness.deploy.owner import owner
from harness.outside.files import guarded

_LAST_LINES = 15
_REMEDIES = {"mvn": "install Maven (`apt-get install maven`)", "java": "install Java 17"}


class Tools(Protocol):
    def run(self, command: Sequence[str], folder: Path, limit_s: float, what: str) -> None:
        """Runs a command in a folder. Raises DeployError, which begins with `what`, where it fails
        or is not done in time."""


class Here:
    """Tools, by the programs of this machine. `otherwise`: what helps where it has them not."""

    def __init__(self, otherwise: str = "") -> None:
        self._otherwise = otherwise

    def run(self, command: Sequence[str], folder: Path, limit_s: float, what: str) -> None:
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                timeout=limit_s,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        except FileNotFoundError as missing:
            ways = ", or ".join(filter(None, (_REMEDIES[command[0]], self._otherwise)))
            raise DeployError(f"{what}: there is no {command[0]}; {ways}") from missing
        except subprocess.TimeoutExpired as late:
            raise DeployError(f"{what}: not done after {limit_s:.0f} s") from late
        if done.returncode:
            raise DeployError(_failed(what, done.stdout))


class InContainer:
    """Tools, by those of an image; the folder is copied there and back, so that the engine may be
    on another machine."""

    def __init__(self, client: docker.DockerClient, image: str) -> None:
        self._client = client
        self._image = image

    def run(self, command: Sequence[str], folder: Path, limit_s: float, what: str) -> None:
        # timeout(1) ends what would last too long: an exec cannot be ended from outside.
        limited = ["timeout", f"{limit_s:.0f}", *command]
        try:
            container = self._client.containers.create(
                self._image, limited, working_dir=str(folder), labels=_marks()
            )
            try:
                with tempfile.TemporaryFile() as archive:
                    _pack(folder, archive)
                    container.put_archive("/", archive)
                container.start()
                status = int(container.wait(timeout=limit_s + 30)["StatusCode"])
                output = container.logs().decode(errors="replace")
                if status:
                    late = f"{what}: not done after {limit_s:.0f} s"
                    raise DeployError(late if status == 124 else _failed(what, output))
                _take(container.get_archive(str(folder))[0], folder)
            finally:
                container.remove(force=True)
        except (DockerException, OSError) as error:
            raise DeployError(f"{what}, in a container: {error}") from error


def here() -> bool:
    """Whether this machine has all that is needed."""
    return all(shutil.which(program) for program in _REMEDIES)


def _marks() -> dict[str, str]:
    """By which `mqproof heal` finds what a dead mqproof left."""
    return {labels.PROJECT: f"mqproof-jars-{os.getpid()}", labels.OWNER: owner()}


def _pack(folder: Path, archive: IO[bytes]) -> None:
    """A tar file with the folder at its own path, left open at its start."""
    with tarfile.open(fileobj=archive, mode="w") as tar:
        tar.add(folder, arcname=str(folder).lstrip("/"))
    archive.seek(0)


def _take(stream: Iterable[bytes], folder: Path) -> None:
    """Unpacks what an engine gives of a folder into that folder, as this user's."""
    with tempfile.TemporaryFile() as archive:
        for part in stream:
            archive.write(part)
        archive.seek(0)
        with tarfile.open(fileobj=archive) as tar:
            guarded(tar).extractall(folder.parent)


def _failed(what: str, output: str) -> str:
    return "\n".join([f"{what} failed; its last lines:", *output.splitlines()[-_LAST_LINES:]])
