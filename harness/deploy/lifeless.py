"""Whether a place that does not answer holds no broker any more, and what starts one there.

1. A process that has ended holds none. One that runs may hold what is nowhere else, however silent
   it is: it is nobody's to end.
2. RabbitMQ's process may run without RabbitMQ, as after a pause that it did not come back from:
   only its own word that it is stopped counts, and not that it is silent, or boots.
"""

from faults.actions import ENDING_S, Start, Stop
from faults.executors.project import Project
from faults.witness import Witness
from harness.deploy.port import Lifeless
from harness.deploy.rabbitmq_commands import BOOT_STATE, STOPPED


async def by_process(witness: Witness, place: str) -> Lifeless | None:
    """None where its process runs. Raises FaultError."""
    state = await witness.process(place)
    if state.running:
        return None
    code = "" if state.exit_code is None else f" with exit code {state.exit_code}"
    return Lifeless(f"its process has ended{code}", (Start(place, ENDING_S),))


def by_application(project: Project, place: str) -> Lifeless | None:
    """None where RabbitMQ does not say that it is stopped. Blocks; raises FaultError."""
    said = project.execute(project.processes(place)[0], list(BOOT_STATE))
    if said.status or said.text.strip() != STOPPED:
        return None
    start = (Stop(place), Start(place, ENDING_S, after="stop"))
    return Lifeless("its process runs, but RabbitMQ in it has stopped", start, waits=True)
