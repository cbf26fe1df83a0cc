"""What every system of RabbitMQ's family declares in the same way."""

from collections.abc import Callable

from harness.plan.files.tables import Table
from harness.plan.layouts.guarantees import Guarantees
from harness.plan.model import Drain, Layout
from harness.systems.containers import Containers
from harness.systems.files import shipped
from harness.systems.foreign import Foreign
from harness.systems.port import Declaration, Demo, Foreground, Processes
from harness.systems.rabbitmq.broker import VERSION
from harness.systems.rabbitmq.core.servers import rabbitmq_servers
from spark_analysis.schema.words import replicated_means

# Of queues of any type, and of those of the reference.
RABBITMQ_DRAIN = Drain(
    queue_name=lambda queue: queue,
    quiet_s=lambda _: 2.0,
    more_s=lambda _: 0.0,
    in_order=lambda _, serving: serving <= 1,  # the drain reads alone, too
    gone_by_force_s=15.0,  # connections are closed on request
)


def rabbitmq_declaration(
    name: str,
    *,
    layout_file: type[Table],
    guarantees: Callable[[Layout], Guarantees],
    replicated: str,
    containers: Containers,
    foreign: Foreign | None,
    processes: Processes | None = None,
    misbehaves: tuple[str, ...] = (),
    foreground: Foreground | None = None,
    demo: Demo | None = None,
) -> Declaration:
    """Return a system's declaration. Only the reference runs as subprocesses, and misbehaves.
    `replicated`: the meaning of a confirm of that level."""
    return Declaration(
        name=name,
        folder=shipped(name),
        layout_file=layout_file,
        guarantees=guarantees,
        facts={},
        servers=rabbitmq_servers,
        drain=RABBITMQ_DRAIN,
        levels=replicated_means(replicated),
        ways=(),
        versioned_as=VERSION,
        processes=processes,
        misbehaves=misbehaves,
        containers=containers,
        foreground=foreground,
        demo=demo,
        foreign=foreign,
    )
