"""Why brokers closed clients' connections, where nodes pause in a network partition."""

import pytest

from harness.view.pausing import pause_note
from harness.view.timeline import FaultSpan, Happening
from tests.harness.view.test_minorities import CUT, KILL, S

PAUSING = {"partition_handling": "pause_minority"}
CLOSED = "connection lost: (320) \"CONNECTION_FORCED - ... with reason 'shutdown'\""


def event(at_s: int, text: str = CLOSED) -> Happening:
    return Happening(at_s * S, "client", "publisher 1", text, False)


def test_a_close_during_a_partition_is_explained() -> None:
    note = pause_note(PAUSING, [CUT], [event(11)])
    assert "pause_minority, a node that does not see a majority of the nodes pauses" in note
    assert "'shutdown'" in note
    other = pause_note({"partition_handling": "pause_if_all_down"}, [CUT], [event(11)])
    assert "sees none of the hosts" in other


@pytest.mark.parametrize(
    ("state", "faults", "events"),
    [
        ({"partition_handling": "autoheal"}, [CUT], [event(11)]),
        ({}, [CUT], [event(11)]),
        (PAUSING, [CUT], [event(9), event(41)]),  # before it and after it
        (PAUSING, [CUT], [event(11, "connection lost: reset by peer")]),
        (PAUSING, [KILL], [event(21)]),  # the node ended
        (PAUSING, [], [event(11)]),
    ],
)
def test_other_closes_are_not_explained_by_a_pause(
    state: dict[str, str], faults: list[FaultSpan], events: list[Happening]
) -> None:
    assert pause_note(state, faults, events) == ""
