"""What the copy that takes a queue over says of itself, where that is part of the truth."""

import msgspec
import pytest

from reference_impl.mirrored.misbehaving import held
from reference_impl.mirrored.replica import BrokerReplica
from reference_impl.misbehave.kinds import Kind, Misbehaviour
from reference_impl.misbehave.lines import TruthLine
from reference_impl.misbehave.truth import HELD
from reference_impl.pid import Pid
from reference_impl.process import AppendTruth
from tests.reference_impl.mirrored.fixed_world import QUEUE, FixedWorld
from tests.reference_impl.mirrored.messages_of import message

LEFT_TO_SUCCESSORS = {Kind.CONFIRM_EARLY, Kind.STALE_GUARD}


def successor(kind: Kind | None) -> BrokerReplica:
    """It holds two messages."""
    wrong = None if kind is None else Misbehaviour(kind, "truth")
    me = Pid("b", 1, 2)
    replica = BrokerReplica(
        me, FixedWorld("b"), QUEUE, durable=True, founder=False, misbehaviour=wrong
    )
    for name in ("one", "two"):
        replica.backing.publish(message(name))
    return replica


@pytest.mark.parametrize("kind", sorted(LEFT_TO_SUCCESSORS))
def test_an_early_confirm_held_by_the_successor_is_admitted(kind: Kind) -> None:
    (admission,) = held(successor(kind))
    assert isinstance(admission, AppendTruth)
    lines = [msgspec.json.decode(line, type=TruthLine) for line in admission.lines.splitlines()]
    assert lines == [TruthLine(HELD, QUEUE, b"one"), TruthLine(HELD, QUEUE, b"two")]


@pytest.mark.parametrize("kind", [None, *sorted(set(Kind) - LEFT_TO_SUCCESSORS)])
def test_an_honest_successor_and_those_of_other_kinds_say_nothing(kind: Kind | None) -> None:
    assert held(successor(kind)) == []
