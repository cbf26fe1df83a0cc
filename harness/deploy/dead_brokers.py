"""Checks whether the broker of a silent place is dead, and what starts one there.

1. If its process has ended, it is dead. A running process, however silent, may hold messages that
   are nowhere else: it must not be ended.
"""

from faults.core.actions import ENDING_S, Start
from faults.core.witness import Witness
from harness.cluster.port import DeadBroker


async def by_process(witness: Witness, place: str) -> DeadBroker | None:
    """Return the dead broker; None if its process runs. Raise FaultError."""
    state = await witness.process(place)
    if state.running:
        return None
    code = "" if state.exit_code is None else f" with exit code {state.exit_code}"
    return DeadBroker(f"its process has ended{code}", (Start(place, ENDING_S),))
