"""PURE: what RocketMQ's brokers, name servers and controllers are on a layout's hosts."""

from collections.abc import Callable, Sequence

from faults.core.peers import Served, Serving
from faults.core.places import place
from harness.plan.layouts.servers import Process, QueueRole, ServerRole, Servers, Voter
from harness.plan.model import Layout
from harness.systems.rocketmq.core.layout import (
    POLL_DEFAULT_S,
    ServerProcess,
    Timers,
    own,
    servers,
)


def rocketmq_servers(
    layout: Layout,
    fixed_role: Callable[[ServerProcess], QueueRole | None],
    voters: Sequence[Voter],
    controllers: Sequence[ServerProcess],
) -> Servers:
    """`fixed_role`: of a broker; None: who leads is elected. `voters` listen for each other at one
    port more. `controllers`: the servers that are one, or have one in them. In a cluster that
    somebody else runs a host is one server, which clients know by its address."""
    declared = own(layout)
    every = servers(layout.hosts)
    is_ours = layout.topology is None
    voting = {(one.host, one.word) for one in voters}
    return Servers(
        processes=tuple(_process(one, fixed_role) for one in every),
        apart=is_ours,
        by_names=is_ours,
        keep_logs=True,
        speaks_first=False,
        client_settings=_settings(declared.timers),
        client_flags=declared.client_jvm,
        copied_every_s=declared.copied_every_s,
        voters=tuple(voters),
        controllers=tuple(place(one.host, one.process) for one in controllers),
        serving=Serving(
            by_host={
                host.name: tuple(
                    _served(one, (one.host, one.process) in voting)
                    for one in every
                    if one.host == host.name
                )
                for host in layout.hosts
            },
            renewed=True,  # faults/core/peers.py, `renew`
        ),
        management_port=None,
    )


def _process(
    one: ServerProcess, fixed_role: Callable[[ServerProcess], QueueRole | None]
) -> Process:
    if not one.is_broker:
        role = ServerRole.NAME_SERVER if one.is_name_server else ServerRole.CONTROLLER
        return Process(
            host=one.host,
            word=one.process,
            role=role,
            fixed_role=None,
            client_port=one.port if one.is_name_server else None,
        )
    return Process(
        host=one.host,
        word=one.process,
        role=ServerRole.BROKER,
        fixed_role=fixed_role(one),
        client_port=one.port,
    )


def _settings(timers: Timers) -> tuple[tuple[str, str], ...]:
    """The library's own default is left alone."""
    if timers.poll_s == POLL_DEFAULT_S:
        return ()
    return (("pollNameServerInterval", str(timers.poll_s * 1000)),)


def _served(one: ServerProcess, votes: bool) -> Served:
    """Return what a server serves. A voter dials its peers, as a broker always does."""
    ports = tuple(dict.fromkeys((*one.ports, one.votes_at))) if votes else one.ports
    return Served(ports, one.port, one.process, dials=one.is_broker or votes)
