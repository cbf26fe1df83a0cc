"""The system: NATS JetStream. Entry point of mqproof.systems."""

from pathlib import Path

from harness.systems.port import Declaration
from mqproof_nats.broker import VERSION
from mqproof_nats.containers import NATS_CONTAINERS
from mqproof_nats.layouts import (
    DRAIN,
    FACTS,
    LEVELS,
    NatsLayoutFile,
    guarantees,
    servers,
)
from mqproof_nats.processes import NatsProcesses

NATS_JETSTREAM = Declaration(
    name="nats-jetstream",
    folder=lambda: Path(__file__).parent / "files",
    layout_file=NatsLayoutFile,
    guarantees=guarantees,
    facts=FACTS,
    servers=servers,
    drain=DRAIN,
    levels=LEVELS,
    ways=(),  # JetStream redelivers by the consumer itself, with a flag
    versioned_as=VERSION,
    processes=NatsProcesses(),
    misbehaves=(),
    containers=NATS_CONTAINERS,
    foreground=None,
    demo=None,
    foreign=None,
)
