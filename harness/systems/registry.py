"""Every system by its name: ours, and those that other packages offer as `mqproof.systems`.

1. An entry point bears its system's name, and leads to its Declaration.
2. A broken offer is an error with its package and the reason if its system is requested; it does
   not affect the others. Offers are searched once in a process.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from harness.outside.installed import Offer, offered, sorted_out
from harness.outside.text import brief
from harness.plan import brought_facts
from harness.plan.clients import registry as clients
from harness.plan.facts import Fact
from harness.plan.model import LayoutFact
from harness.systems.port import Declaration
from harness.systems.rabbitmq_mirrored import RABBITMQ_MIRRORED
from harness.systems.rabbitmq_quorum import RABBITMQ_QUORUM
from harness.systems.rabbitmq_stream import RABBITMQ_STREAM
from harness.systems.reference_2m2s import REFERENCE_2M2S
from harness.systems.reference_ctgmq import REFERENCE_CTGMQ
from harness.systems.reference_dledger import REFERENCE_DLEDGER
from harness.systems.reference_mirrored import REFERENCE_MIRRORED
from harness.systems.rocketmq_2m2s import ROCKETMQ_2M2S
from harness.systems.rocketmq_controller import ROCKETMQ_CONTROLLER
from harness.systems.rocketmq_dledger import ROCKETMQ_DLEDGER
from spark_analysis.schema.ways import way_mistakes
from spark_analysis.schema.words import level_mistakes

GROUP = "mqproof.systems"

OURS: Mapping[str, Declaration] = {
    one.name: one
    for one in (
        RABBITMQ_MIRRORED,
        RABBITMQ_QUORUM,
        RABBITMQ_STREAM,
        REFERENCE_MIRRORED,
        ROCKETMQ_2M2S,
        ROCKETMQ_DLEDGER,
        ROCKETMQ_CONTROLLER,
        REFERENCE_2M2S,
        REFERENCE_DLEDGER,
        REFERENCE_CTGMQ,
    )
}


@dataclass(frozen=True, slots=True)
class SystemRegistry:
    """`packages`: whose a system is, where it is not ours; `spoilt`: why an offer is not used."""

    systems: Mapping[str, Declaration]
    packages: Mapping[str, str]
    spoilt: Mapping[str, str]

    @property
    def facts(self) -> dict[str, Fact]:
        """Return the facts that systems of other packages bring."""
        every = self.systems.values()
        return {name: one.fact for each in every for name, one in each.facts.items()}

    def version_of(self, system: str, recorded: Mapping[str, str]) -> str:
        """Return its brokers' own version among those that a run records; "" if they have none, or
        the system is no longer known."""
        known = self.systems.get(system)
        return recorded.get(known.versioned_as or "", "") if known is not None else ""


@cache
def registry() -> SystemRegistry:
    return read(offered(GROUP))


def read(offers: Iterable[Offer]) -> SystemRegistry:
    """Return mqproof's own systems and those of other packages."""
    found = list(offers)
    others = [one.thing for one in found if isinstance(one.thing, Declaration)]

    def mistakes(declaration: Declaration) -> Iterator[str]:
        yield from level_mistakes(declaration.levels)
        yield from way_mistakes(declaration.ways)
        yield from _fact_mistakes(declaration, others)

    return SystemRegistry(*sorted_out(found, "system", Declaration, OURS, mistakes))


def _fact_mistakes(declaration: Declaration, others: Iterable[Declaration]) -> Iterator[str]:
    """Yield the mistakes in the facts that a system brings.

    Several systems may bring one fact if they agree on its type and meaning.
    """
    if not isinstance(declaration.facts, Mapping):
        yield f"its facts are no mapping of names, but {brief(declaration.facts)}"
        return
    for name, one in declaration.facts.items():
        if not isinstance(one, LayoutFact):
            yield f"the fact {brief(name)} is no LayoutFact, but {brief(one)}"
            return
    facts = _facts_of(declaration)
    yield from brought_facts.mistakes(facts)
    for name in sorted(facts.keys() & clients.registry().facts.keys()):
        yield f"the section of a client brings the fact {brief(name)}, too"
    for other in others:
        theirs = _facts_of(other)
        for name in sorted(facts.keys() & theirs.keys()):
            if facts[name] != theirs[name]:
                yield f"the system {brief(other.name)} brings the fact {brief(name)} otherwise"


def _facts_of(declaration: Declaration) -> dict[str, Fact]:
    """Return the facts that are declared as they should be."""
    if not isinstance(declaration.facts, Mapping):
        return {}
    every = declaration.facts.items()
    return {name: one.fact for name, one in every if isinstance(one, LayoutFact)}
