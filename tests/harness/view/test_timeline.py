"""The timeline of a run: what was asked for, what was done, what was seen; and its bounds."""

from dataclasses import replace

from harness.run_folder.operations import OperationRecord
from harness.run_folder.rows import ClientEvent, FaultEvent, Operation, Probe
from harness.view.message_traces import Records
from harness.view.timeline import (
    EVENTS_MAX,
    OperationSpan,
    Timeline,
    timeline,
)
from spark_analysis.schema.service import HEALED
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER, History, ns
from tests.rigs.runs.judged_runs import crash, manifest_of

NOTHING = Records()


def timeline_of(history: History, events: Records = NOTHING) -> Timeline:
    facts, rows = history.build()
    return timeline(manifest_of(facts), facts, judge(facts, rows), events)


def fault_event(event: str, at_ms: float, **changes: object) -> FaultEvent:
    row = FaultEvent(1, event, ns(at_ms), "kill", "master of q", "rmq1", "master", "signal", 1, "")
    return replace(row, **changes)  # type: ignore[arg-type]


def test_absent_consumers_leave_what_publishers_saw_judged() -> None:
    (fault,) = timeline_of(crash().away(CONSUMER, 13_000, 14_000)).faults
    assert fault.stages_doubt == ""
    assert fault.doubt_of("first_success") == fault.doubt_of("sustained_success") == ""
    for stage in ("consumers_resumed", "backlog_drained"):
        assert fault.doubt_of(stage) == (
            "fault 1: a fault kept all consumers away for a time, so first delivery and backlog "
            "gone for good are not judged"
        )


def test_absent_publishers_leave_no_step_judged() -> None:
    (fault,) = timeline_of(crash().away(PUBLISHER, 13_000, 14_000)).faults
    assert fault.doubt_of("first_success") == fault.doubt_of("backlog_drained")
    assert fault.stages_doubt.startswith("a fault kept all publishers away")


def test_a_fault_says_until_when_clients_have_time_to_reconnect() -> None:
    (fault,) = timeline_of(crash()).faults
    found = [one for one in judge(*crash().build()).service if one.promise == HEALED]
    assert {fault.healed_from_ns} == {one.from_ns for one in found}
    (endless,) = timeline_of(History().window(12_000, never_ended=True)).faults
    assert endless.healed_from_ns is None


def test_slice_sums_its_seconds_and_latencies() -> None:
    story = History(load_ms=(0, 200_000)).flow(range(199), from_ms=0, every_ms=1_000)
    story.publish(500, at_ms=199_000)
    drawn = timeline_of(story)
    assert [one.from_s for one in drawn.slices] == [*range(0, 200, 2)]
    assert [one.operations for one in drawn.slices] == [2] * 100
    assert {one.p50_ms for one in drawn.slices} == {one.p99_ms for one in drawn.slices} == {1.0}


def test_seconds_in_which_nothing_counts_are_slices_of_nothing() -> None:
    story = History().flow([1], from_ms=0, every_ms=1).flow([2], from_ms=3_000, every_ms=1)
    assert [one.confirmed for one in timeline_of(story).slices] == [1, 0, 0, 1]


KILL_NOT_GONE = (
    fault_event("issued", 12_000),
    fault_event("verified", 12_040, detail="exit 137"),
    fault_event("gone", 34_000, ok=0, detail="it does not answer"),
)


def test_a_fault_is_reported_as_requested_performed_and_verified() -> None:
    events = replace(
        NOTHING,
        faults=KILL_NOT_GONE,
    )
    (fault,) = timeline_of(crash(), events).faults
    assert (fault.requested_from_ns, fault.requested_until_ns) == (ns(12_000), ns(27_000))
    assert (fault.issued_ns, fault.ended_ns) == (ns(12_000), ns(27_000))
    assert (fault.target, fault.resolved, fault.role) == ("master of q", "rmq1", "master")
    assert fault.held is not None and (fault.held.ok, fault.held.detail) == (True, "exit 137")
    assert fault.gone is not None and not fault.gone.ok
    assert [stage.stage for stage in fault.stages] == [
        "backlog_drained",
        "consumers_resumed",
        "first_success",
        "sustained_success",
    ]


def test_unrecorded_fault_shows_only_its_facts() -> None:
    facts, rows = crash().build()
    manifest = manifest_of(facts, schedule={})
    drawn = timeline(manifest, facts, judge(facts, rows), NOTHING)
    (fault,) = drawn.faults
    assert (fault.requested_from_ns, fault.held, fault.resolved) == (None, None, "")


def test_a_stall_that_touches_two_windows_happened_once() -> None:
    story = crash().stall(CONSUMER, at_ms=12_050, late_ms=200)
    (stall,) = (one for one in timeline_of(story).happenings if one.sort == "stall")
    assert (stall.who, stall.text) == (
        "consumer 1",
        "stalled 200 ms: the instrument, not the broker",
    )


def test_client_probe_and_operator_events_are_in_time_order() -> None:
    events = Records(
        faults=(),
        probes=[Probe(0, "verified", "rmq1", 5, 30, 1, "exit 137")],
        operations=[Operation(1, 20, 21, "restart", "rmq2", "rmq2", 1, "")],
        clients=[
            ClientEvent(1, 10, "lost", 1, "orders", "reset by peer"),
            ClientEvent(1, 11, "connecting", 2, "orders", "rmq2"),
        ],
    )
    drawn = timeline_of(History(), events)
    assert [(one.sort, one.who, one.text) for one in drawn.happenings] == [
        ("client", "publisher 1", "connection lost: reset by peer"),
        ("operation", "rmq2", "restart rmq2"),
        ("probe", "rmq1", "verified active; exit 137"),
    ]


def test_clients_of_name_servers_connect_to_these_and_not_to_brokers() -> None:
    clients = [
        ClientEvent(1, 10, "connected", 1, "orders", "rkg1 rocketmq-java 5.3.3"),
        ClientEvent(1, 11, "attached", 1, "orders", "rkg2"),
        ClientEvent(1, 12, "attached", 1, "orders", ""),
    ]
    drawn = timeline_of(History(), Records(clients=clients, by_name_servers=True))
    assert [one.text for one in drawn.happenings] == [
        "connected to name server rkg1 rocketmq-java 5.3.3",
        "uses name server rkg2",
        "it is not known which name server it uses",
    ]
    (plain, *_) = timeline_of(History(), Records(clients=clients)).happenings
    assert plain.text == "connected rkg1 rocketmq-java 5.3.3"


def test_a_probe_says_which_fault_it_verified() -> None:
    events = replace(
        NOTHING,
        faults=KILL_NOT_GONE,
        probes=[
            Probe(0, "verified", "rmq1", ns(12_030), ns(12_040), 1, "exit 137"),
            Probe(0, "gone", "rmq1", ns(33_000), ns(34_000), 0, "it does not answer"),
        ],
    )
    found = [one for one in timeline_of(crash(), events).happenings if one.sort == "probe"]
    assert [(one.who, one.text) for one in found] == [
        ("fault 1 (kill rmq1)", "verified active; exit 137"),
        ("fault 1 (kill rmq1)", "not verified ended; it does not answer"),
    ]


def test_the_drain_has_room_where_nothing_was_left() -> None:
    facts, rows = crash().build()
    until_s = timeline_of(crash()).until_s
    manifest = manifest_of(facts, phases_ns={"drain": ns(1_000 * until_s + 300)})
    assert timeline(manifest, facts, judge(facts, rows), NOTHING).until_s == until_s + 1


def test_flood_of_events_shows_the_first_and_counts_the_rest() -> None:
    storm = [ClientEvent(1, at, "lost", at, "orders", "") for at in range(EVENTS_MAX + 7)]
    drawn = timeline_of(History(), replace(NOTHING, clients=storm))
    assert (len(drawn.happenings), drawn.happenings_left_out) == (EVENTS_MAX, 7)


def test_affected_messages_are_marked_in_their_slices() -> None:
    drawn = timeline_of(crash(lost=[200, 201, 230]))
    assert [(m.measure, m.from_s, m.messages) for m in drawn.marks] == [
        ("lost", 10, 2),
        ("lost", 11, 1),
    ]


def planned(**fault: object) -> tuple[str, ...]:
    """The options of a window in the timeline, where the plan has these about its fault."""
    facts, rows = crash().build()
    window = {"number": 1, "opens_s": 12.0, "lasts_s": 15.0}
    window["fault"] = {"kind": "kill", "target": "master of q", **fault}
    manifest = manifest_of(facts, schedule={"windows": [window]})
    findings = judge(facts, rows)
    (span,) = timeline(manifest, facts, findings, NOTHING).faults
    return (*span.options, *([] if span.returns else ["never"]))


def test_options_of_a_fault_are_shown_unless_default() -> None:
    assert planned() == planned(clients="all") == ()
    assert planned(clients="publishers") == ("clients: publishers",)
    options = {"clients": "all", "direction": "both", "latency_s": 0.25, "bytes": 0, "rate_kb": 64}
    assert planned(options=options) == ("latency s: 0.25", "rate kb: 64")
    assert planned(returns=False) == ("never",)


def test_check_is_as_long_as_the_probe_that_ended_it() -> None:
    events = replace(
        NOTHING,
        faults=[fault_event("verified", 12_040), fault_event("undo_issued", 26_900)],
        probes=[
            Probe(0, "verified", "rmq1", ns(9_000), ns(9_500), 1, "of another window"),
            Probe(0, "verified", "rmq1", ns(12_020), ns(12_040), 1, ""),
            Probe(0, "gone", "rmq1", ns(1), ns(12_040), 1, ""),
        ],
    )
    (fault,) = timeline_of(crash(), events).faults
    assert fault.held is not None and fault.held.began_ns == ns(12_020)
    assert fault.undo_issued_ns == ns(26_900)
    (unknown,) = timeline_of(crash(), replace(events, probes=())).faults
    assert unknown.held is not None and unknown.held.began_ns is None


def test_window_opened_if_any_action_ran_whatever_tables_remain() -> None:
    (fault,) = timeline_of(crash()).faults
    assert fault.opened and not fault.resolved
    (never,) = timeline_of(History().window(12_000, verified=False, gone=False)).faults
    assert not never.opened


RESTART = OperationRecord(
    1, "restart_node", "master of q", "rmq1", ns(14_000), ns(19_000), True, "rmq1 in 5.0 s"
)
LATER = OperationRecord(2, "delete_policy", "")


def test_an_operation_is_reported_as_requested_and_performed_or_unstarted() -> None:
    facts, rows = crash().build()
    schedule = {"steps": [{"number": 1, "at_s": 13.5}, {"number": 2, "at_s": 20.0}]}
    manifest = manifest_of(facts, operations=[RESTART, LATER], schedule=schedule)
    found = timeline(manifest, facts, judge(facts, rows), NOTHING).operations
    started_ns = facts.load_started_ns
    assert found == (
        OperationSpan(
            1,
            "restart_node",
            "master of q",
            "rmq1",
            started_ns + ns(13_500),
            ns(14_000),
            ns(19_000),
            True,
            "rmq1 in 5.0 s",
        ),
        OperationSpan(
            2, "delete_policy", "", "", started_ns + ns(20_000), None, None, False, "never began"
        ),
    )
