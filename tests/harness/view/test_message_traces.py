"""Stories of affected messages: complete, in order, and honest about what was not recorded."""

from pathlib import Path

from harness.run_folder.replica_looks import look_text
from harness.view.detail import Detail, records_of
from harness.view.detail import detail_of as shown
from harness.view.message_traces import near, trace
from harness.view.trace_steps import MessageTrace
from spark_analysis.schema.messages import Affected
from spark_analysis.schema.views import Views
from spark_analysis.schema.ways import LOAD, DeliveryWay
from spark_analysis.schema.words import Fate, Outcome, Redelivered
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER, History
from tests.rigs.histories.ways import Via
from tests.rigs.runs.judged_runs import FAULT_MS, crash, manifest_of
from tests.rigs.runs.run_folders import write_run

BY_NAMES = {"publishers": "name-server"}


def detail_of(tmp_path: Path, history: History, endpoints: dict[str, str] | None = None) -> Detail:
    facts, rows = history.build()
    folder = write_run(tmp_path / "run", facts, rows)
    findings = judge(facts, rows)
    manifest = manifest_of(facts, endpoints=endpoints or {})
    manifest.client = "pika" if endpoints is None else "rocketmq-java-5.3.3"
    return shown(records_of(folder, findings, "pika"), manifest, facts, findings, Views(), ())


def story_of(
    tmp_path: Path, history: History, measure: str, endpoints: dict[str, str] | None = None
) -> MessageTrace:
    found = {group.measure: group for group in detail_of(tmp_path, history, endpoints).affected}
    return found[measure].traces[0]


def texts(story: MessageTrace) -> list[str]:
    return [step.text for step in story.steps]


def test_a_lost_message_was_sent_confirmed_and_never_came(tmp_path: Path) -> None:
    story = story_of(tmp_path, crash(lost=[230]), "lost")
    assert story.message == "message 230 of publisher 1 in orders"
    assert story.near.startswith("first sent at +")
    assert story.near.endswith(" s, 0.500 s before fault 1 (kill)")
    assert texts(story) == [
        "attempt 1 sent by publisher 1 to rmq1 (master of orders when fault 1 began)",
        "attempt 1: confirmed (by all required replicas): the client reported “confirmed”",
        "fault 1, kill rmq1 (master of orders, 2 mirrors, 2 synchronised), is being injected",
        "fault 1, kill rmq1, is undone",
        "never delivered; it was not in its queue, which was emptied (drained), nor in any other "
        "place that was then read (the audit)",
    ]
    assert [step.at_ns for step in story.steps] == sorted(step.at_ns for step in story.steps)


def test_a_lost_message_shows_the_replicas_that_brokers_reported(tmp_path: Path) -> None:
    facts, rows = crash(lost=[230]).build()
    looks = [
        (9_000, "rmq1", ["rmq2", "rmq3"]),  # of those before it was sent, only the last is shown
        (10_000, "rmq1", ["rmq2"]),
        (26_000, "rmq2", []),
        (27_000, "rmq2", []),
    ]
    rows["probes"] = [
        {
            "prober": 900,
            "kind": "replicas",
            "target": "orders",
            "started_ns": at_ms * 1_000_000 - 1,
            "ended_ns": at_ms * 1_000_000,
            "ok": 1,
            "detail": look_text(serving, copies, []),
        }
        for at_ms, serving, copies in looks
    ]
    folder = write_run(tmp_path / "run", facts, rows)
    findings = judge(facts, rows)
    manifest = manifest_of(facts)
    found = shown(records_of(folder, findings, "pika"), manifest, facts, findings, Views(), ())
    (story,) = found.affected[0].traces
    reported = [(step.at_ns, step.text) for step in story.steps if step.sort != "end"]
    said = "mqproof queried the brokers: "
    seen = [each for each in reported if each[1].startswith((said, "mqproof saw"))]
    assert reported[0] == seen[0]
    assert seen == [
        (
            10_000_000_000,
            f"{said}rmq1 was master of orders; the only mirror of orders was rmq2, "
            "not synchronised",
        ),
        (
            26_000_000_000,
            "mqproof saw rmq2 as master of orders (the query before, at +10.000 s, showed rmq1); "
            "when fault 1 began, the only mirror of orders was rmq2, not synchronised",
        ),
        (27_000_000_000, f"{said}rmq2 was master of orders; orders had no mirror"),
    ]


def test_a_duplicate_marks_the_delivery_that_is_counted(tmp_path: Path) -> None:
    history = crash()
    history.deliver(238, at_ms=12_400, redelivered=Redelivered.YES, connection=2)
    story = story_of(tmp_path, history, "duplicated")
    (counted,) = (step for step in story.steps if step.counted)
    assert story.near.startswith("delivered again at +12.400 s, ")
    assert counted.at_ns == 12_400_000_000
    assert counted.text == (
        "attempt 1 delivered to consumer 1 through connection 2, flagged as redelivered"
    )
    acknowledged = "acknowledged by consumer 1 (attempt 1, delivery tag 239)"
    assert acknowledged in texts(story)


def test_what_broke_a_promise_comes_before_other_duplicates(tmp_path: Path) -> None:
    history = crash()
    for sequence in (10, 238):  # acknowledged long before the fault, and just before it
        history.deliver(sequence, at_ms=12_400, redelivered=Redelivered.YES, connection=2)
    found = [(one.measure, one.detail) for one in detail_of(tmp_path, history).affected]
    assert found[0] == ("duplicated", "redelivery_after_ack")
    assert ("duplicated", "ambiguous") in found


def test_a_retry_shows_the_fate_of_every_attempt(tmp_path: Path) -> None:
    story = History().window(1_000, ended_ms=2_000)
    story.publish(1, at_ms=1_100).settle(1, Outcome.UNKNOWN, at_ms=1_200)
    story.deliver(1, at_ms=1_250).publish(1, at_ms=1_300, attempt=2, connection=2)
    story.confirm(1, at_ms=1_400, attempt=2).deliver(1, at_ms=1_500, attempt=2)
    steps = texts(story_of(tmp_path, story, "duplicated"))
    assert steps == [
        "attempt 1 sent by publisher 1 to connection 1",
        "attempt 1: unknown; whether the broker has this attempt is unknown",
        "attempt 1 delivered to consumer 1 through connection 1",
        "attempt 2 sent by publisher 1 to connection 2",
        "attempt 2: confirmed (by all required replicas): the client reported “confirmed”",
        "attempt 2 delivered to consumer 1 through connection 1",
    ]


def test_a_publish_that_was_never_sent_says_so(tmp_path: Path) -> None:
    story = History().not_sent(1, intended_ms=500)
    assert texts(story_of(tmp_path, story, "missed")) == [
        "was due in orders; its deadline passed first, so it was never sent"
    ]


def test_a_late_sending_shows_when_it_was_due(tmp_path: Path) -> None:
    story = History().publish(1, at_ms=900, intended_ms=100).confirm(1, at_ms=1_500)
    story.deliver(1, at_ms=1_600)
    assert texts(story_of(tmp_path, story, "missed"))[0] == "was due in orders"


def test_a_message_found_by_the_audit_says_so(tmp_path: Path) -> None:
    story = History().publish(1, at_ms=1).confirm(1, at_ms=2)
    story.deliver(1, at_ms=50_000, via=Via.AUDIT, consumer=9)
    assert texts(story_of(tmp_path, story, "stranded"))[-1] == (
        "attempt 1 found by the audit, read by worker 9 through connection 1"
    )


def test_a_delivery_by_a_declared_way_has_its_text(tmp_path: Path) -> None:
    parked = DeliveryWay(9, "parked", LOAD, "delivered from the parking place to", again=True)
    history = History(ways=(parked,)).publish(1, at_ms=1).confirm(1).deliver(1, at_ms=3)
    history.deliver(1, at_ms=5, via=parked.number, tag=2)
    assert any(
        "attempt 1 delivered from the parking place to" in text
        for text in texts(story_of(tmp_path, history, "duplicated"))
    )


def test_a_broken_header_is_reported_by_its_instant(tmp_path: Path) -> None:
    story = History().deliver_broken(at_ms=30).deliver_broken(at_ms=40)
    (group,) = (one for one in detail_of(tmp_path, story).affected if one.measure == "corrupt")
    assert group.number == 2
    assert [len(one.steps) for one in group.traces] == [1, 1]
    assert group.traces[0].message == "a message that cannot be identified in orders"
    assert group.traces[0].steps[0].text.endswith("its header is broken, its payload is broken")


def test_connection_lost_on_the_way_is_part_of_the_story(tmp_path: Path) -> None:
    story = History().publish(1, at_ms=1).confirm(1, at_ms=2).deliver(1, at_ms=3)
    story.client_event("lost", at_ms=4, worker=CONSUMER)
    story.deliver(1, at_ms=9, redelivered=Redelivered.YES, connection=2)
    assert "consumer 1: connection lost" in texts(story_of(tmp_path, story, "duplicated"))


def test_a_reordered_message_names_the_one_that_overtook_it(tmp_path: Path) -> None:
    story = History().publish(1, at_ms=10, key=7).confirm(1, at_ms=11)
    story.publish(2, at_ms=12, key=3).confirm(2, at_ms=13).deliver(2, at_ms=14)  # of another key
    story.publish(3, at_ms=15, key=7).confirm(3, at_ms=16).deliver(3, at_ms=17)
    story.deliver(1, at_ms=18)
    found = story_of(tmp_path, story, "reordered")
    assert found.near == (
        "message 3 of the same key (7) was sent later, at +0.015 s, but delivered first, at "
        "+0.017 s; message 1 was sent at +0.010 s and delivered at +0.018 s"
    )
    assert texts(found)[-2:] == [
        "message 3 of the same key, sent later, delivered to consumer 1",
        "attempt 1 delivered to consumer 1 through connection 1",
    ]


def test_only_a_message_that_was_certainly_sent_later_overtakes(tmp_path: Path) -> None:
    """One on another connection, sent before the confirm, may have reached the broker first."""
    story = History().publish(1, at_ms=10, key=7).publish(2, at_ms=11, key=7, connection=2)
    story.confirm(1, at_ms=12).confirm(2, at_ms=13).deliver(2, at_ms=14)
    story.publish(3, at_ms=15, key=7, connection=2).confirm(3, at_ms=16).deliver(3, at_ms=17)
    story.deliver(1, at_ms=18)
    found = story_of(tmp_path, story, "reordered")
    assert found.near.startswith("message 3 of the same key (7) was sent later, at +0.015 s")
    after = story.publish(4, at_ms=18.5, key=7).confirm(4, at_ms=19).deliver(4, at_ms=20)
    assert story_of(tmp_path / "later", after, "reordered").near == found.near


def test_long_story_shows_its_ends_and_its_counts(tmp_path: Path) -> None:
    story = History().publish(1, at_ms=0).confirm(1, at_ms=1)
    for number in range(60):
        story.deliver(1, at_ms=2 + number, redelivered=Redelivered.YES)
    trace = story_of(tmp_path, story, "duplicated")
    gaps = [step.text for step in trace.steps if step.sort == "gap"]
    assert gaps == ["46 steps left out"]
    assert sum(step.counted for step in trace.steps) == 1
    assert len(trace.steps) == 10 + 1 + 6


def test_evidence_and_confirms_are_never_left_out(tmp_path: Path) -> None:
    story = History().publish(1, at_ms=0)
    for number in range(30):
        story.deliver(1, at_ms=2 + number, redelivered=Redelivered.YES)
    facts, rows = story.confirm(1, at_ms=15.5).build()
    records = records_of(write_run(tmp_path / "run", facts, rows), judge(facts, rows), "pika")
    row = Affected(facts.run, "orders", "reordered", "", PUBLISHER, 1, 0, 22_000_000)
    found = trace(row, records, facts)
    assert [step.at_ns for step in found.steps if step.counted] == [22_000_000]
    assert any(text.startswith("attempt 1: confirmed") for text in texts(found))
    # Two steps between the confirm and those around the evidence are no gap.
    assert [step.text for step in found.steps if step.sort == "gap"] == ["5 steps left out"]


def test_message_delivered_repeatedly_has_one_story_in_its_class(tmp_path: Path) -> None:
    story = History().publish(1, at_ms=0).confirm(1, at_ms=1)
    for number in range(4):
        story.deliver(1, at_ms=2 + number, redelivered=Redelivered.YES)
    (group,) = detail_of(tmp_path, story).affected
    assert (group.number, len(group.traces)) == (3, 1)


def test_only_the_first_messages_of_a_class_have_stories(tmp_path: Path) -> None:
    (group,) = detail_of(tmp_path, crash(lost=range(200, 230))).affected
    assert (group.measure, group.number, len(group.traces)) == ("lost", 30, 5)
    assert [one.message.split()[1] for one in group.traces] == [
        "200",
        "201",
        "202",
        "203",
        "204",
    ]


def test_unreadable_raw_tables_cost_the_stories_not_the_counts(
    tmp_path: Path,
) -> None:
    facts, rows = crash(lost=[230]).build()
    folder = write_run(tmp_path / "run", facts, rows)
    findings = judge(facts, rows)
    (folder / "raw" / "attempts.parquet").write_bytes(b"torn")
    found = shown(
        records_of(folder, findings, "pika"), manifest_of(facts), facts, findings, Views(), ()
    )
    assert "attempts.parquet cannot be read" in found.unreadable
    assert [(group.measure, group.number) for group in found.affected] == [("lost", 1)]
    assert [second.confirmed for second in found.timeline.slices][:2] == [20, 20]


def test_tables_that_are_missing_are_empty(tmp_path: Path) -> None:
    facts, rows = crash(lost=[230]).build()
    findings = judge(facts, rows)
    folder = write_run(tmp_path / "run", facts, {"attempts": rows["attempts"]})
    found = shown(
        records_of(folder, findings, "pika"), manifest_of(facts), facts, findings, Views(), ()
    )
    assert found.unreadable == ""
    assert texts(found.affected[0].traces[0])[0] == "attempt 1 sent by publisher 1 to connection 1"


def test_an_instant_has_its_place_among_the_faults() -> None:
    facts = crash().facts
    assert near(0, facts) == f"{FAULT_MS / 1000:.3f} s before fault 1 (kill)"
    assert near(13_000_000_000, facts) == "during fault 1 (kill), 1.000 s after it began"
    assert near(30_000_000_000, facts) == "3.000 s after fault 1 (kill) was undone"
    assert near(5, History().facts) == ""
    assert near(-1, facts) == ""


def test_routine_probes_are_no_event_and_a_verification_is(tmp_path: Path) -> None:
    facts, rows = crash().build()
    kinds = ("route", "verified", "cluster", "consumer offset")
    rows["probes"] = [
        {
            "prober": 900,
            "kind": kind,
            "target": "ns1",
            "started_ns": number,
            "ended_ns": number,
            "ok": 1,
            "detail": f"detail of {kind}",
        }
        for number, kind in enumerate(kinds)
    ]
    folder = write_run(tmp_path / "run", facts, rows)
    findings = judge(facts, rows)
    found = shown(
        records_of(folder, findings, "pika"), manifest_of(facts), facts, findings, Views(), ()
    )
    probes = [one.text for one in found.timeline.happenings if one.sort == "probe"]
    assert probes == ["verified active; detail of verified"]


def test_a_trace_shows_the_properties_of_each_attempt(tmp_path: Path) -> None:
    story = History().publish(1, at_ms=1).terms(1, wait_ms=5_000).publish(1, at_ms=2, attempt=2)
    story.terms(1, wait_ms=5_000, attempt=2).confirm(1, at_ms=3).deliver(1, at_ms=400)
    steps = texts(story_of(tmp_path, story, "early"))
    assert steps[:2] == [
        "attempt 1 sent by publisher 1 to connection 1, due at +5.001 s",
        "attempt 2 sent by publisher 1 to connection 1, due at +5.002 s",
    ]


def test_a_torn_transaction_ends_with_its_half(tmp_path: Path) -> None:
    story = History().publish(1, at_ms=1).terms(1, fate=Fate.COMMIT).confirm(1, at_ms=2)
    story.deliver(1, at_ms=50_000, via=Via.HALF, consumer=9)
    assert texts(story_of(tmp_path, story, "torn_transaction")) == [
        "attempt 1 sent by publisher 1 to connection 1, to be committed",
        "attempt 1: confirmed (by all required replicas): the client reported “confirmed”",
        "attempt 1 found by the audit as the half of a transaction, read by worker 9 through "
        "connection 1",
        "never delivered: the broker holds the half, and no commit of it",
    ]


def test_an_attempt_names_the_broker_that_delivered_it(tmp_path: Path) -> None:
    history = History()
    for at_ms, worker, kind in ((0, 1, "connecting"), (150, 1, "attached"), (0, 2, "connecting")):
        history.client_event(kind, at_ms=at_ms, worker=worker)
        history.rows["client_events"][-1]["detail"] = "ns2" if kind == "attached" else "ns1"
    history.publish(1, at_ms=100).settle(1, Outcome.UNKNOWN, at_ms=110)
    history.publish(1, at_ms=200, attempt=2)
    history.settle(1, Outcome.UNKNOWN, at_ms=210, attempt=2)
    history.publish(1, at_ms=300, attempt=3).confirm(1, at_ms=310, attempt=3)
    history.deliver(1, at_ms=320, attempt=3, place="broker-a/3", offset=7)
    history.deliver(1, at_ms=400, attempt=1, place="broker-b/0", offset=5)
    history.deliver(1, at_ms=900, attempt=1, via=Via.AUDIT, consumer=9, place="ns4 orders/0")
    steps = texts(story_of(tmp_path, history, "duplicated", BY_NAMES))
    assert [step for step in steps if "sent by" in step] == [
        "attempt 1 sent by publisher 1 (name server ns1) to broker-b (known from its delivery)",
        "attempt 2 sent by publisher 1 (name server ns2) to a broker that is not on record",
        "attempt 3 sent by publisher 1 (name server ns2) to broker-a (known from its delivery)",
    ]
    assert "attempt 1 delivered to consumer 1 from broker-b, queue 0, offset 5" in steps
    assert (
        "attempt 1 found by the audit, read by worker 9 from ns4, queue 0 of topic orders" in steps
    )


def test_a_failed_attempt_names_the_address_in_its_error_once(tmp_path: Path) -> None:
    sent_to = "RemotingSendRequestException send request to <rkg2/172.31.124.210:10921> failed"
    no_way = "RemotingConnectException connect to rkd3:10931 failed"
    history = History()
    errors = (f"{sent_to} < {sent_to}", Outcome.UNKNOWN), (no_way, Outcome.REFUSED)
    for attempt, (raw, outcome) in enumerate(errors, 1):
        history.publish(1, at_ms=attempt * 10, attempt=attempt)
        history.settle(1, outcome, at_ms=attempt * 10 + 1, attempt=attempt)
        history.rows["settlements"][-1]["raw"] = raw
    history.publish(1, at_ms=30, attempt=3).confirm(1, at_ms=31, attempt=3)
    assert texts(story_of(tmp_path, history, "lost", BY_NAMES))[:4] == [
        "attempt 1 sent by publisher 1 to rkg2:10921 (known from the client's error)",
        f"attempt 1: {sent_to}; whether the broker has this attempt is unknown",
        "attempt 2 sent by publisher 1 to rkd3:10931 (known from the client's error)",
        f"attempt 2: could not connect, so nothing was sent: the client reported “{no_way}”",
    ]


def test_an_attempt_that_only_the_audit_found_names_its_host(tmp_path: Path) -> None:
    history = History().publish(1, at_ms=1).confirm(1, at_ms=2)
    history.deliver(1, at_ms=50, via=Via.AUDIT, consumer=9, place="ns2 orders/0", offset=4)
    steps = texts(story_of(tmp_path, history, "stranded", BY_NAMES))
    assert steps[0] == "attempt 1 sent by publisher 1 to a broker (the audit found it on ns2)"


def test_what_another_group_got_is_no_part_of_the_story(tmp_path: Path) -> None:
    history = History().group("billing", 2).group("audit", 3)
    history.publish(1, at_ms=10).confirm(1).deliver(1, queue="orders-billing", consumer=2)
    story = story_of(tmp_path, history, "lost")
    assert story.message == "message 1 of publisher 1 in orders-audit"
    assert [step.sort for step in story.steps] == ["sent", "settled", "end"]
