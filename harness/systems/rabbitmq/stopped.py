"""Whether RabbitMQ has stopped in a container whose process runs, and what starts it there.

1. Its process may run without it, as after a pause that it did not come back from: only its own
   word that it is stopped counts, and not that it is silent, or boots.
"""

from faults.actions import ENDING_S, Start, Stop
from faults.executors.project import Project
from harness.cluster.port import DeadBroker
from harness.systems.rabbitmq.commands import BOOT_STATE, STOPPED


def by_application(project: Project, place: str) -> DeadBroker | None:
    """None where RabbitMQ does not say that it is stopped. Blocks; raises FaultError."""
    result = project.execute(project.processes(place)[0], list(BOOT_STATE))
    if result.status or result.text.strip() != STOPPED:
        return None
    start = (Stop(place), Start(place, ENDING_S, after="stop"))
    return DeadBroker("its process runs, but RabbitMQ in it has stopped", start, waits=True)
