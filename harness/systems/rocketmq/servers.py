"""PURE: what RocketMQ's masters, slaves and name servers are on a layout's hosts."""

from faults.peers import Served, Serving
from harness.plan.model import Layout
from harness.plan.servers import Process, QueueRole, Role, Servers
from harness.systems.rocketmq.layout import (
    COPIED_EVERY_S,
    MASTER_ID,
    POLL_DEFAULT_S,
    Server,
    Timers,
    own,
    servers,
)


def master_slave_servers(layout: Layout) -> Servers:
    told = own(layout)
    every = servers(layout.hosts)
    return Servers(
        processes=tuple(map(_process, every)),
        apart=True,
        by_names=True,
        keep_logs=True,
        speaks_unasked=False,
        client_settings=_settings(told.timers),
        client_flags=told.client_jvm,
        copied_every_s=COPIED_EVERY_S[told.version],
        serving=Serving(
            by_host={
                host.name: tuple(_served(one) for one in every if one.host == host.name)
                for host in layout.hosts
            },
            renewed=True,  # faults/peers.py, `renew`
        ),
    )


def _process(one: Server) -> Process:
    if not one.is_broker:
        return Process(host=one.host, word=one.process, role=Role.NAME_SERVER, fixed_role=None)
    fixed = QueueRole.MASTER if one.id == MASTER_ID else QueueRole.MIRROR
    return Process(host=one.host, word=one.process, role=Role.BROKER, fixed_role=fixed)


def _settings(timers: Timers) -> tuple[tuple[str, str], ...]:
    """The library's own default is left alone."""
    if timers.poll_s == POLL_DEFAULT_S:
        return ()
    return (("pollNameServerInterval", str(timers.poll_s * 1000)),)


def _served(one: Server) -> Served:
    return Served(one.ports, one.port, one.process, dials=one.is_broker)
