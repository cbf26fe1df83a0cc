"""Carries operators' orders out on a compose project: management API and RabbitMQ's command line.

1. Engine calls block, so they run in threads.
2. Orders to a node that is down go to a container in its place (PlaceCommands).
3. A spare that has joined is queried like every other host from then on.
"""

import asyncio
import shlex
from collections.abc import Callable, Mapping

from faults.core.model import FaultError
from harness.cluster.orders import AddNode, Operator, Order
from harness.cluster.port import DeployError
from harness.systems.containers import PlaceCommands
from harness.systems.rabbitmq.core import commands

COMMAND_LIMIT_S = 150.0
Joined = Callable[[str, str], None]  # host, address


class RabbitOperator:
    """orders.Operator for RabbitMQ in containers. `joined` hears of each spare (host, address)
    that has become a member."""

    def __init__(
        self,
        api: Operator,
        commands: PlaceCommands,
        spares: Mapping[str, str],
        joined: Joined,
    ) -> None:
        self._api = api
        self._commands = commands
        self._spares = spares
        self._joined = joined

    async def carry_out(self, order: Order) -> str:
        script = commands.script(order)
        if script is None:
            return await self._api.carry_out(order)
        run = self._instead if script.instead else self._beside
        try:
            async with asyncio.timeout(COMMAND_LIMIT_S):
                status, output = await asyncio.to_thread(run, script.host, script.text)
        except TimeoutError:
            raise DeployError(f"{script.text} on {script.host}: {COMMAND_LIMIT_S:g} s") from None
        except FaultError as error:
            raise DeployError(f"{script.text} on {script.host}: {error}") from error
        if status:
            raise DeployError(f"{script.text} on {script.host}: status {status}: {_short(output)}")
        if isinstance(order, AddNode) and order.host in self._spares:
            self._joined(order.host, self._spares[order.host])
        return f"{script.host}: {_short(output) or 'done'}"

    def _beside(self, host: str, text: str) -> tuple[int, str]:
        """The command has the same limit: an exec cannot be ended from outside."""
        limited = f"timeout {COMMAND_LIMIT_S:.0f} sh -c {shlex.quote(text)}"
        return self._commands.run(host, ["sh", "-c", limited])

    def _instead(self, host: str, text: str) -> tuple[int, str]:
        return self._commands.run_instead(host, text, COMMAND_LIMIT_S)


def _short(output: str) -> str:
    """Return the end of the output, on one line: it has the result."""
    return " ".join(output.split())[-300:]
