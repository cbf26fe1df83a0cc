"""What an operator does to RocketMQ's brokers in containers: a slave is made its group's master.

1. Brokers are what their configuration says when they start. Their entry point reads a file of
   their disk after what the layout says (compose/rocketmq-2m2s/entrypoint.sh); it is written here.
2. There must never be two masters: the old one has to be down, and is written down as a slave
   before the new one is written down as master. When it is started it comes back as that.
3. Nobody is started or stopped here: that is the executor's.
"""

import asyncio
from collections.abc import Sequence
from typing import Protocol

import requests
from docker import DockerClient
from docker.errors import DockerException

from faults.executors.project import Project
from faults.model import FaultError
from faults.places import place
from harness.cluster.orders import Order, Promote
from harness.cluster.port import DeployError
from harness.plan.model import Layout
from harness.systems.rocketmq import settings as rocketmq_settings
from harness.systems.rocketmq.layout import Server
from harness.systems.stand_in import run_instead

LIMIT_S = 30.0
CHANGED = "/var/lib/rocketmq/changed.conf"  # the entry point's


class Groups(Protocol):
    """What broker.RocketBroker knows of masters."""

    def group_of(self, queue: str, host: str) -> tuple[Server, Server]:
        """The master of the queue's group, and its slave on that host. Raises DeployError."""

    def promote(self, master: Server, slave: Server) -> None:
        """They change places, for whoever asks from now on."""


class RocketOperator:
    """orders.Operator for RocketMQ in containers."""

    def __init__(
        self, client: DockerClient, project: str, layout: Layout, brokers: Groups
    ) -> None:
        self._client = client
        self._project = Project(client, project)
        self._layout = layout
        self._brokers = brokers

    async def carry_out(self, order: Order) -> str:
        if not isinstance(order, Promote):
            raise DeployError(f"{self._layout.system} takes no order: {order}")
        master, slave = self._brokers.group_of(order.queue, order.host)
        try:
            async with asyncio.timeout(LIMIT_S):
                await asyncio.to_thread(self._write, master, slave)
        except TimeoutError:
            raise DeployError(f"{slave.process}: not written within {LIMIT_S:g} s") from None
        except (FaultError, DockerException, requests.RequestException) as error:
            raise DeployError(f"{slave.process} was not made a master: {error}") from error
        self._brokers.promote(master, slave)
        return f"{slave.process} is the master from its next start on, {master.process} a slave"

    def _write(self, master: Server, slave: Server) -> None:
        """The dead one first: where that fails, nobody is changed."""
        told = _script(rocketmq_settings.role(self._layout, slave.id))
        status, said = run_instead(
            self._client, self._project, place(master.host, master.process), told, LIMIT_S
        )
        _check(master, status, said)
        (running,) = self._project.processes(place(slave.host, slave.process))
        own = _script(rocketmq_settings.role(self._layout, master.id))
        output = self._project.execute(running, ["sh", "-c", own])
        _check(slave, output.status, output.text)


def _script(settings: Sequence[tuple[str, str]]) -> str:
    """No value has blanks or quotes."""
    words = " ".join(f"{key}={value}" for key, value in settings)
    return f"printf '%s\\n' {words} >{CHANGED} && chmod a+r {CHANGED}"


def _check(server: Server, status: int, said: str) -> None:
    if status:
        raise FaultError(f"{CHANGED} of {server.host}: status {status}: {said.strip()[-200:]}")
