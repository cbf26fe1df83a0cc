"""The operator of layouts that need none: leaders are elected."""

from harness.cluster.orders import Order
from harness.cluster.port import DeployError


class NoOperator:
    """orders.Operator that takes no order."""

    def __init__(self, system: str) -> None:
        self._system = system

    async def carry_out(self, order: Order) -> str:
        raise DeployError(f"{self._system} takes no order: {order}")
