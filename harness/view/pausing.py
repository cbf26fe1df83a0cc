"""Why brokers closed connections: nodes that pause in a network partition close their clients'.

1. Only what was recorded counts: the partition handling of the layout, closes by brokers, and a
   fault that left nodes in silence when they came. It is an explanation and no verdict.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from faults.kinds import KINDS
from harness.view.timeline import FaultSpan, Happening

_BY_BROKER = "CONNECTION_FORCED"  # what AMQP calls a close by the broker
_PAUSES = {
    "pause_minority": "does not see a majority of the nodes",
    "pause_if_all_down": "sees none of the hosts that its configuration lists",
}


def pause_note(
    state: Mapping[str, Any], faults: Iterable[FaultSpan], happenings: Iterable[Happening]
) -> str:
    """Return what probably closed clients' connections; "" if no node pauses in this layout, or
    no close by a broker came during such a fault. `state`: of the run's manifest."""
    handling = str(state.get("partition_handling", ""))
    silent = [one for one in faults if one.kind in KINDS and KINDS[one.kind].silences_peers]
    closed = (one.at_ns for one in happenings if _BY_BROKER in one.text)
    if handling not in _PAUSES or not any(_is_active(one, at) for at in closed for one in silent):
        return ""
    return (
        f"{_BY_BROKER}: the broker closed the connection. With partition handling {handling}, "
        f"a node that {_PAUSES[handling]} pauses: it closes its clients' connections, with reason "
        "'shutdown', and takes no new ones until the partition ends."
    )


def _is_active(fault: FaultSpan, at_ns: int) -> bool:
    return fault.issued_ns <= at_ns and (fault.ended_ns is None or at_ns <= fault.ended_ns)
