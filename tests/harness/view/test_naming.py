"""Names of workers and faults, and ends of connections, as people read them."""

from harness.view.naming import fault_of_plan, given_up, lost_text, named_worker
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
