"""PURE: what nodes are on a layout's hosts: RabbitMQ's, and those of the reference."""

from faults.core.peers import Served, Serving
from harness.plan.layouts.servers import Process, ServerRole, Servers
from harness.plan.model import Layout
from harness.systems.rabbitmq.core.service_ports import (
    AMQP_PORT,
    API_PORT,
    DISTRIBUTION_PORT,
    EPMD_PORT,
)

_SERVED = (Served((EPMD_PORT, DISTRIBUTION_PORT), DISTRIBUTION_PORT),)  # epmd is asked first


def rabbitmq_servers(layout: Layout) -> Servers:
    """A spare listens as the others do: it is dialled once it has joined."""
    every = (*layout.hosts, *layout.spares)
    return Servers(
        processes=tuple(
            Process(
                host=host.name,
                word=word,
                role=ServerRole.BROKER,
                fixed_role=None,
                client_port=AMQP_PORT,
            )
            for host in layout.hosts
            for word in host.processes
        ),
        apart=False,
        by_names=False,
        keep_logs=False,
        speaks_first=True,
        client_settings=(),
        client_flags=(),
        copied_every_s=None,
        voters=(),
        controllers=(),
        serving=Serving(by_host={host.name: _SERVED for host in every}, renewed=False),
        management_port=API_PORT,
    )
