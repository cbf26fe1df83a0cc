"""Every client by its name: ours, and those that other packages offer as `mqproof.clients`.

1. An entry point bears its client's name, and leads to its declaration.
2. Nothing is taken for what it is not: who asks for a name that nobody bears is told those that
   there are. An offer that is spoilt is told with its package and the reason to whoever asks for
   it, and keeps nobody from the others.
3. Offers are looked for once in a process.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from harness.outside.installed import Offer, offered, sorted_out
from harness.plan.clients import amqp, rocketmq
from harness.plan.clients.declaration import Client, Family, mistakes
from harness.plan.problems import PlanError, Problem, unknown

GROUP = "mqproof.clients"
PLACE = "--client"
OURS: Mapping[str, Client] = {one.name: one for one in (*amqp.CLIENTS, *rocketmq.CLIENTS)}


@dataclass(frozen=True, slots=True)
class Registry:
    """`packages`: whose a client is, where it is not ours; `spoilt`: why an offer is not used."""

    clients: Mapping[str, Client]
    packages: Mapping[str, str]
    spoilt: Mapping[str, str]


@cache
def registry() -> Registry:
    return read(offered(GROUP))


def read(offers: Iterable[Offer]) -> Registry:
    """Ours, and what is offered besides."""
    return Registry(*sorted_out(offers, "client", Client, OURS, mistakes))


def named(name: str) -> Client:
    """Raises PlanError, which names those that there are."""
    found = registry()
    if name in found.clients:
        return found.clients[name]
    raise PlanError([problem(name)])


def problem(name: str, place: str = PLACE) -> Problem:
    """Why there is no client of this name."""
    found = registry()
    if name in found.spoilt:
        return Problem(place, found.spoilt[name], tuple(found.clients))
    return unknown(place, "client", name, tuple(found.clients))


def of_family(family: Family) -> tuple[Client, ...]:
    """Those of mqproof itself."""
    return tuple(one for one in OURS.values() if one.family == family)


def joined(listed: Sequence[str]) -> tuple[str, ...]:
    """With the clients of other packages that speak what these speak. Each is registered."""
    found = registry()
    families = {found.clients[name].family.name for name in listed}
    others = [name for name in found.packages if found.clients[name].family.name in families]
    return (*listed, *(name for name in sorted(others) if name not in listed))
