"""How much of a queue a node in a container holds, by its command line, run beside it.

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
        words = output.text.split() or [""]  # its warnings come before what it was asked
        return int(words[-1]) if output.status == 0 and words[-1].isdecimal() else None

    async def count(_api: ManagementApi, queue: str, host: str) -> int | None:
        try:
            return await asyncio.to_thread(ask, queue, host)
        except FaultError:
            return None

    return count
