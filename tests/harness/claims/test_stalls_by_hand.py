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


def outage(stalled: int | None, stalled_ms: float = 21_000, late_ms: float = STALL_MS) -> Evidence:
    """A fault from 20 to 40 s. Messages due in its first 3 s are never confirmed, others at once.
    One worker stalls. Service after the fault is judged from 43 s on."""
    history = History().window(20_000, ended_ms=40_000, undo_ms=40_000, gone_ms=40_000)
    for sequence, at_ms in enumerate(range(0, 59_980, 20)):
        history.publish(sequence, at_ms=at_ms)
        if not 20_000 <= at_ms < 23_000:
            history.confirm(sequence, at_ms=at_ms + 1).deliver(sequence, at_ms=at_ms + 2)
    if stalled is not None:
        history.stall(stalled, at_ms=stalled_ms, late_ms=late_ms)
    facts, rows = history.build()
    return Evidence(judge(facts, rows), facts, KnownFacts.from_json(FACTS))


@pytest.mark.parametrize(
    ("stalled", "silence", "downtime", "served"),
    [
        (None, (3.001, 3.001), (3.0, True), True),
        (CONSUMER, (3.001, 3.001), (3.0, True), True),
        (PUBLISHER, (2.851, 3.001), (2.85, False), True),
    ],
)
def test_only_a_publishers_stall_bounds_what_publishers_measured(
    stalled: int | None,
    silence: tuple[float, float],
    downtime: tuple[float, bool],
    served: bool,
) -> None:
    evidence = outage(stalled)
    found, out = evidence.claimed("silence_s", 1), summary(evidence).out_s
    assert isinstance(found, Interval)
    assert (round(found.low, 3), round(found.high, 3)) == silence
    assert out.least is not None
    assert (round(out.least, 3), out.exact) == downtime
    assert evidence.claimed("available_after_fault", 1) is served


@pytest.mark.parametrize(
    ("at_ms", "judged"), [(38_900, True), (39_100, False), (50_000, False), (57_000, False)]
)
def test_a_long_stall_long_before_the_judged_time_leaves_it_judged(
    at_ms: float, judged: bool
) -> None:
    found = outage(PUBLISHER, at_ms, late_ms=2_000).claimed("available_after_fault", 1)
    assert found is True if judged else isinstance(found, Unknown)
