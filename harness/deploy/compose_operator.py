"""Carries operators' orders out on a compose project: management API and RabbitMQ's command line.

1. Engine calls block, so they run in threads.
2. A container that stands in for a node that is down is removed whatever became of it; it carries
   the project's labels, so that whoever removes the project finds it, too.
3. A spare that has joined is asked like every other host from then on.
"""

import asyncio
import shlex
from collections.abc import Callable, Mapping

import requests
from docker import DockerClient
from docker.errors import DockerException

from faults.executors.project import (
    CLUSTER_LABEL,
    HOST_LABEL,
    PROJECT_LABEL,
    ROLE_LABEL,
    Project,
)
from faults.model import FaultError
from harness.deploy import rabbitmq_commands
from harness.deploy.api_operator import ApiOperator
from harness.deploy.orders import AddNode, Operator, Order
from harness.deploy.port import DeployError
from harness.deploy.rabbitmq_api import ManagementApi
from harness.plan.model import Layout

COMMAND_LIMIT_S = 150.0
ROLE = "operator"
_RABBITMQ = "rabbitmq-mirrored"
Joined = Callable[[str, str], None]  # host, address


def operator_of(
    client: DockerClient,
    project: str,
    layout: Layout,
    api: ManagementApi,
    joined: Joined,
) -> Operator:
    """`joined` hears of each spare that has become a member."""
    by_api = ApiOperator(api)
    if layout.system != _RABBITMQ:
        return by_api
    spares = {host.name: host.address for host in layout.spares}
    return RabbitOperator(by_api, Project(client, project), client, spares, joined)


class RabbitOperator:
    """orders.Operator for RabbitMQ in containers."""

    def __init__(
        self,
        api: Operator,
        project: Project,
        client: DockerClient,
        spares: Mapping[str, str],
        joined: Joined,
    ) -> None:
        self._api = api
        self._project = project
        self._client = client
        self._spares = spares
        self._joined = joined

    async def carry_out(self, order: Order) -> str:
        script = rabbitmq_commands.script(order)
        if script is None:
            return await self._api.carry_out(order)
        run = self._instead if script.instead else self._beside
        try:
            async with asyncio.timeout(COMMAND_LIMIT_S):
                status, said = await asyncio.to_thread(run, script.host, script.text)
        except TimeoutError:
            raise DeployError(f"{script.text} on {script.host}: {COMMAND_LIMIT_S:g} s") from None
        except (FaultError, DockerException, requests.RequestException) as error:
            raise DeployError(f"{script.text} on {script.host}: {error}") from error
        if status:
            raise DeployError(f"{script.text} on {script.host}: status {status}: {_short(said)}")
        if isinstance(order, AddNode) and order.host in self._spares:
            self._joined(order.host, self._spares[order.host])
        return f"{script.host}: {_short(said) or 'done'}"

    def _beside(self, host: str, text: str) -> tuple[int, str]:
        """The limit is the command's own, too: nobody can break an exec off from outside."""
        limited = f"timeout {COMMAND_LIMIT_S:.0f} sh -c {shlex.quote(text)}"
        output = self._project.execute(self._project.processes(host)[0], ["sh", "-c", limited])
        return output.status, output.text

    def _instead(self, host: str, text: str) -> tuple[int, str]:
        process = self._project.processes(host)[0]
        if process.status == "running":
            raise FaultError(f"{process.name} runs; that is for a node that is down")
        container = self._client.containers.create(
            image=process.attrs["Image"],
            entrypoint=["timeout", f"{COMMAND_LIMIT_S:.0f}", "sh", "-c", text],
            network_mode=f"container:{self._project.host(host).id}",
            volumes_from=[str(process.id)],
            labels={
                PROJECT_LABEL: self._project.name,
                CLUSTER_LABEL: self._project.name,
                ROLE_LABEL: ROLE,
                HOST_LABEL: host,
            },
        )
        try:
            container.start()
            status = int(container.wait(timeout=COMMAND_LIMIT_S)["StatusCode"])
            return status, container.logs().decode(errors="replace")
        finally:
            container.remove(force=True)


def _short(said: str) -> str:
    """On one line, its end: that is where a command says what became of it."""
    return " ".join(said.split())[-300:]
