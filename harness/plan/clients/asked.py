"""What a workload and a layout ask of a client, and why it cannot do it: then the cell is NOT
APPLICABLE.

1. About libraries as they are declared; whether one can be used here is doctor's to say.
2. How a client sends and consumes is asked of those alone whose section of the workload says it;
   of the others only what would be another workload without it (section.py).
3. A name that no client bears is an error (registry.py), never another client.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.plan.clients import told_otherwise
from harness.plan.clients.declaration import Finds
from harness.plan.clients.registry import named, registry
from harness.plan.clients.section import Fact, Section
from harness.plan.model import Workload
from harness.plan.servers import Servers


def asks_name_servers(client: str) -> bool:
    """It knows name servers, who tell it where brokers are; of hosts to enter it knows nothing."""
    return named(client).family.finds is Finds.NAME_SERVERS


def ignored(client: str, workload: Workload) -> list[str]:
    """What the workload says that this client does not know."""
    return [one.place for one in _foreign(client) if one.says(one.of(workload))]


def facts(client: str, workload: Workload) -> dict[str, Fact | dict[str, str]]:
    """What every section tells claims; {"moot": why} of those that are nothing to this client."""
    known: dict[str, Fact | dict[str, str]] = {
        name: {"moot": one.moot} for one in _foreign(client) for name in one.facts
    }
    if own := named(client).family.section:
        said = _said(client, own, workload)
        known |= {name: fact(said) for name, fact in own.facts.items()}
    return known


def told(client: str, workload: Workload, servers: Servers) -> dict[str, Any]:
    """What each of its workers is told besides what every worker is."""
    own = named(client).family.section
    return dict(own.tells(_said(client, own, workload), servers)) if own else {}


def shown(client: str, workload: Workload) -> list[str]:
    """How its own section makes this client differ, as people are told."""
    own = named(client).family.section
    return list(own.shows(_said(client, own, workload))) if own else []


def layout_obstacles(client: str, workload: Workload, servers: Servers) -> list[str]:
    """Why its own section cannot be played on this layout."""
    own = named(client).family.section
    found = own.obstacles(_said(client, own, workload), servers) if own else ()
    return [f"[{own.place}] {reason}" for reason in found] if own else []


def counted(client: str, workload: Workload, load_s: float) -> Mapping[str, int]:
    """How many messages are special in so many seconds of load: facts by name."""
    own = named(client).family.section
    return own.counts(_said(client, own, workload), workload, load_s) if own else {}


def _said(client: str, own: Section[Any, Any], workload: Workload) -> Any:
    return told_otherwise.said(client, own, own.of(workload))


def _foreign(client: str) -> list[Section[Any, Any]]:
    """The sections that are not this client's."""
    own = named(client).family.section
    every = registry().sections.values()
    return [one for one in every if own is None or one.key != own.key]


def drains_by(client: str) -> str:
    """The client that reads empty what this one's consumers left."""
    return named(client).drained_by


def wanted(client: str, workload: Workload) -> list[str]:
    """The capabilities that a workload asks of this client."""
    publishes, consumes = workload.publishers > 0, workload.consumers > 0
    asked = [
        ("confirm", publishes and workload.confirms),
        ("oneway", publishes and not workload.confirms),
        *((capability, True) for capability in _wanted_by_sections(client, workload)),
        ("acknowledge", consumes and workload.acknowledge > 0),
        ("acknowledge nothing", consumes and workload.acknowledge == 0),
        ("transient", not (workload.durable and workload.persistent)),
    ]
    return list(dict.fromkeys(capability for capability, is_asked in asked if is_asked))


def _wanted_by_sections(client: str, workload: Workload) -> Iterator[str]:
    if own := named(client).family.section:
        yield from own.asks(_said(client, own, workload), workload)
    for one in registry().sections.values():
        yield from one.asks_of_all(one.of(workload))


def wanted_by(servers: Servers) -> list[str]:
    """The capabilities that a layout's own timers and flags ask for."""
    return ["settings"] if servers.client_settings or servers.client_flags else []


def obstacles(client: str, asked: Iterable[str]) -> list[str]:
    """Every reason why this client cannot do what is asked; each of `asked` is a capability."""
    known = named(client)
    whys = ((capability, known.why_not(capability)) for capability in asked)
    return [f"{client} cannot do {capability}: {why}" for capability, why in whys if why]


def size_obstacles(client: str, workload: Workload) -> list[str]:
    """Why this client cannot send the workload's bodies."""
    known = named(client)
    if known.body_max is None or workload.body_bytes <= known.body_max:
        return []
    return [
        f"{client} takes bodies of at most {known.body_max} bytes, not {workload.body_bytes}: "
        f"{known.body_why}"
    ]


def drain_obstacles(client: str) -> Iterator[str]:
    """Why nobody could say that what its consumers left was read empty."""
    known, name = named(client), drains_by(client)
    drainer = registry().clients.get(name)
    if drainer is None:
        yield f"{client} is drained by {name}, and there is no such client"
    elif drainer.family.name != known.family.name:
        yield f"{client} is drained by {name}, which speaks {drainer.family.name}"
    elif why := drainer.why_not("remaining"):
        yield f"nobody can drain what {client} leaves: {name} cannot do remaining: {why}"


def workers_obstacles(client: str, contained: bool) -> Iterator[str]:
    """`contained`: workers run from an image, which has mqproof's own clients."""
    name = told_otherwise.name_of(client)
    package = registry().packages.get(name)
    if contained and package:
        yield f"workers in containers have no {name}: it comes with the package {package}"
