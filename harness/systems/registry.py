"""Every system by its name: ours, and those that other packages offer as `mqproof.systems`.

1. An entry point bears its system's name, and leads to its Declaration.
2. A broken offer is an error with its package and the reason if its system is requested; it does
   not affect the others. Offers are searched once in a process.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from harness.outside.installed import Offer, offered, sorted_out
from harness.systems.port import Declaration
from harness.systems.rabbitmq_mirrored.declaration import RABBITMQ_MIRRORED
from harness.systems.rabbitmq_quorum.declaration import RABBITMQ_QUORUM
from harness.systems.rabbitmq_stream.declaration import RABBITMQ_STREAM
from harness.systems.reference_2m2s.declaration import REFERENCE_2M2S
from harness.systems.reference_ctgmq.declaration import REFERENCE_CTGMQ
from harness.systems.reference_dledger.declaration import REFERENCE_DLEDGER
from harness.systems.reference_mirrored.declaration import REFERENCE_MIRRORED
from harness.systems.rocketmq_2m2s.declaration import ROCKETMQ_2M2S
from harness.systems.rocketmq_controller.declaration import ROCKETMQ_CONTROLLER
from harness.systems.rocketmq_dledger.declaration import ROCKETMQ_DLEDGER
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
    return SystemRegistry(*sorted_out(offers, "system", Declaration, OURS, _mistakes))


def _mistakes(declaration: Declaration) -> Iterable[str]:
    return level_mistakes(declaration.levels)
