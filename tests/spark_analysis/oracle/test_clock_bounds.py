"""No verdict is finer than the clocks: both sides of every edge that a bound moves."""

from typing import Any

import pytest

from spark_analysis.schema.words import Redelivered
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER, History, counts
from tests.rigs.histories.steady_loads import loaded, steady

YES, NO = Redelivered.YES, Redelivered.NO
OTHER = 71  # a consumer
BOUND_MS = 100


def duplicates(history: History) -> dict[str, int]:
    return dict(counts(judge(*history.build()), "duplicated", "acknowledged_late"))


# --- acknowledgements in time --------------------------------------------------------------------


def redelivered(acked_ms: float) -> History:
    """Given to a consumer with a clock of its own, acknowledged, and given to another at 20 s."""
    history = History().worker(OTHER, "consumer").clock(CONSUMER, BOUND_MS)
    history.publish(1, at_ms=9_000).confirm(1).deliver(1, at_ms=10_000, tag=1)
    history.acknowledge(1, at_ms=acked_ms)
    return history.deliver(1, at_ms=20_000, redelivered=YES, consumer=OTHER)


@pytest.mark.parametrize(
    ("acked_ms", "found"),
    [
        (18_900, {"duplicated redelivery_after_ack": 1}),
        (18_901, {"duplicated ambiguous": 1}),  # by now it may have been a second before
        (19_100, {"duplicated ambiguous": 1}),
        (19_101, {"duplicated ambiguous": 1, "acknowledged_late": 1}),
    ],
)
def test_an_acknowledgement_is_timely_within_a_second_and_the_bound(
    acked_ms: float, found: dict[str, int]
) -> None:
    assert duplicates(redelivered(acked_ms)) == found


@pytest.mark.parametrize(
    ("acked_ms", "found"), [(20_100, "redelivery"), (20_099, "ambiguous"), (19_901, "ambiguous")]
)
def test_a_possibly_acknowledged_delivery_is_not_certainly_a_plain_redelivery(
    acked_ms: float, found: str
) -> None:
    assert duplicates(redelivered(acked_ms))[f"duplicated {found}"] == 1


@pytest.mark.parametrize(
    ("at_ms", "found"), [(12_100, "redelivery_after_ack"), (12_099, "ambiguous")]
)
def test_a_fault_within_the_bound_may_have_swallowed_an_acknowledgement(
    at_ms: float, found: str
) -> None:
    history = redelivered(11_000).window(at_ms, ended_ms=13_000, over_ms=14_000)
    assert duplicates(history) == {f"duplicated {found}": 1}


@pytest.mark.parametrize(("over_ms", "found"), [(9_899, "stored_twice"), (9_900, "ambiguous")])
def test_a_window_within_the_bound_lies_between_two_deliveries(over_ms: float, found: str) -> None:
    history = History().worker(OTHER, "consumer").clock(CONSUMER, BOUND_MS)
    history.window(5_000, ended_ms=6_000, over_ms=over_ms)
    history.client_event("consuming", at_ms=1)
    history.publish(1, at_ms=9_000).confirm(1).deliver(1, at_ms=10_000)
    history.deliver(1, at_ms=20_000, consumer=OTHER)
    assert duplicates(history) == {f"duplicated {found}": 1}


@pytest.mark.parametrize(
    ("lost_ms", "found"),
    [
        (19_899, "redelivery"),
        (19_900, "ambiguous"),
        (20_099, "ambiguous"),
        (20_100, "stored_twice"),
    ],
)
def test_a_connection_ended_before_only_if_the_clocks_show_it(lost_ms: float, found: str) -> None:
    history = History().worker(OTHER, "consumer").clock(CONSUMER, BOUND_MS)
    history.client_event("lost", at_ms=lost_ms)
    history.publish(1, at_ms=9_000).confirm(1).deliver(1, at_ms=10_000)
    history.deliver(1, at_ms=20_000, consumer=OTHER)
    assert duplicates(history) == {f"duplicated {found}": 1}


@pytest.mark.parametrize(("second_ms", "found"), [(10_100, "stored_twice"), (10_099, "ambiguous")])
def test_a_redelivered_flag_proves_nothing_if_clocks_leave_order_open(
    second_ms: float, found: str
) -> None:
    history = History().worker(OTHER, "consumer").clock(CONSUMER, BOUND_MS)
    history.client_event("consuming", at_ms=1)
    history.publish(1, at_ms=9_000).confirm(1).deliver(1, at_ms=10_000, redelivered=YES)
    history.deliver(1, at_ms=second_ms, redelivered=NO, consumer=OTHER)
    assert duplicates(history) == {f"duplicated {found}": 1}


@pytest.mark.parametrize(
    ("received_ms", "found"), [(20_100, "diverged"), (20_099, "stored_twice")]
)
def test_leaders_compete_only_if_the_clocks_show_it(received_ms: float, found: str) -> None:
    history = History().clock(CONSUMER, BOUND_MS).competing_leaders(20_000, 30_000)
    history.publish(1, at_ms=9_000).confirm(1).deliver(1, at_ms=10_000)
    assert duplicates(history.deliver(1, at_ms=received_ms)) == {f"duplicated {found}": 1}


@pytest.mark.parametrize(
    ("again_ms", "found"), [(17_200, "redelivery"), (17_201, "offset_rollback")]
)
def test_progress_is_known_six_seconds_and_two_bounds_later(again_ms: float, found: str) -> None:
    history = History().clock(CONSUMER, BOUND_MS)
    place: dict[str, Any] = {"place": "broker-a/0", "offset": 5}
    history.publish(1, at_ms=9_000).confirm(1).deliver(1, at_ms=11_000, tag=1, **place)
    history.acknowledge(1, at_ms=11_000)
    history.deliver(1, at_ms=again_ms, **place)
    assert duplicates(history) == {f"duplicated {found}": 1}


# --- consumption ---------------------------------------------------------------------------------


def consumption(history: History) -> dict[str, tuple[int, bool, float]]:
    found = judge(*history.build()).consumption
    return {row.scope: (row.due, row.resumed, row.at_ns / 1e6) for row in found}


def consumed(
    received_ms: float, *, sent_ms: float = 11_000, confirmed_ms: float = 11_001
) -> History:
    """A fault from 10 s to 20 s; both clients have clocks of their own."""
    history = History().window(10_000, returned_ms=10_300, ended_ms=20_000)
    history.clock(PUBLISHER, BOUND_MS).clock(CONSUMER, BOUND_MS)
    history.publish(1, at_ms=5_000).confirm(1).deliver(1)
    history.publish(2, at_ms=sent_ms).confirm(2, at_ms=confirmed_ms)
    return history.deliver(2, at_ms=received_ms)


@pytest.mark.parametrize(
    ("received_ms", "resumed", "at_ms"),
    [
        (19_900, True, 19_800),
        (19_901, False, 19_801),  # it may have come in time: unknown
        (20_099, False, 19_999),
        (20_101, False, 20_000),  # it did not come in time
    ],
)
def test_consumption_resumed_in_time_only_if_the_clocks_show_it(
    received_ms: float, resumed: bool, at_ms: float
) -> None:
    found = consumption(consumed(received_ms))
    assert found == {"queue": (1, resumed, at_ms), "consumer": (1, resumed, at_ms)}


@pytest.mark.parametrize(
    ("sent_ms", "confirmed_ms", "due"),
    [(10_400, 11_000, 1), (10_399, 11_000, 0), (11_000, 18_900, 1), (11_000, 18_901, 0)],
)
def test_a_message_is_due_only_if_clocks_prove_it(
    sent_ms: float, confirmed_ms: float, due: int
) -> None:
    found = consumption(consumed(19_000, sent_ms=sent_ms, confirmed_ms=confirmed_ms))
    assert found.get("queue", (0,))[0] == due


# --- service -------------------------------------------------------------------------------------


def verdicts(bound_ms: float, *outages: tuple[float, float]) -> dict[str, str]:
    """Of the run, by promise; a fault from 8 s to 20.1 s, and the promise `soon` from 12 s on."""
    history = loaded().window(8_000, ended_ms=20_100, undo_ms=20_000, gone_ms=20_100)
    history.promise("soon", 4_000).clock(PUBLISHER, bound_ms)
    found = judge(*steady(history, *outages).build()).service
    return {row.promise: row.verdict for row in found if row.scope == "run"}


@pytest.mark.parametrize(
    ("bound_ms", "until_ms", "soon"),
    [
        (0, 12_000, "served"),
        (100, 11_900, "served"),
        (100, 12_000, "open"),
        (0, 12_060, "out"),
        (100, 12_140, "open"),
        (100, 12_160, "out"),
    ],
)
def test_promises_are_kept_or_broken_only_if_clocks_prove_it(
    bound_ms: float, until_ms: float, soon: str
) -> None:
    assert verdicts(bound_ms, (8_000, until_ms))["soon"] == soon


def test_a_clock_bound_that_crosses_no_edge_changes_no_verdict() -> None:
    exact, wide = verdicts(0, (8_000, 10_000)), verdicts(100, (8_000, 10_000))
    assert exact == wide == {"fault": "served", "soon": "served", "healed": "served"}
