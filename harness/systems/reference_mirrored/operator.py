"""Carries operators' orders out on nodes of the reference: management API and its command line.

A spare that has joined is asked like every other host from then on.
"""

from collections.abc import Awaitable, Callable

from harness.cluster.orders import AddNode, Operator, Order
from harness.cluster.port import DeployError
from harness.systems.reference_mirrored.commands import Command, command

COMMAND_LIMIT_S = 60.0
Tell = Callable[[Command], Awaitable[tuple[int, str]]]  # status, what was said; or DeployError


class ReferenceOperator:
    """orders.Operator. `tell`: how the command line is reached where the nodes are; `joined` hears
    of each host that has become a member."""

    def __init__(self, api: Operator, tell: Tell, joined: Callable[[str], None]) -> None:
        self._api = api
        self._tell = tell
        self._joined = joined

    async def carry_out(self, order: Order) -> str:
        told = command(order)
        if told is None:
            return await self._api.carry_out(order)
        status, said = await self._tell(told)
        short = " ".join(said.split())[-300:]
        if status:
            raise DeployError(f"{told.text} on {told.host}: status {status}: {short}")
        if isinstance(order, AddNode):
            self._joined(order.host)
        return f"{told.host}: {short or 'done'}"
