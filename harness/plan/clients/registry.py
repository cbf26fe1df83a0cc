"""Every client by its name: ours, and those that other packages offer as `mqproof.clients`.

1. An entry point bears its client's name, and leads to its declaration.
2. An unknown name is an error that lists the known ones. A broken offer is an error with its
   package and the reason if its client is requested; it does not affect the others.
3. A family's section has its own key and its own facts. If two families claim the same, both
   offers are broken; neither can replace a family of mqproof itself, or a fact of it.
4. Offers are searched once in a process.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any

from harness.outside.installed import Offer, offered, sorted_out
from harness.outside.text import brief
from harness.plan.clients import amqp, client_options, rocketmq
from harness.plan.clients.declaration import Client, Family, mistakes
from harness.plan.clients.section import Section
from harness.plan.facts import DECLARED, Fact
from harness.plan.files.shape import WorkloadTable
from harness.plan.problems import PlanError, Problem, unknown

GROUP = "mqproof.clients"
PLACE = "--client"
OURS: Mapping[str, Client] = {one.name: one for one in (*amqp.CLIENTS, *rocketmq.CLIENTS)}


@dataclass(frozen=True, slots=True)
class ClientRegistry:
    """`packages`: whose a client is, where it is not ours; `spoilt`: why an offer is not used."""

    clients: Mapping[str, Client]
    packages: Mapping[str, str]
    spoilt: Mapping[str, str]

    @property
    def sections(self) -> dict[str, Section[Any, Any]]:
        """Those parts of `[workload]` that are families' own, by key, ours first."""
        every = (one.family.section for one in self.clients.values())
        return {section.key: section for section in every if section is not None}

    @property
    def facts(self) -> dict[str, Fact]:
        """Return the facts that sections of other packages bring."""
        return {
            name: fact
            for section in self.sections.values()
            for name, fact in section.own_facts.items()
        }


@cache
def registry() -> ClientRegistry:
    return read(offered(GROUP))


def read(offers: Iterable[Offer]) -> ClientRegistry:
    """Return mqproof's own clients and those of other packages."""
    found = list(offers)
    offered = [one.thing for one in found if isinstance(one.thing, Client)]

    def wrong(client: Client) -> Iterator[str]:
        yield from mistakes(client)
        section = client.family.section if isinstance(client.family, Family) else None
        if section is not None and _is_readable(section):
            yield from _claimed_by_others(section, offered)

    return ClientRegistry(*sorted_out(found, "client", Client, OURS, wrong))


def _claimed_by_others(section: Section[Any, Any], offered: Iterable[Client]) -> Iterator[str]:
    if section.key in WorkloadTable.model_fields:
        yield f"[workload] has a key {brief(section.key)} of its own, and no section of that name"
    families = (one.family for one in chain(OURS.values(), offered))
    every = [one.section for one in families if isinstance(one, Family)]
    sections = [one for one in every if _is_readable(one) and one is not None and one != section]
    if any(one.key == section.key for one in sections):
        text = f"another family has a section [{section.place}], too"
        yield f"{text}; rename the section, or uninstall one of the packages"
    taken = {name for one in sections for name in one.own_names}
    for name in sorted(taken.intersection(section.own_names)):
        yield f"another family's section declares the fact {brief(name)}"
    ours = (one.family.section for one in OURS.values())
    if section not in ours:
        ours_too = (section.facts.keys() & DECLARED.keys()) - section.own_facts.keys() - taken
        for name in sorted(ours_too):
            yield f"mqproof itself gives the fact {brief(name)} its value"


def _is_readable(section: object) -> bool:
    """Return whether it is a section whose facts and counts have names."""
    if not isinstance(section, Section) or not isinstance(section.counted, tuple):
        return False
    return all(isinstance(facts, Mapping) for facts in (section.facts, section.own_facts))


def named(client: str) -> Client:
    """Return the client by its name, with or without options. Raise PlanError if unknown."""
    found, name = registry(), client_options.name_of(client)
    if name in found.clients:
        return found.clients[name]
    raise PlanError([problem(name)])


def option_problems(client: str, place: str = PLACE) -> list[Problem]:
    """Return the mistakes in the options of a client whose name is registered."""
    return list(client_options.problems(place, client, named(client).family.section))


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
