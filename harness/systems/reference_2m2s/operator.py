"""What an operator does to the reference's brokers on this machine: a slave is made a master.

1. Brokers are what their configuration says when they start; of a key that stands twice the last
   word counts. As on hosts of the real ones (rocketmq_2m2s/operator.py): there must never be two
   masters, so that the old one is written down as a slave first.
2. No broker is started or stopped here: the executor does that.
"""

from collections.abc import Callable
from pathlib import Path

from harness.cluster.orders import Order, Promote
from harness.cluster.port import DeployError
from harness.systems.port import Here
from harness.systems.rocketmq.layout import ServerProcess
from harness.systems.rocketmq_2m2s.fixed_roles import FixedRoles
from harness.systems.rocketmq_2m2s.settings import role


class ConfigurationOperator:
    """orders.Operator. `home_of`: the group of a queue."""

    def __init__(self, here: Here, home_of: Callable[[str], str], leading: FixedRoles) -> None:
        self._here = here
        self._home_of = home_of
        self._leading = leading

    async def carry_out(self, order: Order) -> str:
        if not isinstance(order, Promote):
            raise DeployError(f"{self._here.layout.system} takes no order: {order}")
        master, slave = self._leading.slave_on(self._home_of(order.queue), order.host)
        try:
            self._write(master, slave.id)
            self._write(slave, master.id)
        except OSError as error:
            raise DeployError(f"{slave.process} was not made a master: {error}") from error
        self._leading.promote(master, slave)
        return f"{slave.process} is the master from its next start on, {master.process} a slave"

    def _write(self, server: ServerProcess, id: int) -> None:
        settings = role(self._here.layout, id)
        file = Path(self._here.configured(server.host, server.process))
        with file.open("a", encoding="utf-8") as lines:
            lines.write("".join(f"{key}={value}\n" for key, value in settings))
