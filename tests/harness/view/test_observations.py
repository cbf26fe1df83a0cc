"""Observation lines: what a run showed, and what it could not show."""

from dataclasses import replace

from harness.view.observations import observe
from spark_analysis.schema.words import RecoveredBy
from tests.rigs.runs.findings import Story


def texts(story: Story) -> dict[tuple[str, int], str]:
    return {(one.name, one.window): one.text for one in observe(story.evidence)}


def test_every_judged_measure_has_one_line() -> None:
    assert texts(Story()) == {
        ("messages", 0): "messages: confirmed 21,400",
        ("lost", 0): "lost 0 of 21,400",
        ("lost_indeterminate", 0): "sent, never confirmed, never delivered 0",
        ("revived", 0): "never confirmed, but delivered 0",
        ("duplicated", 0): "delivered more than once 0",
        ("reordered", 0): "out of order 0 of 21,400",
        ("fault", 1): (
            "fault 1: kill 12.00 s after the load began (+12.00 s since the recording began), "
            "undone after 15.0 s, verified"
        ),
        ("availability", 1): (
            "fault 1: longest time without a confirm 0.171 s, late from the fault on: 12 of 4,500 "
            "messages due (no confirm within 2 s of the due time)"
        ),
        ("stages", 1): (
            "fault 1: first confirm of a new message after 0.200 s, on time again within 0.05 s, "
            "first delivery of a new message after 0.161 s, backlog gone for good after 0.500 s"
        ),
    }


def test_losses_are_reported_by_strength_and_duplicates_by_provenance() -> None:
    story = Story().count("lost", "replicated", 2).count("lost", "stored", 1)
    story.count("stranded", "replicated", 4)
    story.count("duplicated", "redelivery", 30).count("duplicated", "publisher_retry", 31)
    found = texts(story)
    assert found["lost", 0] == (
        "lost 3 of 21,400 (2 confirmed by all required replicas, 1 stored), stranded 4 confirmed "
        "by all required replicas"
    )
    assert found["duplicated", 0] == (
        "delivered more than once 61 (31 sent again by its publisher; 30 redelivered, "
        "unacknowledged or its offset perhaps not committed)"
    )


def test_stall_is_reported_beside_what_is_still_judged() -> None:
    story = Story().doubt("availability", "stalled", window=1, worker=1)
    assert texts(story)["availability", 1].startswith(
        "fault 1: longest time without a confirm 0.0 to 0.2 s"
    )
    judged = {(one.name, one.window): one.judged for one in observe(story.evidence)}
    assert judged["lost", 0]
    assert not judged["stages", 1]


def test_a_fault_that_never_began_has_no_times() -> None:
    story = Story()
    (window,) = story.facts.windows
    why = {"verified": False, "gone": False, "ended_ns": None, "unverified_reason": "not begun"}
    story.facts = replace(story.facts, windows=(replace(window, **why),))
    perhaps = "; no journal proves it, so it may have been active"
    assert texts(story)["fault", 1] == f"fault 1: kill not begun{perhaps}"


def test_silence_of_a_fault_with_a_successor_says_when_it_began() -> None:
    found = texts(Story().silence(10.924).window(2, "kill", opens=30).silence(10.924, window=2))
    assert found["availability", 1].startswith(
        "fault 1: longest time without a confirm that overlaps it 10.924 s (from +12.0 s); "
        "late from fault 1 to fault 2: "
    )
    late = "without a confirm 10.924 s (from +12.0 s); late from fault 2 on"
    assert late in found["availability", 2]


def test_a_bound_before_the_next_fault_is_not_called_its_begin() -> None:
    cut = Story().window(2, "kill", opens=24.8).stage("sustained_success", 8.8, reached=False)
    said = "not within 8.8 s, later not decided (the next fault began after 12.8 s)"
    assert f"on time again (due time): {said}" in texts(cut)["stages", 1]
    whole = cut.stage("sustained_success", 12.8, reached=False)
    assert "(due time): not before the next fault (12.8 s)" in texts(whole)["stages", 1]


def test_the_silence_of_one_queue_is_named_by_that_queue() -> None:
    found = texts(Story().silence(24.416).silence(36.437, queue="bills"))
    line = "fault 1: longest time without a confirm 36.437 s (queue bills); late"
    assert found["availability", 1].startswith(line)


def test_publishes_of_excused_clients_are_reported_as_excused() -> None:
    found = texts(Story().count("excused", "", 811))
    assert found["availability", 1].endswith(
        "; 811 of the run are excused: faults kept their publishers away"
    )


def test_messages_that_were_never_sent_count_as_late() -> None:
    story = Story().count("state", "not_sent", 9)
    line = "messages: confirmed 21,400, never sent (the deadline passed first) 9"
    assert texts(story)["messages", 0] == f"{line}; late counts those never sent"
    story.count("excused", "", 811)
    ending = "; late counts those never sent, unless they are excused"
    assert texts(story)["messages", 0] == f"{line}{ending}"


def test_times_not_reached_are_lower_bounds() -> None:
    story = Story().stage("sustained_success", 33.8, reached=False).silence(33.9, censored=True)
    found = texts(story)
    assert "without a confirm >= 33.900 s" in found["availability", 1]
    cut = "not within 33.8 s, later not decided (the load ended after 48.0 s)"
    assert f"on time again (due time): {cut}" in found["stages", 1]


def test_a_bound_near_zero_is_no_measured_recovery_time() -> None:
    found = texts(Story().stage("sustained_success", 0.001, reached=False))
    cut = "the load ended, or the next fault began, too soon to measure it"
    assert f"on time again (due time): not measured ({cut})" in found["stages", 1]
    short = Story().stage("sustained_success", 0.0006, recovered_by=RecoveredBy.EITHER)
    either = "sending stayed on time, but perhaps only because the fault ended soon"
    assert f"on time again (due time): not measured ({either})" in texts(short)["stages", 1]


def test_without_a_late_message_there_is_no_time_of_recovery() -> None:
    found = texts(Story().missed(0))
    assert "no message was late" in found["stages", 1]
    cut = texts(Story().missed(0).stage("sustained_success", 0.001, reached=False))
    assert "no message was late" in cut["stages", 1]


def test_late_messages_are_counted_up_to_the_next_fault() -> None:
    found = texts(Story().window(2, "kill", opens=30))
    assert "late from fault 1 to fault 2: 12 of" in found["availability", 1]
    assert "late from fault 2 on: " in found["availability", 2]
    assert "of the due time" not in found["availability", 2], "the first line says what late is"


def test_without_consumers_none_is_reported_late() -> None:
    found = texts(Story(consumers=0).stage("consumers_resumed", 22.3, reached=False))
    assert found["stages", 1] == (
        "fault 1: first confirm of a new message after 0.200 s, on time again within 0.05 s, "
        "first delivery of a new message: not applicable, backlog gone for good: not applicable"
    )


def test_open_ends_of_loss_are_named() -> None:
    story = Story().count("unreachable", "replicated", 7)
    story.doubt("loss", "unreadable", queue="orders")
    line = texts(story)["lost", 0]
    assert line.startswith(
        "lost >= 0 of 21,400, unreachable 7 confirmed by all required replicas; not judged: 7 "
        "messages"
    )


def test_order_says_how_much_it_could_not_judge() -> None:
    story = Story().count("not_judged", "not_certain", 40).count("not_judged", "not_at_once", 3)
    assert texts(story)["reordered", 0] == (
        "out of order 0 of 21,400 (order not judged: 40 whose delivered attempt or whose times "
        "are not certain, 3 delayed or in transactions)"
    )


def test_an_order_that_is_not_promised_is_not_applicable() -> None:
    story = Story().count("not_judged", "not_promised", 21_400).without("in_order")
    (order,) = (one for one in observe(story.evidence) if one.name == "reordered")
    assert order.judged
    assert order.text == (
        "out of order: not applicable, because order is not promised (several queues or "
        "consumers per key)"
    )


def test_an_unverified_window_says_why() -> None:
    story = Story().unverified("not verified active: the process runs")
    found = texts(story)
    assert found["fault", 1].endswith("not verified active: the process runs")
    assert found["availability", 1].startswith("availability under fault 1 unknown: fault 1:")


def test_delays_and_transactions_are_reported_of_runs_that_have_some() -> None:
    story = Story().count("delayed", "", 700).count("transactions", "rollback", 9)
    story.count("early_unknown", "", 4).count("rolled_back_but_delivered", "rollback", 2)
    found = texts(story)
    assert found["early", 0] == (
        "delivered too early >= 0; perhaps more: 4 more came before their time by no more than "
        "the clocks are off"
    )
    assert found["rolled_back_but_delivered", 0] == "rolled back, but delivered 2 (2 rollback)"
    assert ("torn_transaction", 0) not in found


def test_messages_not_yet_due_are_reported_beside_the_loss() -> None:
    story = Story().count("loss_unknown", "not_due", 3).doubt("loss", "not_due", queue="orders")
    assert texts(story)["lost", 0] == (
        "lost >= 0 of 21,400, loss_unknown 3 not due; not judged: 3 messages are undecided, "
        "because the drain of orders did not outlast the delay of the missing messages"
    )


def test_verified_end_of_a_fault_has_its_time() -> None:
    (line,) = (
        one.text for one in observe(Story().evidence, {1: 36_100_000_000}) if one.name == "fault"
    )
    assert line.endswith("undone after 15.0 s, verified ended after 24.1 s")


def test_backlog_that_is_gone_with_the_first_delivery_is_none() -> None:
    gone = texts(Story().stage("backlog_drained", 0.161))["stages", 1]
    assert gone.endswith("first delivery of a new message after 0.161 s, no backlog")
    left = Story().stage("backlog_drained", 48, reached=False)
    assert "backlog gone for good: not before the load ended (48.0 s)" in texts(left)["stages", 1]
    left.window(2, "kill", opens=40).stage("backlog_drained", 28, reached=False)
    assert "backlog gone for good: not before the next fault (28.0 s)" in texts(left)["stages", 1]
