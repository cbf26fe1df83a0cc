"""The capabilities that a workload and a layout require of a client. If it lacks one, the cell is
NOT APPLICABLE.

1. This is about libraries as they are declared. `doctor` checks whether one can be used here.
2. Capabilities to send and consume in a certain way are required only of clients whose section
   says so. Other clients need those without which it would be another workload (section.py).
3. An unknown client name is an error (registry.py), never another client.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harness.outside.text import brief
from harness.plan.clients import client_options
from harness.plan.clients.declaration import Client, Finds
from harness.plan.clients.registry import named, registry
from harness.plan.clients.section import COUNTED, FactValue, Section
from harness.plan.distribution import serves_several
from harness.plan.layouts.servers import Servers
from harness.plan.problems import PlanError, Problem
from harness.plan.workload import Workload


@dataclass(frozen=True, slots=True)
class ChosenClient:
    """A client as an experiment names it: its declaration, with the options in its name."""

    word: str  # `NAME+KEY=VALUE`
    declared: Client
    drainer: Client | None  # None: there is no such client
    sections: tuple[Section[Any, Any], ...]  # of every family

    @property
    def name(self) -> str:
        return self.declared.name

    @property
    def uses_name_servers(self) -> bool:
        """Return whether it finds brokers by name servers, and so has no bootstrap host."""
        return self.declared.family.finds is Finds.NAME_SERVERS

    @property
    def drains_several(self) -> bool:
        """Return whether one process can drain several of its queues."""
        assert self.drainer is not None, "such a client is not applicable"
        return not self.drainer.why_not("several queues")

    def ignored(self, workload: Workload) -> list[str]:
        """Return the sections of the workload that it ignores."""
        return [one.place for one in self._foreign if one.says(one.of(workload))]

    def facts(self, workload: Workload) -> dict[str, FactValue | dict[str, str]]:
        """Return the facts of every section. One that does not apply to it has the fact
        {"not_applicable": why}."""
        known: dict[str, FactValue | dict[str, str]] = {
            name: {"not_applicable": one.not_applicable}
            for one in self._foreign
            for name in one.own_names
        }
        if own := self._own:
            settings = self._settings(own, workload)
            known |= {name: fact(settings) for name, fact in own.facts.items()}
        return known

    def worker_options(self, workload: Workload, servers: Servers) -> dict[str, Any]:
        """Return the options of its family that each of its workers gets."""
        own = self._own
        return dict(own.worker_options(self._settings(own, workload), servers)) if own else {}

    def shown(self, workload: Workload) -> list[str]:
        """Describe to people how its own section makes it differ."""
        own = self._own
        return list(own.shows(self._settings(own, workload))) if own else []

    def counted(self, workload: Workload, load_s: float) -> Mapping[str, int]:
        """Return how many messages are special in so many seconds of load: facts by name.

        Raise PlanError if its section counts what it does not declare.
        """
        own = self._own
        if own is None:
            return {}
        found = own.counts(self._settings(own, workload), workload, load_s)
        for name, number in found.items():
            if name not in own.counted or type(number) is not int:
                text = f"[{own.place}] counts {brief(number)} {brief(name)}"
                names = f"whole numbers of: {', '.join(own.counted) or 'nothing'}"
                advice = "correct the section in the client's package"
                raise PlanError([Problem(self.word, text, expected=names, advice=advice)])
        return found

    @property
    def counted_names(self) -> tuple[str, ...]:
        """Return the names of the counts that its runs record."""
        own = self._own
        return tuple(dict.fromkeys((*COUNTED, *(own.counted if own else ()))))

    def wanted(self, workload: Workload) -> list[str]:
        """Return the capabilities that a workload requires of it."""
        publishes, consumes = workload.publishers > 0, workload.consumers > 0
        required = [
            ("confirm", publishes and workload.confirms),
            ("oneway", publishes and not workload.confirms),
            *((capability, True) for capability in self._wanted_by_sections(workload)),
            ("acknowledge", consumes and workload.acknowledge > 0),
            ("acknowledge nothing", consumes and workload.acknowledge == 0),
            ("slow consumers", consumes and workload.processing_s > 0),
            ("transient", not (workload.durable and workload.persistent)),
            ("several queues", serves_several(workload)),
            ("consumer groups", bool(workload.consumer_groups)),
        ]
        return list(dict.fromkeys(capability for capability, is_wanted in required if is_wanted))

    def obstacles(self, required: Iterable[str]) -> list[str]:
        """Return every reason why it lacks a required capability."""
        whys = ((capability, self.declared.why_not(capability)) for capability in required)
        return [f"{self.word} cannot do {capability}: {why}" for capability, why in whys if why]

    def layout_obstacles(self, workload: Workload, servers: Servers) -> list[str]:
        """Return the reasons why its own section cannot be played on this layout."""
        own = self._own
        found = own.obstacles(self._settings(own, workload), servers) if own else ()
        return [f"[{own.place}] {reason}" for reason in found] if own else []

    def size_obstacles(self, workload: Workload) -> list[str]:
        """Return the reason why it cannot send the workload's bodies, or []."""
        known = self.declared
        if known.body_max is None or workload.body_bytes <= known.body_max:
            return []
        return [
            f"{self.word} takes bodies of at most {known.body_max} bytes, not "
            f"{workload.body_bytes}: {known.body_why}"
        ]

    def drain_obstacles(self) -> Iterator[str]:
        """Yield the reasons why a drain could not prove that the queues are empty."""
        name, drainer = self.declared.drained_by, self.drainer
        if drainer is None:
            yield f"{self.word} is drained by {name}, and there is no such client"
        elif drainer.family.name != self.declared.family.name:
            yield f"{self.word} is drained by {name}, which speaks {drainer.family.name}"
        elif why := drainer.why_not("remaining"):
            yield f"the queues of {self.word} cannot be drained: {name} cannot do remaining: {why}"

    @property
    def _own(self) -> Section[Any, Any] | None:
        return self.declared.family.section

    @property
    def _foreign(self) -> list[Section[Any, Any]]:
        """Return the sections of other families."""
        own = self._own
        return [one for one in self.sections if own is None or one.key != own.key]

    def _settings(self, own: Section[Any, Any], workload: Workload) -> Any:
        settings = client_options.applied(self.word, own, own.of(workload))
        return own.fitted(settings, lambda capability: not self.declared.why_not(capability))

    def _wanted_by_sections(self, workload: Workload) -> Iterator[str]:
        if own := self._own:
            yield from own.requires(self._settings(own, workload), workload)
        for one in self.sections:
            yield from one.requires_of_all(one.of(workload))


def chosen_client(word: str) -> ChosenClient:
    """Return the client by its name, with or without options. Raise PlanError if unknown."""
    declared, found = named(word), registry()
    drainer = found.clients.get(declared.drained_by)
    return ChosenClient(word, declared, drainer, tuple(found.sections.values()))


def wanted_by(servers: Servers) -> list[str]:
    """Return the capabilities that a layout's own timers and flags require."""
    return ["settings"] if servers.client_settings or servers.client_flags else []


def resends(client: str) -> str:
    """Return why a client may send a message again by itself; "" if it does not.

    The client may be one of another package that is not installed here, where it is unknown.
    """
    known = registry().clients.get(client_options.name_of(client))
    why = "its package is not installed here" if known is None else known.why_not("one attempt")
    return f"{client} may send a message again by itself: {why}" if why else ""
