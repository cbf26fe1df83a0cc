"""What clients' events tell claims of each window."""

from pathlib import Path
from typing import Any

import pytest

from harness.plan.declared import NAME_SERVERS_HIT
from harness.plan.vocabulary import MOVED
from harness.run_folder.client_events import (
    CONSUMING,
    REPORT_LOST,
    moved_in_windows,
    reached_another,
)
from harness.run_folder.manifest import Manifest, WorkerRecord
from harness.run_folder.planned import TargetRecord
from harness.run_folder.seal import LOGS, seal
from spark_analysis.files.log import LogWriter
from spark_analysis.files.sealed import RAW
from spark_analysis.schema.facts import Absence, Window
from spark_analysis.schema.tables import CLIENT_EVENTS
from tests.rigs.runs.manifests import manifest

ORIGIN = 1_000
ONE_MOVED = [(1, 1_500, 2, "rmq2 pika")]  # publisher, time, connection, detail
KILLED = {"log_closed": False, "log_whole": True}  # by a fault of clients, as planned


def recorded(
    tmp_path: Path, events: list[tuple[int, int, str, str]], hit: object = None
) -> dict[str, Any]:
    """The state of the first of two windows. `events`: worker, time, kind and detail."""
    made: Manifest = manifest()
    made.workers += [WorkerRecord("publisher-2", 2, "publisher"), WorkerRecord("c", 3, "consumer")]
    for number, origin in ((1, ORIGIN), (2, 5 * ORIGIN)):
        made.windows.append(Window(number, "kill", origin, origin, None, True, False, ""))
    made.state["windows"] = {"1": {NAME_SERVERS_HIT: hit}, "2": {}}
    made.save(tmp_path)
    for worker in (1, 2, 3):
        with LogWriter(tmp_path / LOGS / f"worker-{worker}") as log:
            for number, at_ns, kind, detail in events:
                if number == worker:
                    log.append(CLIENT_EVENTS, number, at_ns, kind, 1, None, detail)
    state: dict[str, Any] = seal(tmp_path).state["windows"]["1"]
    return state


def test_publisher_counts_by_its_last_name_server_before_the_fault(
    tmp_path: Path,
) -> None:
    state = recorded(
        tmp_path,
        [
            *((1, 100, "attached", "rkt2"), (1, 900, "attached", "rkt1")),
            *((2, 100, "attached", "rkt1"), (2, 1_100, "attached", "rkt2")),
            (3, 100, "attached", "rkt2"),
        ],
        ["rkt1"],
    )
    assert state["publishers_attached_to_target"] == 2


@pytest.mark.parametrize(
    ("events", "hit", "count"),
    [
        ([(1, 100, "attached", "rkt2"), (2, 100, "attached", "rkt1")], ["rkt1"], 1),
        ([(1, 100, "attached", "rkt2"), (2, 100, "attached", "rkt1")], ["rkt1", "rkt2"], 2),
        ([(1, 100, "attached", "rkt2"), (2, 100, "attached", "rkt2")], ["rkt1"], 0),
        ([(1, 100, "attached", "rkt2"), (2, 100, "attached", "rkt2")], [], 0),
        ([(1, 100, "attached", "rkt1")], ["rkt1"], None),  # the other never said
        ([(1, 100, "attached", "rkt1"), (2, 100, "attached", "rkt1")], None, None),
        ([], ["rkt1"], None),
        ([], {"not_applicable": "none"}, {"not_applicable": "none"}),
    ],
)
def test_a_client_that_never_named_its_server_leaves_it_unknown(
    tmp_path: Path, events: list[tuple[int, int, str, str]], hit: object, count: object
) -> None:
    assert recorded(tmp_path, events, hit)["publishers_attached_to_target"] == count


def test_cancellation_counts_in_the_window_that_began_before_it(
    tmp_path: Path,
) -> None:
    events = [(3, at_ns, "cancelled", "") for at_ns in (900, 1_000, 4_999, 5_000)]
    assert recorded(tmp_path, events)["consumers_cancelled"] == 1


@pytest.mark.parametrize(
    ("link", "attached", "cancelled"),
    [
        ((100, "connected", "rmq2 pika"), 1, 1),
        ((100, "connected", "rmq1 pika"), 0, 0),  # the target itself has no process left
        ((1_100, "connected", "rmq2 pika"), 0, 0),  # who came later was not attached
    ],
)
def test_a_client_attached_elsewhere_must_get_the_route(
    tmp_path: Path, link: tuple[int, str, str], attached: int, cancelled: int
) -> None:
    at_ns, kind, to = link
    events = [(3, at_ns, kind, 1, to), (3, 2_000, "cancelled", 1, "")]
    state = state_of(tmp_path, events, consuming=[3])
    assert (state["consumers_attached"], state["consumers_cancelled"]) == (attached, cancelled)


@pytest.mark.parametrize(
    ("events", "left"),
    [
        ([(1, 1_500, "blocked", 1, "")], 0),
        ([(1, 999, "blocked", 1, "")], 1),  # before the fault
        ([(1, 2_001, "blocked", 1, "")], 1),  # after it
        ([(3, 1_500, "blocked", 1, "")], 1),  # a consumer
        ([], 1),
    ],
)
def test_a_connected_publisher_must_get_the_blocked_notice(
    tmp_path: Path, events: list[tuple[int, int, str, int, str]], left: int
) -> None:
    stood = [(1, 100, "connected", 1, "rmq2 pika"), (3, 100, "connected", 1, "rmq2 pika")]
    state = state_of(tmp_path / "stood", [*stood, *events], ends=2_000)
    assert state["publishers_not_blocked"] == left
    assert state_of(tmp_path / "none", events)["publishers_not_blocked"] is None


def test_event_a_client_does_not_report_is_unknown_not_failed(tmp_path: Path) -> None:
    """No run with this client can tell whether its connection ended."""
    stood = [(1, 100, "connected", 1, "rmq1 acme")]
    assert cut_off(tmp_path / "reports", stood) is False
    assert cut_off(tmp_path / "silent", stood, reported=False) == {
        "not_applicable": "the client does not report when a connection ends"
    }
    ended = [*stood, (1, 1_500, "lost", 1, "reset by peer")]
    assert cut_off(tmp_path / "ended", ended, ends=2_000) is True
    assert cut_off(tmp_path / "unrecorded", ended, ends=2_000, reported=None) is None


def cut_off(tmp_path: Path, events: list[tuple[int, int, str, int, str]], **known: Any) -> object:
    return state_of(tmp_path, events, **known)["clients_of_target_cut_off"]


def state_of(
    tmp_path: Path,
    events: list[tuple[int, int, str, int, str]],
    target: str = "rmq1",
    client_endpoint: str | None = "hosts",
    consuming: object = None,
    ends: int | None = None,
    reported: bool | None = True,
) -> dict[str, Any]:
    """Of the first of two windows. `events`: worker, time, kind, connection and detail."""
    made: Manifest = manifest()
    made.workers += [WorkerRecord("c", 3, "consumer"), WorkerRecord("d", 4, "drainer")]
    for number, origin in ((1, ORIGIN), (2, 5 * ORIGIN)):
        made.windows.append(Window(number, "kill", origin, origin, ends, True, False, ""))
    made.targets.append(TargetRecord(1, "kill", "master of orders", target))
    made.state |= {
        "client_endpoint": client_endpoint,
        "windows": {"1": {CONSUMING: consuming, REPORT_LOST: reported}},
    }
    tmp_path.mkdir(exist_ok=True)
    made.save(tmp_path)
    for worker in (1, 3, 4):
        with LogWriter(tmp_path / LOGS / f"worker-{worker}") as log:
            for number, at_ns, kind, connection, detail in events:
                if number == worker:
                    log.append(CLIENT_EVENTS, number, at_ns, kind, connection, None, detail)
    state: dict[str, Any] = seal(tmp_path).state["windows"]["1"]
    return state


TWO = [(1, 100, "connected", 1, "rmq1 pika"), (3, 100, "connected", 1, "rmq1 pika")]
NOBODY_THERE = {"not_applicable": "no client was connected to the target when the fault began"}


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([*TWO, (1, 1_010, "lost", 1, "EOF"), (3, 4_999, "closed", 1, "")], True),
        ([*TWO, (1, 1_010, "lost", 1, "EOF")], False),  # the consumer kept its connection
        ([*TWO, (1, 1_010, "lost", 1, "EOF"), (3, 5_000, "lost", 1, "")], False),  # of the next
        ([*TWO, (1, 1_010, "lost", 1, "EOF"), (3, 1_000, "lost", 1, "")], True),
        ([*TWO, (1, 1_010, "lost", 1, "EOF"), (3, 999, "lost", 1, "")], True),  # gone before
        ([*TWO, (1, 500, "lost", 1, ""), (3, 500, "lost", 1, "")], NOBODY_THERE),
        (
            [
                *TWO,
                (3, 500, "lost", 1, ""),
                (3, 600, "connected", 2, "rmq2 pika"),
                (1, 1_010, "lost", 1, ""),
            ],
            True,  # the consumer had gone elsewhere
        ),
        ([(1, 100, "connected", 1, "rmq2 pika")], NOBODY_THERE),
        ([*TWO[:1], (4, 100, "connected", 1, "rmq1 pika"), (1, 1_010, "lost", 1, "")], True),
        ([(1, 100, "attached", 1, "rkt1")], None),
        ([], None),
    ],
)
def test_clients_are_cut_off_if_all_target_connections_end(
    tmp_path: Path, events: list[tuple[int, int, str, int, str]], expected: object
) -> None:
    assert cut_off(tmp_path, events) == expected


@pytest.mark.parametrize(
    "client_endpoint", ["haproxy", "haproxy-pair", {"not_applicable": "nowhere"}, None]
)
def test_behind_a_balancer_the_clients_brokers_are_unknown(
    tmp_path: Path, client_endpoint: str | None
) -> None:
    cut = [*TWO, (1, 1_010, "lost", 1, "EOF"), (3, 1_010, "lost", 1, "EOF")]
    assert cut_off(tmp_path, cut, client_endpoint=client_endpoint) is None


def test_a_window_that_never_opened_cut_off_no_known_client(tmp_path: Path) -> None:
    assert cut_off(tmp_path, TWO, target="") is None


def test_clients_of_a_host_are_those_of_its_processes(tmp_path: Path) -> None:
    cut = [*TWO, (1, 1_010, "lost", 1, "EOF"), (3, 1_010, "lost", 1, "EOF")]
    assert cut_off(tmp_path, cut, target="rmq1/broker") is True


AT_TARGET = [(1, 100, "connected", 1, "rmq1 pika"), (2, 100, "connected", 1, "rmq1 pika")]


def moved(
    tmp_path: Path,
    events: list[tuple[int, int, str, int, str]],
    kind: str = "hang",
    client_endpoint: str = "hosts",
    second: str = "",
) -> bool | dict[str, str] | None:
    """Of a fault of links to rmq1 from 1,000 to 2,000; 1 and 2 are publishers, 3 consumes.

    `second`: the target of the same fault again, from 3,000 to 4,000; "" for none.
    """
    made: Manifest = manifest()
    made.workers += [WorkerRecord("publisher-2", 2, "publisher"), WorkerRecord("c", 3, "consumer")]
    made.windows.append(Window(1, kind, ORIGIN, ORIGIN, 2 * ORIGIN, True, True, ""))
    made.targets.append(TargetRecord(1, "hang", "master of orders", "rmq1"))
    if second:
        times = (3 * ORIGIN, 3 * ORIGIN, 4 * ORIGIN)
        made.windows.append(Window(2, kind, *times, True, True, ""))
        made.targets.append(TargetRecord(2, "hang", "master of orders", second))
    made.state["client_endpoint"] = client_endpoint
    made.save(tmp_path)
    for worker in (1, 2, 3):
        with LogWriter(tmp_path / LOGS / f"worker-{worker}") as log:
            for number, at_ns, word, connection, detail in events:
                if number == worker:
                    log.append(CLIENT_EVENTS, number, at_ns, word, connection, None, detail)
    return reached_another(seal(tmp_path), tmp_path / RAW / f"{CLIENT_EVENTS.name}.parquet")


@pytest.mark.parametrize(
    ("events", "all_moved"),
    [
        ([(1, 1_500, "connected", 2, "rmq2 pika"), (2, 1_999, "connected", 2, "rmq3 pika")], True),
        ([(1, 1_500, "connected", 2, "rmq2 pika")], False),  # the other one noticed nothing
        (
            [(1, 1_500, "connected", 2, "rmq2 pika"), (2, 2_000, "connected", 2, "rmq2 pika")],
            False,
        ),
        (
            [(1, 1_500, "connected", 2, "rmq2 pika"), (2, 1_500, "connected", 2, "rmq1 pika")],
            False,
        ),
        ([(1, 1_500, "connected", 2, "rmq2 pika"), (2, 900, "lost", 1, "")], True),  # not there
    ],
)
def test_clients_moved_if_each_publisher_of_the_target_reconnected(
    tmp_path: Path, events: list[tuple[int, int, str, int, str]], all_moved: bool
) -> None:
    consumer = (3, 100, "connected", 1, "rmq1 pika")  # no query reaches it
    assert moved(tmp_path, [*AT_TARGET, consumer, *events]) is all_moved


def test_moved_clients_are_known_only_from_links_with_hosts(
    tmp_path: Path,
) -> None:
    paths = iter(tmp_path / name for name in "abc")
    for kind, client_endpoint, events in (
        ("kill", "hosts", AT_TARGET),
        ("hang", "haproxy", AT_TARGET),
        ("hang", "hosts", []),
    ):
        path = next(paths)
        path.mkdir()
        answer = moved(path, events, kind, client_endpoint)
        assert isinstance(answer, dict) if kind == "kill" else answer is None


NO_PUBLISHER_THERE = {
    "not_applicable": "no publisher was connected to the target when the fault began"
}
ELSEWHERE = [(1, 100, "connected", 1, "rmq2 pika"), (2, 100, "connected", 1, "rmq2 pika")]


@pytest.mark.parametrize(
    "events",
    [
        ELSEWHERE,
        [*ELSEWHERE, (3, 100, "connected", 1, "rmq1 pika")],  # a consumer is there
        [*AT_TARGET, (1, 900, "lost", 1, ""), (2, 900, "lost", 1, "")],  # they had left
    ],
)
def test_no_publisher_moved_if_none_was_connected_to_the_target(
    tmp_path: Path, events: list[tuple[int, int, str, int, str]]
) -> None:
    assert moved(tmp_path, events) == NO_PUBLISHER_THERE


def test_a_fault_that_hit_no_publisher_decides_nothing_for_others(tmp_path: Path) -> None:
    one = (1, 1_500, "connected", 2, "rmq2 pika")
    both = [*AT_TARGET, one, (2, 1_500, "connected", 2, "rmq2 pika")]
    for name, events, answer in (("all", both, True), ("some", [*AT_TARGET, one], False)):
        folder = tmp_path / name
        folder.mkdir()
        assert moved(folder, events, second="rmq3") is answer


@pytest.mark.parametrize(("reported", "expected"), [(True, True), (False, None), (None, None)])
def test_an_old_connection_counts_only_if_its_end_would_be_reported(
    tmp_path: Path, reported: bool | None, expected: bool | None
) -> None:
    """Of a kill of rmq1: its publisher had been connected to rmq2 before."""
    made: Manifest = manifest()
    made.windows.append(Window(1, "kill", ORIGIN, ORIGIN, 2 * ORIGIN, True, True, ""))
    made.targets.append(TargetRecord(1, "kill", "master of orders", "rmq1"))
    made.state |= {
        "client_endpoint": "hosts",
        "reconnect_s": 1e-7,
        "windows": {"1": {REPORT_LOST: reported}},
    }
    made.save(tmp_path)
    with LogWriter(tmp_path / LOGS / "publisher-1") as log:
        for connection, (at_ns, detail) in enumerate(((100, "rmq2 pika"), (500, "rmq1 pika"))):
            log.append(CLIENT_EVENTS, 1, at_ns, "connected", connection, None, detail)
    sealed = seal(tmp_path)
    found = moved_in_windows(sealed, tmp_path / RAW / f"{CLIENT_EVENTS.name}.parquet")
    assert found == {"1": {MOVED: expected}}


@pytest.mark.parametrize(
    ("events", "reconnect_s", "ended", "expected"),
    [
        ([(1, 1_500, 2, "rmq2 pika"), (2, 1_999, 2, "rmq3 pika")], 1e-7, {}, True),
        (ONE_MOVED, 1e-7, {}, False),
        ([*ONE_MOVED, (2, 1_500, 2, "rmq1 pika")], 1e-7, {}, False),
        ([*ONE_MOVED, (2, 2_000, 2, "rmq2 pika")], 1e-7, {}, False),
        (ONE_MOVED, 1e-6, {}, None),  # it had less time than it may need
        (ONE_MOVED, None, {}, None),
        (ONE_MOVED, 1e-7, {"log_closed": False}, None),  # the rest of its log is not there
        (ONE_MOVED, 1e-7, {"ended_early": True}, None),  # it lost the harness, and ended
        (ONE_MOVED, 1e-7, KILLED | {"killed_ns": 900}, True),  # before: it had no connection
        (ONE_MOVED, 1e-7, KILLED | {"killed_ns": 1_200}, None),
        ([], 1e-7, KILLED | {"killed_ns": 900}, False),  # the other one kept away
    ],
)
def test_publishers_of_a_dead_host_move_if_each_connects_to_another(
    tmp_path: Path,
    events: list[tuple[int, int, int, str]],
    reconnect_s: float | None,
    ended: dict[str, Any],
    expected: bool | None,
) -> None:
    """Of a kill of rmq1 from 1,000 to 2,000, to which both publishers were connected. `ended`: how
    the second one did."""
    before = [(1, 100, 1, "rmq1 pika"), (2, 100, 1, "rmq1 pika")]
    made: Manifest = manifest()
    made.workers.append(WorkerRecord("publisher-2", 2, "publisher"))
    made.windows.append(Window(1, "kill", ORIGIN, ORIGIN, 2 * ORIGIN, True, True, ""))
    made.targets.append(TargetRecord(1, "kill", "master of orders", "rmq1"))
    made.state |= {"client_endpoint": "hosts", "reconnect_s": reconnect_s}
    made.save(tmp_path)
    for worker in made.workers:
        with LogWriter(tmp_path / LOGS / worker.name) as log:
            for number, at_ns, connection, detail in (*before, *events):
                if number == worker.number:
                    log.append(CLIENT_EVENTS, number, at_ns, "connected", connection, None, detail)
    sealed = seal(tmp_path)
    second = next(worker for worker in sealed.workers if worker.number == 2)
    for name, value in ended.items():
        if name == "killed_ns":
            sealed.absences.append(Absence(2, value, None))
        else:
            setattr(second, name, value)
    found = moved_in_windows(sealed, tmp_path / RAW / f"{CLIENT_EVENTS.name}.parquet")
    assert found == {"1": {MOVED: expected}}
