"""What every system of RocketMQ's family declares in the same way."""

from collections.abc import Callable

from harness.plan.files.tables import Table
from harness.plan.layouts.guarantees import Guarantees
from harness.plan.layouts.servers import Servers
from harness.plan.model import Layout
from harness.systems.containers import Containers
from harness.systems.files import shipped
from harness.systems.foreign import Foreign
from harness.systems.port import Declaration, Foreground, Processes
from harness.systems.rocketmq.broker import VERSION
from harness.systems.rocketmq.core.drain import TOPIC_DRAIN
from harness.workers.rocketmq.ways import ROCKETMQ_WAYS
from spark_analysis.schema.words import replicated_means


def rocketmq_declaration(
    name: str,
    *,
    layout_file: type[Table],
    guarantees: Callable[[Layout], Guarantees],
    replicated: str,
    servers: Callable[[Layout], Servers],
    containers: Containers,
    processes: Processes | None = None,
    misbehaves: tuple[str, ...] = (),
    foreground: Foreground | None = None,
    foreign: Foreign | None = None,
) -> Declaration:
    """Return a system's declaration. Only references run as subprocesses, and misbehave.
    `replicated`: the meaning of a confirm of that level."""
    return Declaration(
        name=name,
        folder=shipped(name),
        layout_file=layout_file,
        guarantees=guarantees,
        facts={},
        servers=servers,
        drain=TOPIC_DRAIN,
        levels=replicated_means(replicated),
        ways=ROCKETMQ_WAYS,
        versioned_as=VERSION,
        processes=processes,
        misbehaves=misbehaves,
        containers=containers,
        foreground=foreground,
        demo=None,
        foreign=foreign,
    )
