"""Carries operators' orders out on nodes of the reference: management API and its command line.

A spare that has joined is queried like every other host from then on.
"""

from collections.abc import Awaitable, Callable

from harness.cluster.orders import AddNode, Operator, Order
from harness.cluster.port import DeployError
from harness.systems.reference_mirrored.node import OperatorCommand, command

COMMAND_LIMIT_S = 60.0
# Return status and output, or raise DeployError.
RunCommand = Callable[[OperatorCommand], Awaitable[tuple[int, str]]]


class ReferenceOperator:
    """The orders.Operator of the reference.

    `run_command` runs the command line where the nodes are. `joined` gets each new member.
    """

    def __init__(
        self, api: Operator, run_command: RunCommand, joined: Callable[[str], None]
    ) -> None:
        self._api = api
        self._run_command = run_command
        self._joined = joined

    async def carry_out(self, order: Order) -> str:
        line = command(order)
        if line is None:
            return await self._api.carry_out(order)
        status, output = await self._run_command(line)
        short = " ".join(output.split())[-300:]
        if status:
            raise DeployError(f"{line.text} on {line.host}: status {status}: {short}")
        if isinstance(order, AddNode):
            self._joined(order.host)
        return f"{line.host}: {short or 'done'}"
