"""Both sides of the edges of service: flapping, brownouts, patient clients, and clocks."""

import pytest

from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER, History, counts
from tests.rigs.histories.steady_loads import loaded, steady

OTHER = 71  # a consumer
UNDO_MS = 20_000
FOREVER_MS = 60_000  # the deadline of patient clients


def verdict(history: History, promise: str = "fault", scope: str = "run") -> str:
    (row,) = (
        row
        for row in judge(*history.build()).service
        if (row.promise, row.scope) == (promise, scope)
    )
    return row.verdict


def ended(history: History) -> list[str]:
    return [row.ended for row in judge(*history.build()).outages if row.scope == "run"]


def faulted(**load: float) -> History:
    """A fault from 8 s to 20.1 s, whose undo is issued at 20 s."""
    history = loaded(**load)
    return history.window(8_000, ended_ms=20_100, undo_ms=UNDO_MS, gone_ms=20_100)


# --- flapping ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("relapses", "found"), [(1, "served"), (2, "open"), (3, "out")])
def test_a_takeover_allows_one_relapse_and_three_refute_it(relapses: int, found: str) -> None:
    """Each outage lasts 2 s, the system ends it, and 7 s of service follow."""
    history = loaded(ended_ms=60_000)
    history.window(8_000, ended_ms=56_100, undo_ms=56_000, gone_ms=56_100)
    starts = [8_000 + 9_000 * number for number in range(1 + relapses)]
    bad = [(start, start + 2_000) for start in starts]
    assert verdict(steady(history, *bad, until_ms=60_000)) == found


# --- brownouts -----------------------------------------------------------------------------------


def browned_out(every: int) -> History:
    """Under the fault one publish of so many is bad."""
    bad = [number for number in range(400, 1_000) if number % every == every - 1]
    return steady(faulted(), also_bad=bad)


def test_half_service_until_the_undo_is_an_outage() -> None:
    assert ended(browned_out(2)) == ["undo"]
    assert verdict(browned_out(2)) == "out"


def test_a_quarter_brownout_ends_by_undo_and_smaller_is_open() -> None:
    assert [*ended(browned_out(4)), *ended(browned_out(5))] == ["undo", "either"]
    assert [verdict(browned_out(4)), verdict(browned_out(5))] == ["out", "open"]


def test_a_brownout_that_ends_early_was_ended_by_the_system() -> None:
    bad = [number for number in range(400, 600) if number % 2]
    assert ended(steady(faulted(), also_bad=bad)) == ["system"]
    assert verdict(steady(faulted(), also_bad=bad)) == "served"


# --- slow loads ----------------------------------------------------------------------------------


def out_twice(back_ms: float, again_ms: float = 30_050) -> History:
    """At ten publishes a second a stretch needs 20 s. The fault lasts from 8 s to 30 s; one outage
    begins with it, another after its undo."""
    history = loaded(ended_ms=60_000)
    history.window(8_000, ended_ms=30_020, undo_ms=30_000, gone_ms=30_100)
    return steady(history, (8_000, back_ms), (again_ms, 33_000), every_ms=100, until_ms=60_000)


@pytest.mark.parametrize(
    ("back_ms", "found"),
    [
        (10_500, "open"),
        (19_100, "open"),  # of the last 100 publishes that are decided one is late
        (19_200, "out"),
        (30_000, "out"),
    ],
)
def test_a_relapse_after_the_undo_hides_no_takeover(back_ms: float, found: str) -> None:
    assert ended(out_twice(back_ms)) == ["undo"]
    assert verdict(out_twice(back_ms)) == found


def test_an_outage_that_begins_again_before_the_undo_was_not_ended() -> None:
    assert verdict(out_twice(10_500, 28_000)) == "out"


def test_dead_after_the_undo_is_not_dead_under_the_fault() -> None:
    history = loaded(ended_ms=40_000)
    history.window(8_000, ended_ms=30_020, undo_ms=30_000, gone_ms=30_100)
    steady(history, (8_000, 10_500), (30_050, 40_000), every_ms=100, until_ms=40_000)
    assert ended(history) == ["never"]
    assert (verdict(history), verdict(history, "healed")) == ("open", "out")


# --- patient clients -----------------------------------------------------------------------------


def patient(lucky: int) -> History:
    """Of the 250 publishes from 10 s to 15 s so many are confirmed at once, each other one of the
    fault after the undo. No deadline passes."""
    history = faulted(deadline_ms=FOREVER_MS)
    for sequence in range(1_500):
        at_ms = sequence * 20.0
        held = 400 <= sequence < 1_000 and not 500 <= sequence < 500 + lucky
        settled_ms = UNDO_MS + 10 + sequence / 1_000 if held else at_ms + 1
        history.publish(sequence, at_ms=at_ms).confirm(sequence, at_ms=settled_ms)
        history.deliver(sequence, at_ms=settled_ms + 1)
    return history


@pytest.mark.parametrize(("lucky", "out"), [(0, True), (1, True), (124, True), (125, False)])
def test_a_few_lucky_confirms_serve_no_patient_client(lucky: int, out: bool) -> None:
    assert (verdict(patient(lucky)) == "out") is out


# --- clocks --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("back_ms", "bound_ms", "by"),
    [
        (12_000, 7_999.999_999, "system"),
        (12_000, 8_000, "either"),
        (23_000, 3_000, "undo"),
        (23_000, 3_000.000_001, "either"),
    ],
)
def test_within_the_clock_bound_the_cause_of_recovery_is_unknown(
    back_ms: float, bound_ms: float, by: str
) -> None:
    history = faulted().clock(PUBLISHER, bound_ms)
    assert ended(steady(history, (8_000, back_ms))) == [by]


@pytest.mark.parametrize(
    ("clocks", "found"),
    [
        ((), {"reordered": 1}),
        ((PUBLISHER,), {"reordered": 1}),
        ((CONSUMER,), {"reorder_unknown": 1}),
        ((OTHER,), {"reorder_unknown": 1}),
    ],
)
def test_a_consumer_with_another_clock_proves_no_order_across_consumers(
    clocks: tuple[int, ...], found: dict[str, int]
) -> None:
    history = History().worker(OTHER, "consumer").publish(1, at_ms=1).confirm(1, at_ms=2)
    history.publish(2, at_ms=3).confirm(2, at_ms=4)
    history.deliver(2, at_ms=100, consumer=OTHER).deliver(1, at_ms=200)
    for worker in clocks:
        history.clock(worker, 0.5)
    assert counts(judge(*history.build()), "reordered", "reorder_unknown") == found
