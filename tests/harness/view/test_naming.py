"""Names of workers and faults, and ends of connections, as people read them."""

from harness.plan.clients.rocketmq import ROCKETMQ
from harness.view.naming import (
    address_in,
    error_text,
    fault_of_plan,
    given_up,
    log_text,
    lost_text,
    named_worker,
    not_accepted,
)
from tests.rigs.runs.judged_runs import crash

SCHEDULE = {
    "windows": [
        {"number": 1, "fault": {"kind": "kill", "target": "master of orders"}},
        {"number": 2, "fault": {"kind": "hang", "options": {"clients": "publishers"}}},
    ]
}
OLD_SCHEDULE = {"windows": [{"number": 2, "fault": {"kind": "hang", "clients": "publishers"}}]}


def test_a_worker_without_load_has_the_name_of_its_log() -> None:
    facts, _ = crash().build()
    names = {1: "publisher-1", 9: "drain-orders"}
    assert named_worker(1, facts, names) == "publisher 1"
    assert named_worker(9, facts, names) == "drain-orders"
    assert named_worker(9, facts, {}) == "worker 9"


def test_a_fault_of_links_is_named_by_the_plan() -> None:
    assert fault_of_plan(SCHEDULE, 1, "kill", "rmq1") == "kill rmq1"
    assert fault_of_plan(SCHEDULE, 2, "hang", "rmq1") == "hang publishers' links to rmq1"
    assert fault_of_plan(OLD_SCHEDULE, 2, "hang", "rmq1") == "hang publishers' links to rmq1"
    assert fault_of_plan({}, 2, "hang", "rmq1") == "hang clients' links to rmq1"


def test_a_publisher_gives_a_silent_connection_up() -> None:
    recorded = "closed by the publisher: its oldest attempt had no confirm for 0.5 s"
    words = "connection given up by the publisher: its oldest attempt had no confirm for 0.5 s"
    assert lost_text(recorded) == given_up(f"connection lost: {recorded}") == words
    assert lost_text("reset by peer") == "connection lost: reset by peer"
    assert lost_text("") == "connection lost"
    assert given_up("nack") == "nack"


def test_only_an_answer_of_the_broker_refuses_an_attempt() -> None:
    def meaning(raw: str) -> str:
        return not_accepted(raw, ROCKETMQ.not_accepted)

    assert meaning("MQBrokerException 17 topic[orders] not exist") == "refused"
    no_way = "RemotingConnectException connect to rkd3:10931 failed"
    assert meaning(no_way) == "could not connect, so nothing was sent"
    assert meaning("SLAVE_NOT_AVAILABLE ROLLBACK_MESSAGE") == "rolled back"
    assert meaning("SEND_OK UNKNOW") == "left open by its producer, to be rolled back"
    assert meaning("nack") == meaning("") == "refused"


def test_an_error_names_the_address_that_a_client_sent_to() -> None:
    assert address_in("send request to <rkg2/172.31.124.210:10921> failed") == "rkg2:10921"
    assert address_in("wait response on the channel </172.31.1.2:10911> timeout") == (
        "172.31.1.2:10911"
    )
    assert address_in("connect to rkd3:10931 failed") == "rkd3:10931"
    assert address_in("unknown reason, visit the url, https://rocketmq.apache.org") == ""
    assert address_in("") == ""


def test_a_cause_that_repeats_the_one_before_it_stands_once() -> None:
    assert error_text("timeout, which caused timeout") == "timeout"
    assert error_text("no route < failed < failed") == "no route < failed"
    assert error_text("it failed < it fai") == "it failed"  # cut short by the record
    assert error_text("nack") == "nack"
    visit = "For more information, please visit the url, https://rocketmq.apache.org"
    late = f"wait on <rkt1:10911> timeout, #(ms), which caused late, cost=4499 {visit}"
    for cut in (len(late), len(late) - 30):
        assert (
            error_text(late[:cut]) == "wait on <rkt1:10911> timeout, which caused late, cost=4499"
        )
    assert error_text(f"no route {visit}, which caused x") == "no route, which caused x"
    assert error_text(f"no route {visit} < x") == "no route < x"
    assert error_text("") == ""


def test_a_log_is_a_queue_of_a_topic() -> None:
    assert log_text("rkg2 mqproof_orders/3") == "rkg2, queue 3 of topic mqproof_orders"
    assert log_text("rmq1") == "rmq1"
    assert log_text("rkt1 orders") == "rkt1 orders"
