"""Every system by its name: ours, and those that other packages offer as `mqproof.systems`.

1. An entry point bears its system's name, and leads to its Declaration.
2. An offer that is spoilt is told with its package and the reason to whoever asks for it, and
   keeps nobody from the others. Offers are looked for once in a process.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from harness.outside.installed import Offer, offered, sorted_out
from harness.systems.files import compose_folder
from harness.systems.port import Declaration
from harness.systems.rabbitmq import layouts as mirrored
from harness.systems.rabbitmq.drain import MIRRORED_DRAIN
from harness.systems.rabbitmq.promises import mirrored_promises
from harness.systems.rabbitmq.servers import mirrored_servers
from harness.systems.reference.processes import ReferenceNodes
from harness.systems.rocketmq import layouts as master_slave
from harness.systems.rocketmq.drain import TOPIC_DRAIN
from harness.systems.rocketmq.promises import master_slave_promises
from harness.systems.rocketmq.servers import master_slave_servers

GROUP = "mqproof.systems"


def _shipped(name: str) -> Path:
    """Raises DeployError where the installation lacks it."""
    return compose_folder() / name


OURS: Mapping[str, Declaration] = {
    one.name: one
    for one in (
        Declaration(
            name="rabbitmq-mirrored",
            folder=partial(_shipped, "rabbitmq-mirrored"),
            layout_file=mirrored.MirroredLayoutFile,
            mistakes=mirrored.mistakes,
            promises=mirrored_promises,
            servers=mirrored_servers,
            drain=MIRRORED_DRAIN,
            processes=None,
        ),
        Declaration(
            name="reference-mirrored",
            folder=partial(_shipped, "reference-mirrored"),
            layout_file=mirrored.MirroredLayoutFile,
            mistakes=mirrored.mistakes,
            promises=mirrored_promises,
            servers=mirrored_servers,
            drain=MIRRORED_DRAIN,
            processes=ReferenceNodes(),
        ),
        Declaration(
            name="rocketmq-2m2s",
            folder=partial(_shipped, "rocketmq-2m2s"),
            layout_file=master_slave.RocketLayoutFile,
            mistakes=master_slave.mistakes,
            promises=master_slave_promises,
            servers=master_slave_servers,
            drain=TOPIC_DRAIN,
            processes=None,
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Registry:
    """`packages`: whose a system is, where it is not ours; `spoilt`: why an offer is not used."""

    systems: Mapping[str, Declaration]
    packages: Mapping[str, str]
    spoilt: Mapping[str, str]


@cache
def registry() -> Registry:
    return read(offered(GROUP))


def read(offers: Iterable[Offer]) -> Registry:
    """Ours, and what is offered besides."""
    return Registry(*sorted_out(offers, "system", Declaration, OURS, lambda _: ()))
