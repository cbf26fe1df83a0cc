"""PURE: what RocketMQ's masters, slaves and name servers are on a layout's hosts."""

from faults.peers import Served, Serving
from harness.plan.model import Layout
from harness.plan.rocketmq_layout import COPIED_EVERY_S, POLL_DEFAULT_S, Server, Timers, servers
from harness.plan.servers import Process, Role, Servers


def master_slave_servers(layout: Layout) -> Servers:
    told = layout.rocketmq
    assert told is not None, layout.label
    every = servers(layout.hosts)
    return Servers(
        processes=tuple(
            Process(
                host=one.host,
                word=one.process,
                role=Role.BROKER if one.is_broker else Role.NAME_SERVER,
            )
            for one in every
        ),
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


def _settings(timers: Timers) -> tuple[tuple[str, str], ...]:
    """The library's own default is left alone."""
    if timers.poll_s == POLL_DEFAULT_S:
        return ()
    return (("pollNameServerInterval", str(timers.poll_s * 1000)),)


def _served(one: Server) -> Served:
    return Served(one.ports, one.port, one.process, dials=one.is_broker)
