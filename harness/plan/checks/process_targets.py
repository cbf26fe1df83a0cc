"""Faults of one process of a host that carries several: whether they mean anything, and whom.

1. What is done by signals reaches one process alone; so do faults of clients' links, for each
   process has a listener of its own.
   Where links between servers pass the proxy, each process has listeners of its own, too.
2. What is done to packets, or to limits, reaches a host. It may be aimed at a process that has its
   host for itself; elsewhere it would strike others, too, and is refused, unless the host of a
   process is what was asked for.
3. Pure: who a client is attached to, and which controller leads, is handed in.
"""

from collections.abc import Iterator

from faults.core.kind import Kind
from faults.core.mechanisms import COMPOSE, EXTERNAL, TOXIPROXY
from faults.core.places import place
from faults.core.targets import CLIENT_LINK
from faults.kinds import by_signals
from harness.outside.text import brief
from harness.plan.clients.requirements import ChosenClient
from harness.plan.files.targets import Target, TargetForm
from harness.plan.layouts.servers import Servers
from harness.plan.model import Layout, System

ATTACHED = "attached"  # what a client must be able to tell


def obstacles(
    target: Target,
    kind: Kind,
    system: System,
    layout: Layout,
    client: ChosenClient,
    deployment: str,
) -> Iterator[str]:
    """Every reason why a fault of this kind cannot be aimed so. `target.of_processes`."""
    servers = system.servers(layout)
    if target.form is TargetForm.PROCESS:
        yield from _unknown(target, layout, servers)
    elif target.form is TargetForm.CONTROLLER and not servers.controllers:
        yield f"target {brief(target.word)} matches no process: {system.name} has no controllers"
        return
    elif not servers.name_servers:
        reason = f"clients of {system.name} use no name servers"
        yield f"target {brief(target.word)} matches no process: {reason}"
        return
    if deployment == EXTERNAL:
        several = f"a process of several on a host, which {EXTERNAL} has not"
        names = "name servers, and a topology file has no commands for them"
        yield f"{brief(target.word)} means {several if target.process else names}"
    if target.form is TargetForm.NAME_SERVER:
        for reason in client.obstacles([ATTACHED]):
            yield f"{brief(target.word)}: {reason}"
    if not target.whole_host:
        yield from _reach(target, kind, layout, servers)


def candidates(target: Target, servers: Servers) -> tuple[str, ...]:
    """The places (faults/core/places.py) that the word may mean: all, or one of several."""
    if target.form is TargetForm.PROCESS:
        return (place(target.host, target.process),)
    if target.form is TargetForm.CONTROLLER:
        return servers.controllers
    return tuple(one.place for one in servers.name_servers)


def by_process(kind: Kind, peer_links: str) -> bool:
    """Whether a kind can strike one process of a host, and no other."""
    of_links = peer_links == TOXIPROXY and COMPOSE in kind.by_peer_links
    return kind.strikes_processes or kind.applies_to == CLIENT_LINK or of_links


def _unknown(target: Target, layout: Layout, servers: Servers) -> Iterator[str]:
    found = [host for host in layout.hosts if host.name == target.host]
    if not found:
        names = ", ".join(host.name for host in layout.hosts)
        yield f"no host {brief(target.host)} (there are {names})"
    elif target.process not in found[0].processes:
        there = ", ".join(found[0].processes)
        yield f"no process {brief(target.process)} on {target.host} (there are {there})"
    elif not servers.apart:
        yield f"{target.host} is one process: name the host"


def _reach(target: Target, kind: Kind, layout: Layout, servers: Servers) -> Iterator[str]:
    if target.form is TargetForm.NAME_SERVERS and not kind.strikes_processes:
        only = ", ".join(by_signals())
        yield f"{target.word!r} are several: they can suffer no {kind}, only {only}"
    elif not by_process(kind, layout.peer_links):
        meant = candidates(target, servers)
        shared = [
            f"{host.name} carries {' and '.join(host.processes)}"
            for host in layout.hosts
            if len(host.processes) > 1
            and any(place(host.name, one) in meant for one in host.processes)
        ]
        if shared:
            yield (
                f"a {kind} affects a whole host, and {'; '.join(shared)}: it takes a layout on "
                f"which {brief(target.word)} has a host for itself{_or_proxied(kind)}"
            )


def _or_proxied(kind: Kind) -> str:
    return f", or peer_links = {TOXIPROXY}" if COMPOSE in kind.by_peer_links else ""
