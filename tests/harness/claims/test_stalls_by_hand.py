"""A stall in a history made by hand: it touches only what the worker that stalled measured."""

import pytest

from harness.claims.evidence import Evidence
from harness.claims.state import KnownFacts
from harness.claims.values import Interval, Unknown
from harness.view.summary import summary
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER, History

STALL_MS = 150
FACTS = {"consumers": 1, "priorities": 0, "progress_kept_by": "brokers"}


def outage(stalled: int | None) -> Evidence:
    """A fault from 20 to 40 s. What is due in its first 3 s is never confirmed, all else at once.
    One worker stalls at 21 s."""
    history = History().window(20_000, ended_ms=40_000, undo_ms=40_000)
    for sequence, at_ms in enumerate(range(0, 59_980, 20)):
        history.publish(sequence, at_ms=at_ms)
        if not 20_000 <= at_ms < 23_000:
            history.confirm(sequence, at_ms=at_ms + 1).deliver(sequence, at_ms=at_ms + 2)
    if stalled is not None:
        history.stall(stalled, at_ms=21_000, late_ms=STALL_MS)
    facts, rows = history.build()
    return Evidence(judge(facts, rows), facts, KnownFacts.from_json(FACTS))


@pytest.mark.parametrize(
    ("stalled", "silence", "downtime", "served"),
    [
        (None, (3.001, 3.001), (3.0, True), True),
        (CONSUMER, (3.001, 3.001), (3.0, True), True),
        (PUBLISHER, (2.851, 3.001), (2.85, False), None),
    ],
)
def test_only_a_publishers_stall_bounds_what_publishers_measured(
    stalled: int | None,
    silence: tuple[float, float],
    downtime: tuple[float, bool],
    served: bool | None,
) -> None:
    evidence = outage(stalled)
    found, out = evidence.claimed("silence_s", 1), summary(evidence).out_s
    assert isinstance(found, Interval)
    assert (round(found.low, 3), round(found.high, 3)) == silence
    assert out.least is not None
    assert (round(out.least, 3), out.exact) == downtime
    answer = evidence.claimed("available_after_fault", 1)
    assert answer is served or (served is None and isinstance(answer, Unknown))
