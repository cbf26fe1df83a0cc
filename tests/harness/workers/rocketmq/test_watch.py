"""Each drop and show of a name server is reported once, with its time bounds."""

from dataclasses import replace

from harness.workers.remoting.routes import NOWHERE, View
from harness.workers.remoting.watch import (
    ANSWERED,
    UNANSWERED,
    ProberEvent,
    RouteQuery,
    Watch,
)
from spark_analysis.schema.views import CLUSTER, ROUTE, Shown

MASTER, SLAVE = Shown("broker-a", 0, "a:1"), Shown("broker-a", 1, "b:1")
BOTH, ALONE = View((MASTER, SLAVE)), View((SLAVE,))
MS = 1_000_000


def look(started_ms: int, view: View | None, kind: str = ROUTE, took_ms: int = 10) -> RouteQuery:
    ended_ns = (started_ms + took_ms) * MS
    return RouteQuery(
        kind, started_ms * MS, ended_ns, view, "" if view else "no answer within 1 s"
    )


def shown(view: View) -> Watch:
    """It has answered once, at 0 ms."""
    watch = Watch("ns1")
    watch.see(look(0, view))
    return watch


def test_the_first_view_is_reported_as_a_change_from_nothing() -> None:
    assert Watch("ns1").see(look(0, ALONE)) == (
        ProberEvent("route changed", "ns1 shows broker-a slave 1 at b:1"),
    )


def test_dropped_master_is_reported_once_with_its_time_bounds() -> None:
    watch = shown(BOTH)
    assert watch.see(look(400, BOTH)) == ()
    assert watch.see(look(800, ALONE)) == (
        ProberEvent("route changed", "ns1 dropped broker-a master at a:1 (within 0.41 s)"),
    )
    assert watch.see(look(1200, ALONE)) == ()


def test_route_and_cluster_are_watched_apart() -> None:
    watch = shown(BOTH)
    assert watch.see(look(400, ALONE, CLUSTER)) == (
        ProberEvent("cluster changed", "ns1 shows broker-a slave 1 at b:1"),
    )
    assert watch.see(look(800, BOTH)) == ()


def test_silence_is_reported_once_and_changes_no_view() -> None:
    watch = shown(BOTH)
    assert watch.see(look(400, None, took_ms=1000)) == (
        ProberEvent(UNANSWERED, "ns1 route: no answer within 1 s"),
    )
    assert watch.see(look(800, None, took_ms=1000)) == ()
    assert watch.see(look(2000, BOTH)) == (ProberEvent(ANSWERED, "ns1 route: after 1.61 s"),)


def test_answer_missed_in_a_prober_stall_is_no_silence() -> None:
    watch = shown(BOTH)
    stalled = replace(look(400, None, took_ms=1000), stalled=True)
    assert watch.see(stalled) == ()
    assert watch.see(look(1400, None, took_ms=1000)) == (
        ProberEvent(UNANSWERED, "ns1 route: no answer within 1 s"),
    )


def test_one_kind_of_query_may_be_silent_alone() -> None:
    watch = shown(BOTH)
    assert watch.see(look(400, None, CLUSTER)) == (
        ProberEvent(UNANSWERED, "ns1 cluster: no answer within 1 s"),
    )
    assert watch.see(look(800, BOTH)) == ()
    assert watch.see(look(800, None, CLUSTER)) == ()


def test_a_change_during_silence_dates_from_the_last_answer() -> None:
    watch = shown(BOTH)
    watch.see(look(400, None, took_ms=1000))
    assert watch.see(look(2000, ALONE)) == (
        ProberEvent(ANSWERED, "ns1 route: after 1.61 s"),
        ProberEvent("route changed", "ns1 dropped broker-a master at a:1 (within 2.01 s)"),
    )


def test_query_begun_before_the_last_answered_one_adds_nothing() -> None:
    watch = shown(BOTH)
    watch.see(look(800, ALONE))
    assert watch.see(look(400, BOTH, took_ms=600)) == ()
    assert watch.see(look(400, None, took_ms=1000)) == ()
    assert watch.see(look(1200, ALONE)) == ()


def test_a_removed_topic_is_dropped_and_no_silence() -> None:
    watch = shown(ALONE)
    assert watch.see(look(400, NOWHERE)) == (
        ProberEvent("route changed", "ns1 dropped broker-a slave 1 at b:1 (within 0.41 s)"),
    )
