"""What other packages of this installation offer, by the groups of their entry points.

1. Whatever goes wrong when an offer is loaded is its own matter: it is told, and nobody else's is
   spoilt by it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points

from harness.outside.text import brief


@dataclass(frozen=True, slots=True)
class Offer:
    """One entry point."""

    name: str
    package: str  # with its version: "acme-queues 1.2"
    thing: object  # what it leads to
    refused: str = ""  # why it leads nowhere


def offered(group: str) -> Iterator[Offer]:
    for entry in entry_points(group=group):
        yield _loaded(entry)


def _loaded(entry: EntryPoint) -> Offer:
    package = f"{entry.dist.name} {entry.dist.version}" if entry.dist else "unknown"
    try:
        return Offer(entry.name, package, entry.load())
    except (Exception, SystemExit) as failure:  # another's module may raise anything
        why = f"{brief(entry.value)} cannot be loaded: {type(failure).__name__}: {failure}"
        return Offer(entry.name, package, None, why)
