"""Running nodes of the reference in containers: their adapters.

1. Engine calls block, so they run in threads.
2. A container that stands in for a node that is down has the node's environment, and writes its
   configuration as the node's entry point does.
"""

import asyncio
import shlex

from faults.core.model import FaultError
from harness.cluster.port import DeployError
from harness.systems.containers import ClusterAdapters, PlaceCommands, Stand
from harness.systems.rabbitmq.api_operator import ApiOperator
from harness.systems.rabbitmq.broker import RabbitBroker
from harness.systems.rabbitmq.held import by_api
from harness.systems.rabbitmq.parts import links
from harness.systems.rabbitmq.queues import MIRRORED
from harness.systems.rabbitmq.service_ports import RABBITMQ_SERVICE_PORTS
from harness.systems.reference_mirrored.node import CONFIGURATION, OperatorCommand
from harness.systems.reference_mirrored.operator import (
    COMMAND_LIMIT_S,
    ReferenceOperator,
    RunCommand,
)

_CONFIGURED = (
    f"umask 077; mkdir -p /etc/mqproof; printf '%s\\n' \"$MQPROOF_NODE\" >{CONFIGURATION}"
)


def reference_parts(stand: Stand) -> ClusterAdapters:
    """Its process is its broker: where the one runs, so does the other."""
    addresses = stand.addresses
    spares = {host.name: host.address for host in stand.layout.spares}

    def joined(host: str) -> None:
        addresses[host] = spares[host]
        broker.add(host, spares[host])

    broker = RabbitBroker.on_ports(stand.layout, stand.agent, addresses, MIRRORED, by_api)
    return ClusterAdapters(
        broker=broker,
        operator=ReferenceOperator(ApiOperator(broker.api), by_engine(stand.commands), joined),
        ways=links(stand),
        service_ports=RABBITMQ_SERVICE_PORTS,
        alarms=broker.alarms,
        dead_broker=None,
    )


def by_engine(commands: PlaceCommands) -> RunCommand:
    def run(command: OperatorCommand) -> tuple[int, str]:
        line = ["python3", *command.line(CONFIGURATION)]
        if command.instead:
            text = f"{_CONFIGURED}; exec {shlex.join(line)}"
            return commands.run_instead(command.host, text, COMMAND_LIMIT_S)
        limited = ["timeout", f"{COMMAND_LIMIT_S:.0f}", *line]
        return commands.run(command.host, limited)

    async def run_command(command: OperatorCommand) -> tuple[int, str]:
        try:
            return await asyncio.to_thread(run, command)
        except FaultError as error:
            raise DeployError(f"{command.text} on {command.host}: {error}") from error

    return run_command
