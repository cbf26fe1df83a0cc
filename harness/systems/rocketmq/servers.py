"""PURE: what RocketMQ's brokers, name servers and controllers are on a layout's hosts."""

from collections.abc import Callable

from faults.peers import Served, Serving
from harness.plan.model import Layout
from harness.plan.servers import Process, QueueRole, Role, Servers
from harness.systems.rocketmq.layout import (
    CONTROLLER,
    COPIED_EVERY_S,
    NAME_SERVER,
    POLL_DEFAULT_S,
    Server,
    Timers,
    own,
    servers,
)

_ROLES = {NAME_SERVER: Role.NAME_SERVER, CONTROLLER: Role.CONTROLLER}


def rocketmq_servers(
    layout: Layout,
    fixed_role: Callable[[Server], QueueRole | None],
    votes: Callable[[Server], bool],
) -> Servers:
    """`fixed_role`: of a broker; None: who leads is elected. `votes`: whether a server takes part
    in elections, and so listens for its peers at one port more."""
    told = own(layout)
    every = servers(layout.hosts)
    return Servers(
        processes=tuple(_process(one, fixed_role) for one in every),
        apart=True,
        by_names=True,
        keep_logs=True,
        speaks_unasked=False,
        client_settings=_settings(told.timers),
        client_flags=told.client_jvm,
        copied_every_s=COPIED_EVERY_S[told.version],
        serving=Serving(
            by_host={
                host.name: tuple(
                    _served(one, votes(one)) for one in every if one.host == host.name
                )
                for host in layout.hosts
            },
            renewed=True,  # faults/peers.py, `renew`
        ),
    )


def _process(one: Server, fixed_role: Callable[[Server], QueueRole | None]) -> Process:
    if not one.is_broker:
        return Process(host=one.host, word=one.process, role=_ROLES[one.process], fixed_role=None)
    return Process(host=one.host, word=one.process, role=Role.BROKER, fixed_role=fixed_role(one))


def _settings(timers: Timers) -> tuple[tuple[str, str], ...]:
    """The library's own default is left alone."""
    if timers.poll_s == POLL_DEFAULT_S:
        return ()
    return (("pollNameServerInterval", str(timers.poll_s * 1000)),)


def _served(one: Server, votes: bool) -> Served:
    """Whoever votes dials its peers, as a broker does anyhow."""
    ports = (*one.ports, one.votes_at) if votes else one.ports
    return Served(ports, one.port, one.process, dials=one.is_broker or votes)
