"""Claims about logs: near misses, each a healthy history beside a broken one."""

from typing import Any

import pytest

from spark_analysis.schema.words import Fate, Outcome, Redelivered, Strength
from tests.harness.claims.judging import FAIL, INCONCLUSIVE, NOT_APPLICABLE, PASS
from tests.rigs.histories.by_hand import CONSUMER, History
from tests.rigs.histories.logs import AUDITOR, PLACES, LogHistory, details, outcomes
from tests.rigs.histories.ways import Via

ACKNOWLEDGED = "acknowledged-is-not-redelivered"
REDELIVERED = "unacknowledged-is-redelivered"
DELIVERED = "confirmed-is-delivered"
FIRST_IN = "queue-is-first-in-first-out"
NOT_TORN = "no-transaction-torn"
UNSEEN = "rolled-back-stays-unseen"
CONSUMED = "consumed-in-steady-state"
SLOW: dict[str, Any] = {"processing_s": 0.05}
ONE_MASTER: dict[str, Any] = {
    "masters": 1,
    "elects": True,
    "elects_by_majority": False,
    "promote_on_failure": "when-synced",
}
MASTER: dict[str, Any] = {
    "fault_kind": "kill",
    "fault_target_role": "master",
    "mirrors_at_fault": 1,
    "synchronised_mirrors_at_fault": 1,
    "fault_returned": True,
}
RETRIED: dict[str, Any] = {"via": Via.RETRY_TOPIC, "place": "%RETRY%group/0", "offset": 0}


def fails(found: dict[str, Any]) -> set[str]:
    return {name for name, outcome in found.items() if outcome is FAIL}


# --- progress: message 100 is sent at 10 s, and acknowledged at 10.01 s --------------------------


@pytest.mark.parametrize(
    ("unacknowledged", "filled_ms", "again_ms", "outcome"),
    [
        ((), None, 15_990, PASS),
        ((), None, 16_030, FAIL),
        ((98,), None, 17_000, PASS),  # a hole in its own place
        ((99,), None, 17_000, FAIL),  # one in the other place
        ((98,), 11_100, 17_000, PASS),  # a hole that was filled too late
        ((98,), 10_900, 17_010, FAIL),
    ],
)
def test_a_group_passes_a_place_without_holes(
    unacknowledged: tuple[int, ...], filled_ms: float | None, again_ms: float, outcome: object
) -> None:
    story = LogHistory(unacknowledged=unacknowledged)
    if filled_ms is not None:
        story.history.acknowledge(99, at_ms=filled_ms)
    found = outcomes(story.came(100, again_ms))
    assert found[ACKNOWLEDGED] is outcome
    assert fails(found) == ({ACKNOWLEDGED} if outcome is FAIL else set())


@pytest.mark.parametrize(
    ("ended_ms", "declared", "outcome"),
    [(15_910, {}, PASS), (16_110, {}, FAIL), (16_110, SLOW, INCONCLUSIVE)],
)
def test_a_rollback_after_a_rebalance_needs_six_seconds(
    ended_ms: int, declared: dict[str, Any], outcome: object
) -> None:
    story = LogHistory(connection=lambda number: 1 if number * 100 < ended_ms else 2)
    story.history.client_event("closed", at_ms=ended_ms)
    found = outcomes(story.came(100, 20_000, connection=2), declared)
    assert found[ACKNOWLEDGED] is outcome


def test_a_gap_of_offsets_is_no_hole() -> None:
    story = LogHistory(own=(98,))
    story.history.publish(98, at_ms=9_800).confirm(98, at_ms=9_803)
    assert fails(outcomes(story.came(100, 17_000))) == {ACKNOWLEDGED, DELIVERED}


# --- what a group passed without an acknowledgement ----------------------------------------------


def passed() -> LogHistory:
    """The connection ends at 12 s, before message 100 is acknowledged."""
    story = LogHistory(unacknowledged=(100,), connection=lambda number: 1 + (number >= 120))
    story.history.client_event("lost", at_ms=12_000)
    return story


def test_a_message_that_lies_in_the_log_was_not_redelivered() -> None:
    """The audit of a log finds everything, however far the group has come."""
    assert fails(outcomes(passed())) == {REDELIVERED}
    assert fails(outcomes(passed().audited())) == {REDELIVERED}
    again = passed().audited().came(100, 13_000, connection=2)
    assert outcomes(again)[REDELIVERED] is PASS
    undrained = passed().audited()
    undrained.history.queue(ordered=False, drained=False)
    assert outcomes(undrained)[REDELIVERED] is INCONCLUSIVE
    killed = passed().audited()
    killed.history.rows["client_events"].pop()
    assert fails(outcomes(killed)) == set(), "the connection lives"
    killed.history.away(CONSUMER, 30_000)
    assert outcomes(killed)[REDELIVERED] is INCONCLUSIVE


def test_clients_that_keep_their_place_may_pass_a_message() -> None:
    found = outcomes(passed().audited(), {"progress_kept_by": "clients"})
    assert (found[REDELIVERED], fails(found)) == (NOT_APPLICABLE, set())


# --- the retry topic -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("unacknowledged", "at_ms", "declared", "outcome"),
    [
        ((100,), 20_000, {}, PASS),
        ((), 15_910, {}, PASS),
        ((), 17_010, {}, FAIL),
        ((), 17_010, SLOW, INCONCLUSIVE),
    ],
)
def test_the_retry_topic_brings_what_no_group_has_passed(
    unacknowledged: tuple[int, ...], at_ms: float, declared: dict[str, Any], outcome: object
) -> None:
    story = LogHistory(unacknowledged=unacknowledged).came(100, at_ms, **RETRIED)
    found = outcomes(story, declared)
    assert found[ACKNOWLEDGED] is outcome
    assert fails(found) <= {ACKNOWLEDGED}


@pytest.mark.parametrize(
    ("outcome", "expected"), [(Outcome.REFUSED, FAIL), (Outcome.UNKNOWN, INCONCLUSIVE)]
)
@pytest.mark.parametrize("fate", [Fate.ROLLBACK, Fate.ROLLBACK_WHEN_CHECKED])
def test_a_rollback_that_comes_by_the_retry_topic_was_seen(
    fate: Fate, outcome: Outcome, expected: object
) -> None:
    story = LogHistory(own=(100,))
    story.history.publish(100, at_ms=10_000).terms(100, fate=fate)
    story.history.settle(100, outcome, at_ms=13_000)
    assert outcomes(story.came(100, 25_000, **RETRIED))[UNSEEN] is expected


def test_what_only_the_retry_topic_brought_was_delivered() -> None:
    story = LogHistory(own=(100,))
    story.history.publish(100, at_ms=10_000).confirm(100, at_ms=10_003)
    found = outcomes(story.came(100, 12_000, queue="%RETRY%group", **RETRIED))
    assert (found[DELIVERED], fails(found)) == (PASS, set())


# --- halves --------------------------------------------------------------------------------------


def halved(*finds: Via, unreadable: tuple[str, ...] = (), drained: bool = True) -> History:
    """Every message is in a transaction and committed; of one the audit has these finds."""
    story = LogHistory(own=(100,))
    history = story.history.queue(
        ordered=False, quiet_ms=90_000, unreadable=unreadable, drained=drained
    )
    history.publish(100, at_ms=10_000).confirm(100, at_ms=10_003)
    for number in range(300):
        history.terms(number, fate=Fate.COMMIT)
    for via in finds:
        history.deliver(100, at_ms=95_000, via=via, consumer=AUDITOR, place="host/0", offset=9)
    return history


def test_a_half_is_torn_only_where_every_place_was_read() -> None:
    torn = outcomes(halved(Via.HALF))
    assert fails(torn) == {NOT_TORN, DELIVERED}
    for blind in (halved(Via.HALF, unreadable=("broker-b",)), halved(Via.HALF, drained=False)):
        found = outcomes(blind)
        assert (found[NOT_TORN], found[DELIVERED]) == (INCONCLUSIVE, INCONCLUSIVE)
        assert fails(found) == set()
    whole = outcomes(halved(Via.HALF, Via.AUDIT, unreadable=("broker-b",)))
    assert (whole[NOT_TORN], whole[DELIVERED]) == (PASS, FAIL)
    nowhere = outcomes(halved(unreadable=("broker-b",)))
    assert nowhere[NOT_TORN] is INCONCLUSIVE, "that place may hold the half"


# --- confirm levels ------------------------------------------------------------------------------


@pytest.mark.parametrize(("again", "outcome"), [(False, PASS), (True, FAIL)])
def test_the_strongest_confirm_of_a_lost_message_counts(again: bool, outcome: object) -> None:
    story = LogHistory(own=(100,), places=PLACES[:1])
    story.history.publish(100, at_ms=10_000)
    story.history.confirm(100, at_ms=10_003, strength=Strength.SLAVE_NOT_AVAILABLE)
    if again:
        story.history.publish(100, attempt=2, at_ms=11_500).confirm(100, attempt=2, at_ms=11_503)
    found = outcomes(story, ONE_MASTER)
    assert (found[DELIVERED], found["in-sync-is-not-lost"]) == (FAIL, outcome)


# --- order ---------------------------------------------------------------------------------------


def ordered(*own: int) -> LogHistory:
    return LogHistory(own=own, places=PLACES[:1], ordered=True)


def test_impossible_times_prove_no_reorder_and_possible_ones_do() -> None:
    settled, delivered = ordered(100), ordered(100)
    settled.history.publish(100, at_ms=10_150).confirm(100, at_ms=9_900)
    delivered.history.publish(100, at_ms=10_450).confirm(100, at_ms=10_453)
    for story in (settled.came(100, 10_160), delivered.came(100, 10_006)):
        found = outcomes(story, ONE_MASTER)
        assert (found[FIRST_IN], fails(found)) == (INCONCLUSIVE, set())
        assert PASS not in found.values()
    both = ordered(100, 200)
    both.history.publish(100, at_ms=10_450).confirm(100, at_ms=10_453)
    both.history.publish(200, at_ms=20_000).confirm(200, at_ms=20_003)
    both.came(100, 10_006).came(200, 20_150)
    assert fails(outcomes(both, ONE_MASTER)) == {FIRST_IN}


@pytest.mark.parametrize(("later_ms", "outcome"), [(0, PASS), (0.000001, FAIL)])
def test_a_retry_of_the_same_instant_proves_no_reorder(later_ms: float, outcome: object) -> None:
    story = ordered(100, 102)
    story.history.publish(100, at_ms=10_000).settle(100, Outcome.REFUSED, at_ms=10_002)
    story.history.publish(102, at_ms=10_200 + later_ms).confirm(102, at_ms=10_203)
    story.history.publish(100, attempt=2, at_ms=10_200).confirm(100, attempt=2, at_ms=10_203)
    story.came(102, 10_206).came(100, 10_207, attempt=2)
    assert outcomes(story, ONE_MASTER)[FIRST_IN] is outcome


# --- faults that overlap, and faults apart -------------------------------------------------------


ELECTION = "election-loses-nothing"


@pytest.mark.parametrize(
    ("second", "outcome"),
    [
        ((20_000, 22_000, "kill"), FAIL),
        ((9_980, 15_000, "kill"), NOT_APPLICABLE),  # two nodes at once
        ((9_980, 15_000, "client_freeze"), FAIL),  # no client takes it from a broker
        ((20_000, 22_000, "client_freeze"), FAIL),
    ],
)
def test_a_loss_is_attributed_to_its_fault_alone(
    second: tuple[float, float, str], outcome: object
) -> None:
    story = LogHistory(own=(99,), places=PLACES[:1])
    story.history.publish(99, at_ms=9_900).confirm(99, at_ms=9_903)
    for at_ms, end_ms, kind in ((9_950, 12_000, "kill"), second):
        story.history.window(
            at_ms, ended_ms=end_ms, undo_ms=end_ms - 10, gone_ms=end_ms, over_ms=end_ms, kind=kind
        )
    found = outcomes(story, {**ONE_MASTER, "faults": 2}, **MASTER)
    assert (found[DELIVERED], found[ELECTION]) == (FAIL, outcome)


# --- starvation ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("until_ms", "declared", "outcome"),
    [(21_050, {}, FAIL), (21_050, SLOW, INCONCLUSIVE), (19_850, {}, PASS), (19_850, SLOW, PASS)],
)
def test_one_place_starves_beside_another(
    until_ms: float, declared: dict[str, Any], outcome: object
) -> None:
    story = LogHistory(
        came_ms=lambda number, at_ms: (
            until_ms + number / 100 if number % 2 and 15_000 <= at_ms < until_ms else at_ms + 6
        )
    )
    found = outcomes(story, declared)
    assert (found[CONSUMED], found[DELIVERED]) == (outcome, PASS)


@pytest.mark.parametrize(("flag", "outcome"), [(Redelivered.NO, FAIL), (Redelivered.YES, PASS)])
def test_a_message_that_others_pass_is_withheld_unless_it_is_flagged(
    flag: Redelivered, outcome: object
) -> None:
    story = LogHistory(own=(150,))
    story.history.publish(150, at_ms=15_000).confirm(150, at_ms=15_003)
    assert outcomes(story.came(150, 22_000, redelivered=flag))[CONSUMED] is outcome


# --- copies --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("leaders_ms", "how", "expected"),
    [
        ((9_000, 18_000), {"place": PLACES[1]}, "diverged"),
        ((9_000, 16_000), {"place": PLACES[1]}, "stored_twice"),
        (None, {"place": PLACES[0]}, "stored_twice"),
        (None, {"place": None}, "ambiguous"),
    ],
)
def test_a_second_copy_lies_at_another_offset(
    leaders_ms: tuple[float, float] | None, how: dict[str, Any], expected: str
) -> None:
    story = LogHistory().came(100, 17_000, offset=900, **how)
    if leaders_ms is not None:
        story.history.competing_leaders(*leaders_ms)
    assert details(story, "duplicated") == {f"duplicated {expected}": 1}
    outcome = INCONCLUSIVE if expected == "ambiguous" else FAIL
    assert outcomes(story)["one-copy"] is outcome
