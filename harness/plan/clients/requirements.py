"""The capabilities that a workload and a layout require of a client. If it lacks one, the cell is
NOT APPLICABLE.

1. This is about libraries as they are declared. `doctor` checks whether one can be used here.
2. Capabilities to send and consume in a certain way are required only of clients whose section
   says so. Other clients need those without which it would be another workload (section.py).
3. An unknown client name is an error (registry.py), never another client.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.plan.clients import client_options
from harness.plan.clients.declaration import Finds
from harness.plan.clients.registry import named, registry
from harness.plan.clients.section import Fact, Section
from harness.plan.distribution import serves_several
from harness.plan.model import Workload
from harness.plan.servers import Servers


def uses_name_servers(client: str) -> bool:
    """Return whether the client finds brokers by name servers, and so has no bootstrap host."""
    return named(client).family.finds is Finds.NAME_SERVERS


def ignored(client: str, workload: Workload) -> list[str]:
    """Return the sections of the workload that this client ignores."""
    return [one.place for one in _foreign(client) if one.says(one.of(workload))]


def facts(client: str, workload: Workload) -> dict[str, Fact | dict[str, str]]:
    """Return the facts of every section. One that does not apply to this client has the fact
    {"not_applicable": why}."""
    known: dict[str, Fact | dict[str, str]] = {
        name: {"not_applicable": one.not_applicable}
        for one in _foreign(client)
        for name in one.facts
    }
    if own := named(client).family.section:
        settings = _settings(client, own, workload)
        known |= {name: fact(settings) for name, fact in own.facts.items()}
    return known


def worker_options(client: str, workload: Workload, servers: Servers) -> dict[str, Any]:
    """Return the options of its family that each of its workers gets."""
    own = named(client).family.section
    return dict(own.worker_options(_settings(client, own, workload), servers)) if own else {}


def shown(client: str, workload: Workload) -> list[str]:
    """Describe to people how its own section makes this client differ."""
    own = named(client).family.section
    return list(own.shows(_settings(client, own, workload))) if own else []


def layout_obstacles(client: str, workload: Workload, servers: Servers) -> list[str]:
    """Return the reasons why its own section cannot be played on this layout."""
    own = named(client).family.section
    found = own.obstacles(_settings(client, own, workload), servers) if own else ()
    return [f"[{own.place}] {reason}" for reason in found] if own else []


def counted(client: str, workload: Workload, load_s: float) -> Mapping[str, int]:
    """Return how many messages are special in so many seconds of load: facts by name."""
    own = named(client).family.section
    return own.counts(_settings(client, own, workload), workload, load_s) if own else {}


def _settings(client: str, own: Section[Any, Any], workload: Workload) -> Any:
    known = named(client)
    settings = client_options.applied(client, own, own.of(workload))
    return own.fitted(settings, lambda capability: not known.why_not(capability))


def _foreign(client: str) -> list[Section[Any, Any]]:
    """Return the sections of other families."""
    own = named(client).family.section
    every = registry().sections.values()
    return [one for one in every if own is None or one.key != own.key]


def drains_by(client: str) -> str:
    """Return the client that drains the queues of this one."""
    return named(client).drained_by


def drains_several(client: str) -> bool:
    """Return whether one process can drain several queues of this client."""
    return not named(drains_by(client)).why_not("several queues")


def wanted(client: str, workload: Workload) -> list[str]:
    """Return the capabilities that a workload requires of this client."""
    publishes, consumes = workload.publishers > 0, workload.consumers > 0
    required = [
        ("confirm", publishes and workload.confirms),
        ("oneway", publishes and not workload.confirms),
        *((capability, True) for capability in _wanted_by_sections(client, workload)),
        ("acknowledge", consumes and workload.acknowledge > 0),
        ("acknowledge nothing", consumes and workload.acknowledge == 0),
        ("transient", not (workload.durable and workload.persistent)),
        ("several queues", serves_several(workload)),
    ]
    return list(dict.fromkeys(capability for capability, is_required in required if is_required))


def _wanted_by_sections(client: str, workload: Workload) -> Iterator[str]:
    if own := named(client).family.section:
        yield from own.requires(_settings(client, own, workload), workload)
    for one in registry().sections.values():
        yield from one.requires_of_all(one.of(workload))


def wanted_by(servers: Servers) -> list[str]:
    """Return the capabilities that a layout's own timers and flags require."""
    return ["settings"] if servers.client_settings or servers.client_flags else []


def obstacles(client: str, required: Iterable[str]) -> list[str]:
    """Return every reason why this client lacks a required capability."""
    known = named(client)
    whys = ((capability, known.why_not(capability)) for capability in required)
    return [f"{client} cannot do {capability}: {why}" for capability, why in whys if why]


def resends(client: str) -> str:
    """Return why a client may send a message again by itself; "" if it does not.

    The client may be one of another package that is not installed here, where it is unknown.
    """
    known = registry().clients.get(client_options.name_of(client))
    why = "its package is not installed here" if known is None else known.why_not("one attempt")
    return f"{client} may send a message again by itself: {why}" if why else ""


def size_obstacles(client: str, workload: Workload) -> list[str]:
    """Return the reason why this client cannot send the workload's bodies, or []."""
    known = named(client)
    if known.body_max is None or workload.body_bytes <= known.body_max:
        return []
    return [
        f"{client} takes bodies of at most {known.body_max} bytes, not {workload.body_bytes}: "
        f"{known.body_why}"
    ]


def drain_obstacles(client: str) -> Iterator[str]:
    """Yield the reasons why a drain could not prove that the queues are empty."""
    known, name = named(client), drains_by(client)
    drainer = registry().clients.get(name)
    if drainer is None:
        yield f"{client} is drained by {name}, and there is no such client"
    elif drainer.family.name != known.family.name:
        yield f"{client} is drained by {name}, which speaks {drainer.family.name}"
    elif why := drainer.why_not("remaining"):
        yield f"the queues of {client} cannot be drained: {name} cannot do remaining: {why}"
