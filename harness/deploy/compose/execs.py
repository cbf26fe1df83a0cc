"""Starts processes in a container that stands, with an attached stream, through Docker's API."""

import asyncio
import os
import socket
from typing import Any
from uuid import uuid4

import docker
from docker.errors import APIError, DockerException

from harness.cluster.port import DeployError
from harness.deploy.compose.exec_stream import ExecChannel

# $0 is the token: the shell notes its pid and becomes the process that was asked for.
_START = 'echo $$ > "/tmp/mqproof-$0.pid" && exec "$@"'
_KILL = 'kill -9 "$(cat "/tmp/mqproof-$0.pid")"'


async def start(
    client: docker.DockerClient,
    container: str,
    name: str,
    command: list[str],
) -> ExecChannel:
    """A running process and the way to talk to it. Raises DeployError."""
    token = uuid4().hex
    words = ["sh", "-c", _START, token, *command]
    try:
        identifier, connected = await asyncio.to_thread(_attach, client, container, words)
    except (DockerException, OSError) as error:
        raise DeployError(f"{name} could not be started: {error}") from error
    handle = _Handle(client, container, identifier, token)
    return await ExecChannel.over(name, connected, handle)


def _attach(
    client: docker.DockerClient, container: str, words: list[str]
) -> tuple[str, socket.socket]:
    created = client.api.exec_create(container, words, stdin=True, tty=False)
    identifier = str(created["Id"])
    stream: Any = client.api.exec_start(identifier, socket=True, tty=False)
    # The library hands out a file object that closes the connection when it is collected, so the
    # descriptor gets an owner of its own.
    raw = getattr(stream, "_sock", stream)
    return identifier, socket.socket(fileno=os.dup(raw.fileno()))


class _Handle:
    """exec_stream.ExecHandle through the engine."""

    def __init__(
        self, client: docker.DockerClient, container: str, identifier: str, token: str
    ) -> None:
        self._client = client
        self._container = container
        self._identifier = identifier
        self._token = token

    async def exit_code(self) -> int | None:
        state = await asyncio.to_thread(self._inspect)
        return None if state is None or state["Running"] else state["ExitCode"]

    async def kill(self) -> None:
        state = await asyncio.to_thread(self._inspect)
        if state is not None and state["Running"]:
            await asyncio.to_thread(self._kill)

    def _inspect(self) -> dict[str, Any] | None:
        """None where the engine knows nothing of it any more."""
        try:
            return dict(self._client.api.exec_inspect(self._identifier))
        except APIError:
            return None
        except (DockerException, OSError) as error:
            raise DeployError(f"the engine did not report how a process ended: {error}") from error

    def _kill(self) -> None:
        try:
            container = self._client.containers.get(self._container)
            container.exec_run(["sh", "-c", _KILL, self._token])
        except APIError:
            return  # The container is gone, and the process with it.
        except (DockerException, OSError) as error:
            raise DeployError(f"a process could not be killed: {error}") from error
