"""What name servers showed: a change lies between two looks, and silence shows nothing."""

import pytest

from spark_analysis.schema.views import NOTHING_BEFORE, STOOD_STILL, Change
from tests.oracle.judge import judge
from tests.oracle.views import views
from tests.rigs.histories.by_hand import History, ns
from tests.rigs.histories.watching import ALL, MASTER, OTHER, PROBER, SLAVE, look, looks

FAULT_MS, RETURNED_MS = 10_000, 10_200


def faulted() -> History:
    return History().window(FAULT_MS, returned_ms=RETURNED_MS)


def moves(history: History, name_server: str = "ns1") -> list[tuple[str, bool, int, int]]:
    """After the first view: what came or went, and its bounds in ns."""
    rows = views(*history.build()).changes
    return [
        (row.what, row.shown, row.after_ns, row.by_ns)
        for row in sorted(rows, key=lambda row: (row.by_ns, row.what))
        if row.name_server == name_server and row.after_ns != NOTHING_BEFORE
    ]


def stages(history: History) -> dict[str, tuple[bool, int, int]]:
    """Reached, after and uncertain by."""
    return {
        row.stage: (row.reached, row.after_ns, row.uncertainty_ns)
        for row in judge(*history.build()).stages
        if row.stage.startswith("route_changed")
    }


def test_a_broker_vanishes_between_its_last_and_first_missing_sample() -> None:
    history = looks(History(), "ns1", range(0, 1_000, 400), *ALL)
    looks(history, "ns1", range(1_200, 2_000, 400), SLAVE, OTHER)
    assert moves(history) == [(MASTER, False, ns(800), ns(1_205))]


def test_a_master_at_another_address_is_a_removal_and_addition() -> None:
    moved = "broker-a master at rkt3:10931"
    history = look(look(History(), "ns1", 0, MASTER), "ns1", 400, moved)
    assert moves(history) == [
        (MASTER, False, 0, ns(405)),
        (moved, True, 0, ns(405)),
    ]


def test_the_first_view_came_after_nothing_that_is_known() -> None:
    changes = views(*look(History(), "ns1", 0, MASTER).build()).changes
    assert changes == (Change("run", PROBER, "route", "ns1", MASTER, True, NOTHING_BEFORE, ns(5)),)


def test_an_order_of_telling_is_no_change() -> None:
    history = look(look(History(), "ns1", 0, MASTER, SLAVE), "ns1", 400, SLAVE, MASTER)
    assert moves(history) == []


def test_a_late_answer_to_an_older_query_is_ignored() -> None:
    history = look(History(), "ns1", 0, *ALL)
    look(history, "ns1", 400, *ALL, took_ms=900)
    look(history, "ns1", 800, SLAVE)
    assert moves(history) == [(MASTER, False, 0, ns(805)), (OTHER, False, 0, ns(805))]


def test_the_later_begun_of_overlapping_queries_counts() -> None:
    history = look(History(), "ns1", 0, *ALL, took_ms=500)
    look(history, "ns1", 400, SLAVE, OTHER, took_ms=300)
    assert moves(history) == [(MASTER, False, 0, ns(700))]


def test_the_later_answer_of_simultaneous_queries_counts() -> None:
    history = look(History(), "ns1", 400, *ALL)
    look(history, "ns1", 400, SLAVE, OTHER, took_ms=9)
    assert moves(history) == [(MASTER, False, ns(400), ns(409))]


def test_silence_lasts_from_its_first_query_to_the_next_answer() -> None:
    """Silence changes nothing of what was shown before."""
    history = look(History(), "ns1", 0, *ALL)
    for at_ms in (400, 800, 1_200):
        look(history, "ns1", at_ms, took_ms=1_000, why="no answer within 1 s")
    look(history, "ns1", 2_600, SLAVE, OTHER)
    (silence,) = views(*history.build()).silences
    assert (silence.from_ns, silence.until_ns, silence.ended) == (ns(400), ns(2_605), True)
    assert (silence.looks, silence.why) == (3, "no answer within 1 s")
    # What it would have shown meanwhile is unknown: it may have dropped the broker at any time.
    assert moves(history) == [(MASTER, False, 0, ns(2_605))]


def test_an_unanswering_name_server_is_silent_until_its_last_sample() -> None:
    history = look(look(History(), "ns1", 0, *ALL), "ns1", 400, why="closed by the server")
    look(history, "ns1", 800, why="no answer within 1 s", took_ms=1_000)
    (silence,) = views(*history.build()).silences
    assert (silence.from_ns, silence.until_ns, silence.ended) == (ns(400), ns(1_800), False)


@pytest.mark.parametrize("still", [STOOD_STILL, ""])
def test_a_stall_of_the_prober_is_no_silence(still: str) -> None:
    history = look(History(), "ns1", 0, *ALL)
    look(history, "ns1", 400, why=f"no answer within 1 s{still}")
    silences = views(*look(history, "ns1", 800, *ALL).build()).silences
    assert len(silences) == (0 if still else 1)


def test_query_counts_include_every_look() -> None:
    history = looks(History(), "ns1", range(0, 1_000, 400), *ALL)
    look(history, "ns1", 1_900, why=f"no connection{STOOD_STILL}")
    (query,) = views(*history.build()).queries
    assert (query.looks, query.answered, query.gap_ns) == (4, 3, ns(1_100))
    assert (query.first_ns, query.last_ns) == (0, ns(1_900))


def test_name_servers_probers_and_kinds_of_questions_are_kept_apart() -> None:
    history = look(History(), "ns1", 0, MASTER)
    look(history, "ns2", 100, SLAVE)
    look(history, "ns1", 200, OTHER, kind="cluster")
    look(history, "ns1", 300, SLAVE, prober=PROBER + 1)
    look(history, "ns1", 400, "committed 3 of 5", kind="consumer offset")
    shown = views(*history.build())
    assert len(shown.queries) == len(shown.changes) == 4
    assert {row.after_ns for row in shown.changes} == {NOTHING_BEFORE}


def test_a_route_changes_first_and_then_on_every_name_server() -> None:
    history = faulted()
    for name_server, dropped_ms in (("ns1", 22_000), ("ns2", 31_000)):
        looks(history, name_server, range(8_000, dropped_ms, 400), *ALL)
        looks(history, name_server, range(dropped_ms, 40_000, 400), SLAVE, OTHER)
    first_old, last_old = 21_600 - RETURNED_MS, 30_800 - RETURNED_MS
    assert stages(history) == {
        "route_changed": (True, ns(12_005), ns(12_005 - first_old)),
        "route_changed_everywhere": (True, ns(21_005), ns(21_005 - last_old)),
    }


def test_one_stale_name_server_prevents_the_route_change_everywhere() -> None:
    history = looks(faulted(), "ns1", range(8_000, 70_000, 400), *ALL)
    look(look(history, "ns2", 9_000, *ALL), "ns2", 12_000, SLAVE)
    assert stages(history)["route_changed"] == (True, ns(2_005), ns(2_005))
    assert stages(history)["route_changed_everywhere"] == (False, ns(50_000), ns(200))


def test_a_silent_name_server_shows_nothing_until_it_answers_again() -> None:
    history = look(look(faulted(), "ns1", 9_900, *ALL), "ns1", RETURNED_MS, *ALL)
    for at_ms in range(10_300, 30_000, 400):
        look(history, "ns1", at_ms, why="no answer within 1 s", took_ms=1_000)
    look(history, "ns1", 31_000, SLAVE)
    last_silent = 29_900 - RETURNED_MS
    assert stages(history)["route_changed"] == (True, ns(21_005), ns(21_005 - last_silent))


def stopped_name_server(history: History, back_ms: int) -> History:
    """The fault stops ns1, which later comes back with an empty table."""
    looks(history, "ns1", range(8_000, FAULT_MS + 150, 400), *ALL)
    for at_ms in range(FAULT_MS + 200, back_ms, 400):
        look(history, "ns1", at_ms, why="closed by the server")
    return looks(history, "ns1", range(back_ms, back_ms + 2_000, 400))


def test_the_restart_of_a_name_server_changes_no_route() -> None:
    """That ns1 is empty after its restart does not say when it noticed the dead master: it never
    did. ns2 stayed reachable, and shows when the route changed everywhere it was shown."""
    history = stopped_name_server(faulted(), 33_000)
    looks(history, "ns2", range(8_000, 11_000, 400), *ALL)
    looks(history, "ns2", range(11_200, 40_000, 400), SLAVE, OTHER)
    change = (True, ns(1_205), ns(1_205 - (10_800 - RETURNED_MS)))
    assert stages(history) == {"route_changed": change, "route_changed_everywhere": change}


def test_a_stopped_single_name_server_shows_no_route_change() -> None:
    assert stages(stopped_name_server(faulted(), 33_000)) == {}
    assert stages(stopped_name_server(faulted(), 90_000)) == {}  # never, in the window


def test_a_name_server_whose_view_changed_before_its_silence_counts() -> None:
    history = look(look(faulted(), "ns1", 9_000, *ALL), "ns1", 10_300, SLAVE)
    look(history, "ns1", 10_700, why="closed by the server")
    assert stages(history)["route_changed_everywhere"][:2] == (True, ns(305))


def test_a_silence_that_ended_with_the_old_view_counts() -> None:
    history = look(look(faulted(), "ns1", 9_000, *ALL), "ns1", 10_300, why="no connection")
    look(look(history, "ns1", 11_000, *ALL), "ns1", 12_000, SLAVE)
    assert stages(history)["route_changed"][:2] == (True, ns(2_005))


def test_a_stalled_prober_leaves_no_name_server_out() -> None:
    history = look(faulted(), "ns1", 9_000, *ALL)
    look(history, "ns1", 10_300, why=f"no answer within 1 s{STOOD_STILL}")
    assert stages(look(history, "ns1", 12_000, SLAVE))["route_changed"][:2] == (True, ns(2_005))


def test_a_route_change_compares_with_the_last_view_before() -> None:
    history = look(look(faulted(), "ns1", 8_000, SLAVE), "ns1", 9_000, *ALL)
    look(look(history, "ns1", 10_400, *ALL), "ns1", 12_000, SLAVE)
    assert stages(history)["route_changed"][:2] == (True, ns(2_005))


def test_an_addition_changes_a_route_as_a_removal_does() -> None:
    history = look(look(faulted(), "ns1", 9_000, SLAVE), "ns1", 12_000, SLAVE, MASTER)
    assert stages(history)["route_changed"][:2] == (True, ns(2_005))


def test_a_look_that_the_fault_fell_into_may_show_either() -> None:
    history = look(faulted(), "ns1", 9_600, *ALL)
    look(history, "ns1", 9_990, SLAVE, took_ms=50)
    assert stages(history)["route_changed"] == (True, ns(40), ns(40))


def test_a_sample_ending_at_the_faults_first_instant_precedes_it() -> None:
    history = look(faulted(), "ns1", 9_995, *ALL)  # for 5 ms
    look(history, "ns1", 12_000, SLAVE)
    assert stages(history)["route_changed"] == (True, ns(2_005), ns(2_005))


def test_a_sample_ending_at_the_windows_last_instant_counts() -> None:
    history = look(faulted(), "ns1", 9_000, *ALL)
    look(history, "ns1", 59_995, SLAVE)
    assert stages(history)["route_changed"][:2] == (True, ns(50_000))


def test_a_route_unknown_before_the_fault_proves_nothing() -> None:
    assert stages(look(faulted(), "ns1", 9_999, *ALL)) == {}
    assert stages(look(faulted(), "ns1", 9_000, *ALL, kind="cluster")) == {}
    assert stages(look(faulted(), "ns1", 9_000, why="closed by the server")) == {}


def test_route_changes_belong_to_the_window_they_occur_in() -> None:
    history = faulted().window(20_000)
    look(look(history, "ns1", 9_000, *ALL), "ns1", 25_000, SLAVE)
    found = [
        (row.window, row.reached, row.after_ns)
        for row in judge(*history.build()).stages
        if row.stage == "route_changed"
    ]
    assert sorted(found) == [(1, False, ns(10_000)), (2, True, ns(5_005))]
