"""Who read a message, in histories and at the number of messages out of order."""

from pathlib import Path

from harness.view.detail import Detail, records_of
from harness.view.detail import detail_of as shown
from harness.view.observations import observe
from harness.view.raw_lines import amended, receivers
from harness.view.trace_steps import MessageTrace
from spark_analysis.schema.views import Views
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import History
from tests.rigs.histories.ways import Via
from tests.rigs.runs.findings import Story
from tests.rigs.runs.judged_runs import manifest_of
from tests.rigs.runs.run_folders import write_run

BY_NAMES = {"publishers": "name-server"}
NOT_COMMITTED = "it is not certain that its offset was committed"
DRAIN = 5


def detail_of(tmp_path: Path, history: History) -> Detail:
    facts, rows = history.build()
    folder = write_run(tmp_path / "run", facts, rows)
    findings = judge(facts, rows)
    manifest = manifest_of(facts, endpoints=BY_NAMES)
    return shown(records_of(folder, findings, "pika"), manifest, facts, findings, Views(), ())


def story_of(tmp_path: Path, history: History, measure: str) -> MessageTrace:
    groups = detail_of(tmp_path, history).affected
    return next(one for one in groups if one.measure == measure).traces[0]


def moved_key() -> History:
    """A key moves to another broker while its first one is killed; the drain gets both messages,
    the later one first."""
    story = History().window(15, ended_ms=30)
    story.publish(1, at_ms=10, key=7).confirm(1, at_ms=11)
    story.publish(2, at_ms=20, key=7).confirm(2, at_ms=21)
    story.deliver(2, at_ms=61_000, via=Via.DRAIN, consumer=DRAIN, place="broker-b/3", offset=4)
    story.deliver(1, at_ms=62_000, via=Via.DRAIN, consumer=DRAIN, place="broker-a/2", offset=9)
    return story.acknowledge(2, at_ms=62_001, consumer=DRAIN)


def test_an_overtaking_shows_the_move_of_its_key_and_the_fault(tmp_path: Path) -> None:
    found = story_of(tmp_path, moved_key(), "reordered")
    assert found.near.endswith(
        "; between the two sends fault 1 (kill) began and the key moved from broker-a, queue 2 to "
        "broker-b, queue 3"
    )
    assert "message 2 of the same key sent to broker-b, queue 3" in [
        step.text for step in found.steps
    ]


def test_a_retry_topic_is_no_move_of_a_key(tmp_path: Path) -> None:
    story = moved_key()
    story.rows["deliveries"][0]["broker"] = "broker-b/retry/0"
    assert "the key moved" not in story_of(tmp_path, story, "reordered").near


def test_a_history_calls_the_drain_by_one_name(tmp_path: Path) -> None:
    texts = [step.text for step in story_of(tmp_path, moved_key(), "reordered").steps]
    assert "message 2 of the same key, sent later, delivered to the drain" in texts
    assert "attempt 1 delivered to the drain from broker-a, queue 2, offset 9" in texts
    assert "acknowledged by the drain (attempt 1)" in texts
    assert not any("worker 5" in text for text in texts)


def acknowledged_to_its_library() -> History:
    """A consumer of a log closes soon after it acknowledged; the drain gets the message again."""
    story = History(brokers_keep_progress=True).publish(1, at_ms=10).confirm(1, at_ms=11)
    story.deliver(1, at_ms=1_000, place="broker-b/2", offset=4).acknowledge(1, at_ms=1_010)
    story.client_event("closed", at_ms=3_000)
    story.deliver(1, at_ms=5_900, via=Via.DRAIN, consumer=DRAIN, place="broker-b/2", offset=4)
    story.client_event("closed", at_ms=6_000, worker=DRAIN)
    return story.deliver(1, at_ms=7_000, via=Via.AUDIT, consumer=9, place="ns4 orders/2")


def test_an_acknowledgement_to_the_library_alone_is_called_so(tmp_path: Path) -> None:
    (group,) = detail_of(tmp_path, acknowledged_to_its_library()).affected
    assert (group.measure, group.detail) == ("duplicated", "redelivery")
    texts = [step.text for step in group.traces[0].steps]
    (acknowledged,) = (text for text in texts if text.startswith("acknowledged by consumer 1"))
    assert NOT_COMMITTED in acknowledged
    assert "consumer 1: connection closed" in texts
    assert "the drain: connection closed" not in texts


def test_an_acknowledgement_before_another_case_promises_nothing(tmp_path: Path) -> None:
    story = moved_key().deliver(2, at_ms=63_000, place="broker-b/3", offset=4)
    texts = [step.text for step in story_of(tmp_path, story, "reordered").steps]
    assert not any(NOT_COMMITTED in text for text in texts)


def who_got_them(tmp_path: Path, history: History) -> str:
    facts, rows = history.build()
    folder = write_run(tmp_path / "run", facts, rows)
    return receivers(folder, judge(facts, rows), facts)


def test_messages_out_of_order_are_counted_by_who_got_them(tmp_path: Path) -> None:
    story = moved_key()
    story.publish(3, at_ms=100, key=3).confirm(3, at_ms=101)
    story.publish(4, at_ms=102, key=3).confirm(4, at_ms=103)
    story.deliver(4, at_ms=104).deliver(3, at_ms=105)
    assert who_got_them(tmp_path, story) == "1 at consumers, 1 at the drain"


def test_in_order_nobody_is_named(tmp_path: Path) -> None:
    assert who_got_them(tmp_path, History().publish(1, at_ms=1).confirm(1).deliver(1)) == ""


def test_without_raw_deliveries_it_is_not_said(tmp_path: Path) -> None:
    facts, rows = moved_key().build()
    folder = write_run(tmp_path / "run", facts, {**rows, "deliveries": []})
    assert receivers(folder, judge(facts, rows), facts) == ""


def test_the_number_out_of_order_ends_with_who_got_them(tmp_path: Path) -> None:
    facts, rows = moved_key().build()
    found = receivers(write_run(tmp_path / "run", facts, rows), judge(facts, rows), facts)
    lines = observe(Story().count("reordered", "", 1).evidence)
    (order,) = (one for one in lines if one.name == "reordered")
    assert amended(order, found, "").text == f"{order.text}; 0 at consumers, 1 at the drain"
    assert [amended(one, "", "") for one in lines] == [*lines]
