"""Whose sends failed, whom he asked for the way then, and when he learnt better."""

from dataclasses import replace

from harness.run_folder.rows import ClientEvent
from harness.view.detail import failures_of
from harness.view.failing import Failing, answers_text, failed_sends, failing, observe
from spark_analysis.schema.views import Shown, detail_of
from spark_analysis.schema.words import Outcome
from tests.rigs.histories.both_judges import sends_by_both
from tests.rigs.histories.by_hand import PUBLISHER, History, ns
from tests.rigs.runs.judged_runs import manifest_of

FAULT_MS = 10_000
A, B = Shown("broker-a", 0, "rkt1:10911"), Shown("broker-b", 0, "rkt2:10912")


def event(at_ms: float, kind: str, detail: str) -> ClientEvent:
    return ClientEvent(PUBLISHER, ns(at_ms), kind, 1, "orders", detail)


def one(*events: ClientEvent) -> Failing:
    history = History().window(FAULT_MS)
    history.publish(1, at_ms=FAULT_MS + 10).settle(1, Outcome.UNKNOWN, at_ms=FAULT_MS + 3_010)
    history.publish(2, at_ms=FAULT_MS + 20).confirm(2, at_ms=FAULT_MS + 25)
    return rows_of(history, *events)[0]


def rows_of(history: History, *events: ClientEvent) -> tuple[Failing, ...]:
    facts, rows = history.build()
    sends = sends_by_both(facts, rows)
    return failing(manifest_of(facts), facts, sends, events, failures_of("rocketmq-java-4.9.8"))


def test_client_turned_to_another_name_server_and_learnt_the_change() -> None:
    found = one(
        event(100, "attached", "rkt1"),
        event(100, "route", detail_of((A, B))),
        event(FAULT_MS + 43_000, "attached", "rkt2"),
        event(FAULT_MS + 44_000, "route", detail_of((B,))),
        event(FAULT_MS + 90_000, "route", detail_of((A, B))),
    )
    assert (found.name_server, found.turned_s, found.turned_to) == ("rkt1", 43.0, "rkt2")
    assert (found.left_out_s, found.left_out) == (44.0, "broker-a")
    assert (found.failed, found.sent_by_then, found.share) == (1, 2, 0.5)
    assert found.last_failed_s == 3.01


def test_sends_fail_after_no_fault_that_never_began() -> None:
    history = History().window(FAULT_MS)
    history.publish(1, at_ms=FAULT_MS + 10).settle(1, Outcome.UNKNOWN, at_ms=FAULT_MS + 3_010)
    facts, rows = history.build()
    planned = replace(facts.windows[0], verified=False, gone=False, unverified_reason="not begun")
    sends, unproved = sends_by_both(facts, rows), replace(facts, windows=(planned,))
    never = replace(facts, windows=(), not_begun=(planned,))
    assert failing(manifest_of(never), never, sends, (), {}) == ()
    (perhaps,) = failing(manifest_of(unproved), unproved, sends, (), {})
    assert (perhaps.window, perhaps.failed) == (1, 1)


def test_a_client_that_keeps_its_name_server_never_turned() -> None:
    found = one(event(100, "attached", "rkt1"), event(100, "route", detail_of((A, B))))
    assert (found.name_server, found.turned_s, found.left_out_s) == ("rkt1", None, None)


def test_a_client_without_reports_is_unknown() -> None:
    found = one()
    assert (found.name_server, found.turned_s, found.left_out) == ("", None, "")


def test_a_route_of_slaves_alone_has_lost_its_only_master() -> None:
    slave = Shown("broker-a", 1, "rkt2:10921")
    found = one(
        event(100, "route", detail_of((A, slave))),
        event(FAULT_MS + 1_300, "route", detail_of((slave,))),
    )
    assert (found.left_out_s, found.left_out) == (1.3, "broker-a")


def test_library_temporarily_without_a_route_omitted_no_broker() -> None:
    found = one(
        event(100, "route", detail_of((A, B))),
        event(FAULT_MS + 5_000, "route", "nothing"),
        event(FAULT_MS + 6_000, "route", detail_of((A, B))),
    )
    assert found.left_out_s is None


def test_answers_say_how_sends_failed() -> None:
    history = History().window(FAULT_MS)
    raws = ["nack"] * 3 + ["connection lost: StreamLostError('EOF')", "connection lost: reset"]
    raws += ["connection lost: closed by the publisher: its oldest attempt had no confirm"]
    for number, raw in enumerate(raws):
        history.publish(number, at_ms=FAULT_MS + number)
        history.settle(number, Outcome.UNKNOWN, at_ms=FAULT_MS + 500 + number, raw=raw)
    for number, raw in ((10, "RemotingConnectException connect to a:1"), (11, "MQBroker 2")):
        history.publish(number, at_ms=FAULT_MS).settle(
            number, Outcome.REFUSED, at_ms=FAULT_MS + 1, raw=raw
        )
    history.publish(12, at_ms=FAULT_MS).confirm(12, at_ms=FAULT_MS + 1)
    found = rows_of(history)
    (line,) = observe(found)
    assert line.text == (
        "fault 1: with retries, 8 of 9 attempts to send failed, the last 0.51 s after the fault: "
        "3 answered with nack, 2 on a lost connection, "
        "1 on a connection that the publisher gave up, 1 could not connect, 1 refused (MQBroker 2)"
    )


def test_unanswered_sends_say_what_the_client_reports() -> None:
    history = History().window(FAULT_MS)
    for number, raw in enumerate(
        ("RemotingTimeoutException wait", "RemotingSendRequestException")
    ):
        history.publish(number, at_ms=FAULT_MS)
        history.settle(number, Outcome.UNKNOWN, at_ms=FAULT_MS + 500, raw=raw)
    (found,) = rows_of(history)
    assert answers_text([found]) == "1 connection lost while sending, 1 no answer in time"
    assert answers_text([replace(found, answers=())]) == ""


def test_answers_to_some_failed_sends_keep_their_number() -> None:
    nacked = replace(one(), failed=20, answers=(("answered with nack", 10),))
    assert answers_text([nacked]) == "10 answered with nack, 10 not recorded"
    assert answers_text([replace(nacked, failed=10)]) == "answered with nack"


def test_without_failed_sends_there_is_no_line() -> None:
    history = History().window(FAULT_MS).publish(1, at_ms=FAULT_MS + 1).confirm(1)
    assert [*observe(rows_of(history))] == []


def test_failed_sends_say_how_many_and_when_all_routes_had_changed() -> None:
    left = [
        event(100, "route", detail_of((A, B))),
        event(FAULT_MS + 1_200, "route", detail_of((B,))),
    ]
    assert failed_sends([one(*left)]) == {
        1: "1 of 2 attempts to send failed, the last 3.0 s after the fault; each "
        "publisher's route lacked the master from 1.2 s on"
    }
    assert failed_sends([one()]) == {
        1: "1 of 2 attempts to send failed, the last 3.0 s after the fault"
    }
    assert failed_sends([replace(one(), failed=0)]) == {}
