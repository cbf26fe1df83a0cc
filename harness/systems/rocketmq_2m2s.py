"""RocketMQ's groups of a master and its slaves; no slave is ever elected.

1. In containers brokers are what their configuration says when they start. Their entry point reads
   a file of their disk after what the layout says (compose/rocketmq/entrypoint.sh); the operator
   writes it here.
2. There must never be two masters: the old one has to be down, and is written down as a slave
   before the new one is written down as master. When it is started it comes back as that.
3. No broker is started or stopped here: the executor does that.
4. Clusters that somebody else runs are RocketMQ's, or the reference's. The shape of their topology
   file checks every key by itself; `problems` checks several keys together.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from faults.core.model import FaultError
from faults.core.places import place
from harness.cluster.orders import Order, Promote
from harness.cluster.port import DeployError
from harness.outside.text import brief
from harness.plan.files.toml_problems import TomlProblem
from harness.plan.files.topology_shape import BROKERS_MAX, TopologyShape
from harness.plan.layouts.topology import Topology
from harness.plan.model import Layout
from harness.systems.containers import ClusterAdapters, PlaceCommands, Stand
from harness.systems.files import text_in
from harness.systems.rocketmq.api import RocketApi
from harness.systems.rocketmq.broker import RocketBroker
from harness.systems.rocketmq.containers import rocketmq_containers
from harness.systems.rocketmq.core.layout import (
    ASYNC,
    MASTER_ID,
    SYNC,
    RocketMq,
    ServerProcess,
    brokers,
)
from harness.systems.rocketmq.core.layout_files import VERSION_HELP, Flush, released
from harness.systems.rocketmq.core.master_slave import (
    REPLICATED,
    RocketLayoutFile,
    configuration,
    master_slave_guarantees,
    master_slave_servers,
    role,
)
from harness.systems.rocketmq.core.services import services
from harness.systems.rocketmq.declaration import rocketmq_declaration
from harness.systems.rocketmq.foreign.declaration import rocketmq_foreign
from harness.systems.rocketmq.foreign.file import RocketBrokerTable, RocketTopologyFile, sizes_of
from harness.systems.rocketmq.parts import api_of, parts_of


class FixedRoles:
    """leading.Leading. Only an operator changes anything."""

    def __init__(self, layout: Layout) -> None:
        self._brokers = brokers(layout.hosts)

    async def now(self) -> tuple[ServerProcess, ...]:
        return self._brokers

    async def in_sync(
        self,
        master: ServerProcess,  # noqa: ARG002  (the port's)
        slaves: Sequence[ServerProcess],  # noqa: ARG002
    ) -> list[ServerProcess] | None:
        """Return None: no broker reports it."""
        return None

    async def controller(self) -> str:
        return ""

    async def doubts(self) -> tuple[str, ...]:
        return ()

    def slave_on(self, group: str, host: str) -> tuple[ServerProcess, ServerProcess]:
        """The master of a group, and the slave of it on that host. Raises DeployError."""
        own = [one for one in self._brokers if one.group == group]
        slaves = [one for one in own if one.host == host and one.id != MASTER_ID]
        if not slaves:
            raise DeployError(f"{host} has no slave of {group}")
        (master,) = (one for one in own if one.id == MASTER_ID)
        return master, slaves[0]

    def promote(self, master: ServerProcess, slave: ServerProcess) -> None:
        """They change places: an operator has configured them so."""
        places = {master: replace(master, id=slave.id), slave: replace(slave, id=master.id)}
        self._brokers = tuple(places.get(one, one) for one in self._brokers)


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


# --- clusters that somebody else runs ---------------------------------------------------------


class _MasterSlaveFile(RocketTopologyFile):
    replication: Literal["sync", "async"] = Field(
        description="`brokerRole` of masters: with `sync` a confirm waits for a slave"
    )
    flush: Flush = Field(description="`flushDiskType`: with `sync` a confirm waits for the disk")
    broker: Annotated[list[RocketBrokerTable], Field(min_length=1, max_length=BROKERS_MAX)] = (
        Field(description="one table per broker, masters and slaves alike")
    )

    def topology(self, name: str, source: str) -> Topology:
        declared = RocketMq(self.version, self.replication, self.flush, self.timers)
        return self.of_brokers(name, source, self.broker, declared)

    def problems(self) -> Iterator[TomlProblem]:
        """Check several keys together; the shape finds missing and ill-typed keys."""
        yield from self.server_problems(self.broker)
        sizes = sizes_of(self.broker)
        led = {one.given.get("group") for one in self.broker if one.id == MASTER_ID}
        for group in sizes.keys() - led:
            text = f"no broker of {brief(group)} has id = {MASTER_ID}: the master of its group"
            yield TomlProblem(("broker",), text)
        if self.replication == SYNC and set(sizes.values()) == {1}:
            text = f"{SYNC!r} on groups without a slave: no slave would acknowledge"
            yield TomlProblem(("replication",), text, (ASYNC,))


class RealTopologyFile(_MasterSlaveFile):
    """One file of RocketMQ's own servers."""

    version: Annotated[str, released("4.9.0")] = Field(description=VERSION_HELP)


class ReferenceTopologyFile(_MasterSlaveFile):
    """One file of the reference's servers."""

    version: Literal["reference"] = Field(
        default="reference", description="the reference has no versions"
    )


def _leads(layout: Layout, _: RocketApi) -> FixedRoles:
    return FixedRoles(layout)


REFERENCE_FOREIGN = rocketmq_foreign(TopologyShape(file=ReferenceTopologyFile), _leads)
ROCKETMQ_2M2S = rocketmq_declaration(
    "rocketmq-2m2s",
    layout_file=RocketLayoutFile,
    guarantees=master_slave_guarantees,
    replicated=REPLICATED,
    servers=master_slave_servers,
    containers=rocketmq_containers(services(configuration), master_slave_parts),
    foreign=rocketmq_foreign(
        TopologyShape(file=RealTopologyFile),
        _leads,
        example=text_in("harness.systems", "examples/rocketmq_2m2s.toml"),
    ),
)
