"""Running masters and slaves in containers: configured roles, and an operator who changes them.

1. Brokers are what their configuration says when they start. Their entry point reads a file of
   their disk after what the layout says (compose/rocketmq/entrypoint.sh); it is written here.
2. There must never be two masters: the old one has to be down, and is written down as a slave
   before the new one is written down as master. When it is started it comes back as that.
3. No broker is started or stopped here: the executor does that.
"""

import asyncio
from collections.abc import Callable, Sequence

from faults.core.model import FaultError
from faults.core.places import place
from harness.cluster.orders import Order, Promote
from harness.cluster.port import DeployError
from harness.plan.model import Layout
from harness.systems.containers import ClusterAdapters, PlaceCommands, Stand
from harness.systems.rocketmq.broker import RocketBroker
from harness.systems.rocketmq.layout import ServerProcess
from harness.systems.rocketmq.parts import api_of, parts_of
from harness.systems.rocketmq_2m2s.fixed_roles import FixedRoles
from harness.systems.rocketmq_2m2s.layout import role

LIMIT_S = 30.0
CHANGED = "/var/lib/rocketmq/changed.conf"  # the entry point's


class RocketOperator:
    """orders.Operator in containers. `home_of`: the group of a queue."""

    def __init__(
        self,
        commands: PlaceCommands,
        layout: Layout,
        home_of: Callable[[str], str],
        leading: FixedRoles,
    ) -> None:
        self._commands = commands
        self._layout = layout
        self._home_of = home_of
        self._leading = leading

    async def carry_out(self, order: Order) -> str:
        if not isinstance(order, Promote):
            raise DeployError(f"{self._layout.system} takes no order: {order}")
        master, slave = self._leading.slave_on(self._home_of(order.queue), order.host)
        try:
            async with asyncio.timeout(LIMIT_S):
                await asyncio.to_thread(self._write, master, slave)
        except TimeoutError:
            raise DeployError(f"{slave.process}: not written within {LIMIT_S:g} s") from None
        except FaultError as error:
            raise DeployError(f"{slave.process} was not made a master: {error}") from error
        self._leading.promote(master, slave)
        return f"{slave.process} is the master from its next start on, {master.process} a slave"

    def _write(self, master: ServerProcess, slave: ServerProcess) -> None:
        """Change the dead broker first: if that fails, no role is changed."""
        script = _script(role(self._layout, slave.id))
        dead = place(master.host, master.process)
        _check(master, *self._commands.run_instead(dead, script, LIMIT_S))
        own = _script(role(self._layout, master.id))
        running = place(slave.host, slave.process)
        _check(slave, *self._commands.run(running, ["sh", "-c", own]))


def _script(settings: Sequence[tuple[str, str]]) -> str:
    """No value has blanks or quotes."""
    words = " ".join(f"{key}={value}" for key, value in settings)
    return f"printf '%s\\n' {words} >{CHANGED} && chmod a+r {CHANGED}"


def _check(server: ServerProcess, status: int, output: str) -> None:
    if status:
        raise FaultError(f"{CHANGED} of {server.host}: status {status}: {output.strip()[-200:]}")


def master_slave_parts(stand: Stand) -> ClusterAdapters:
    leading = FixedRoles(stand.layout)
    broker = RocketBroker(stand.layout, api_of(stand), leading)
    operator = RocketOperator(stand.commands, stand.layout, broker.home_of, leading)
    return parts_of(stand, broker, operator, ())
