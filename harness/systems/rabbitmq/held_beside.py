"""How much of a queue a node in a container holds: its command line is asked, beside it.

1. Engine calls block, so they run in a thread.
"""

import asyncio

from faults.executors.project import Project
from faults.model import FaultError
from harness.systems.rabbitmq.api import ManagementApi
from harness.systems.rabbitmq.commands import held
from harness.systems.rabbitmq.held import Held

COMMAND_LIMIT_S = 150


def by_command(project: Project) -> Held:
    def ask(queue: str, host: str) -> int | None:
        command = ["timeout", str(COMMAND_LIMIT_S), *held(queue)]
        output = project.execute(project.processes(host)[0], command)
        said = output.text.split() or [""]  # its warnings come before what it was asked
        return int(said[-1]) if output.status == 0 and said[-1].isdecimal() else None

    async def asked(_api: ManagementApi, queue: str, host: str) -> int | None:
        try:
            return await asyncio.to_thread(ask, queue, host)
        except FaultError:
            return None

    return asked
