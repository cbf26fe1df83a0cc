"""Whether a place that does not answer holds no broker any more, and what starts one there.

1. A process that has ended holds none. One that runs may hold what is nowhere else, however silent
   it is: it is nobody's to end.
"""

from faults.actions import ENDING_S, Start
from faults.witness import Witness
from harness.cluster.port import Lifeless


async def by_process(witness: Witness, place: str) -> Lifeless | None:
    """None where its process runs. Raises FaultError."""
    state = await witness.process(place)
    if state.running:
        return None
    code = "" if state.exit_code is None else f" with exit code {state.exit_code}"
    return Lifeless(f"its process has ended{code}", (Start(place, ENDING_S),))
