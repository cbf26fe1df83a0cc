"""What proves a fault, what does not, and the near misses; of links: test_verify_links.py."""

from dataclasses import replace

import pytest

from faults.core.model import Drops, ProcessState, Reply, Successor
from faults.core.replies import SILENCE_S
from faults.kinds.alarms.rules import alarm_gone, alarm_held
from faults.kinds.clients import rules as clients
from faults.kinds.network.rules import CutEvidence, LinkEvidence, cut_gone, filter_cut, links_cut
from faults.kinds.processes.rules import freeze_gone, freeze_held, kill_gone, kill_held, stop_held

ANSWERED = Reply(True, 0.002, "answered")
SILENT = Reply(False, SILENCE_S + 0.1, "silent for 2.1 s")
CLOSED = Reply(False, 0.01, "closed")
TO_1, TO_3 = ("rmq2", "rmq1"), ("rmq2", "rmq3")
BESIDE = ("rmq1", "rmq3")
CUT = CutEvidence(
    before={"rmq2": {TO_1: 3, TO_3: 0}},
    after={"rmq2": {TO_1: 5, TO_3: 1}},
    attempts={TO_1: SILENT, TO_3: SILENT},
    alive={"rmq1": ANSWERED, "rmq3": ANSWERED},
    beside={BESIDE: ANSWERED},
)


def test_a_kill_held_if_the_process_died_of_sigkill() -> None:
    assert kill_held(ProcessState(False, 137)).ok


@pytest.mark.parametrize("state", [ProcessState(True, None), ProcessState(False, 143)])
def test_a_kill_did_not_hold_otherwise(state: ProcessState) -> None:
    assert not kill_held(state).ok


def test_a_process_that_ended_by_itself_was_not_killed() -> None:
    assert "ended with exit code 0, not 137 (SIGKILL)" in kill_held(ProcessState(False, 0)).doubt


def test_a_kill_is_gone_if_the_process_runs_and_answers() -> None:
    assert kill_gone(ProcessState(True, None), ANSWERED).ok


@pytest.mark.parametrize(
    ("state", "greets"),
    [
        (ProcessState(False, 137), None),
        (ProcessState(True, None), SILENT),
        (ProcessState(True, None), Reply(False, 0.0, "refused", "refused")),
    ],
)
def test_a_kill_is_not_gone_without_an_answer(state: ProcessState, greets: Reply | None) -> None:
    assert not kill_gone(state, greets).ok


@pytest.mark.parametrize("code", [0, 143])
def test_a_stop_held_if_the_process_ended_by_sigterm(code: int) -> None:
    assert stop_held(ProcessState(False, code)).ok


@pytest.mark.parametrize(
    ("state", "doubt"),
    [
        (ProcessState(True, None), "has not ended"),
        (ProcessState(True, None, frozen=True), "has not ended"),
        (
            ProcessState(False, 137),
            "ended with exit code 137",
        ),  # its patience ended, or somebody's
        (ProcessState(False, 1), "ended with exit code 1"),
        (ProcessState(False, None), "ended with exit code None"),  # several, and not alike
    ],
)
def test_a_stop_did_not_hold_otherwise(state: ProcessState, doubt: str) -> None:
    assert doubt in stop_held(state).doubt


FROZEN = ProcessState(True, None, frozen=True)


def test_a_freeze_needs_a_halted_process_and_silent_port() -> None:
    assert freeze_held(FROZEN, SILENT).ok


@pytest.mark.parametrize(
    ("state", "greets", "doubt"),
    [
        (ProcessState(True, None), None, "not frozen"),
        (ProcessState(True, None), SILENT, "not frozen"),
        (ProcessState(False, 137), None, "does not run"),
        (FROZEN, None, "not frozen"),
        (FROZEN, ANSWERED, "its port is not silent: answered"),
        (FROZEN, CLOSED, "its port is not silent: closed"),
    ],
)
def test_a_freeze_did_not_hold_otherwise(
    state: ProcessState, greets: Reply | None, doubt: str
) -> None:
    assert doubt in freeze_held(state, greets).doubt


def test_a_freeze_ended_if_the_process_runs_and_responds() -> None:
    assert freeze_gone(ProcessState(True, None), ANSWERED).ok
    assert freeze_gone(ProcessState(True, None), replace(CLOSED, end="refused")).ok


@pytest.mark.parametrize(
    ("state", "greets", "doubt"),
    [
        (FROZEN, None, "still frozen"),
        (FROZEN, ANSWERED, "still frozen"),
        (ProcessState(True, None), SILENT, "runs on, but: silent"),
        (ProcessState(True, None), None, "still frozen"),
        (ProcessState(False, 137), None, "does not run"),
    ],
)
def test_a_freeze_is_not_gone_otherwise(
    state: ProcessState, greets: Reply | None, doubt: str
) -> None:
    assert doubt in freeze_gone(state, greets).doubt


def test_a_partition_is_active_if_our_chain_dropped_packets() -> None:
    proof = filter_cut(CUT)
    assert proof.ok and "across the cut got no answer for 2 s; " in proof.detail
    assert " dropped; rmq1, rmq3 answered other hosts" in proof.detail
    once = filter_cut(replace(CUT, beside={BESIDE: ANSWERED})).detail
    assert once.endswith("; 1 test connection outside the cut worked")


def test_a_refused_way_beside_a_partition_is_open() -> None:
    assert filter_cut(replace(CUT, beside={BESIDE: CLOSED})).ok


def test_one_peer_that_is_down_does_not_hide_a_partition() -> None:
    assert filter_cut(replace(CUT, alive={"rmq1": CLOSED, "rmq3": ANSWERED})).ok


@pytest.mark.parametrize(
    ("evidence", "doubt"),
    [
        (replace(CUT, before={"rmq2": None}), "no chain"),
        (replace(CUT, after={"rmq2": None}), "no chain"),
        (replace(CUT, after=CUT.before), "dropped nothing during an attempt: rmq2 -> rmq1; rmq2"),
        (replace(CUT, after={"rmq2": {TO_1: 9, TO_3: 0}}), "an attempt: rmq2 -> rmq3"),
        (replace(CUT, after={"rmq2": {TO_1: 5}}), "drops other ways than it should: rmq2 -> rmq1"),
        (
            replace(CUT, after={"rmq2": {TO_1: 5, TO_3: 1, TO_3[::-1]: 0}}),
            "other ways than it should: rmq2 -> rmq1; rmq2 -> rmq3; rmq3 -> rmq2",
        ),
        (replace(CUT, beside={BESIDE: SILENT}), "more is cut than was meant: rmq1 -> rmq3"),
        (replace(CUT, attempts={TO_1: SILENT, TO_3: ANSWERED}), "not silent: rmq2 -> rmq3"),
        (replace(CUT, attempts={TO_1: CLOSED, TO_3: SILENT}), "rmq1: closed"),
        (replace(CUT, alive={"rmq1": CLOSED, "rmq3": SILENT}), "no host listens"),
        (replace(CUT, alive={}), "no host listens"),
    ],
)
def test_a_partition_did_not_hold_otherwise(evidence: CutEvidence, doubt: str) -> None:
    assert doubt in filter_cut(evidence).doubt


WAYS = (("rmq2", "rmq1"), ("rmq1", "rmq2"), ("rmq2", "rmq3"), ("rmq3", "rmq2"))
STALLED = LinkEvidence(
    links=dict.fromkeys(WAYS, SILENT),
    direct=dict.fromkeys(("rmq1", "rmq2", "rmq3"), ANSWERED),
    beside={BESIDE: ANSWERED, BESIDE[::-1]: ANSWERED},
)


def test_a_partition_by_proxy_needs_silent_links_and_speaking_hosts() -> None:
    proof = links_cut(STALLED)
    assert proof.ok
    assert proof.detail.startswith("4 links silent")


def test_a_link_to_a_down_host_is_no_evidence() -> None:
    down = replace(
        STALLED,
        links={**STALLED.links, ("rmq3", "rmq2"): CLOSED},
        direct={**STALLED.direct, "rmq3": CLOSED},
    )
    assert links_cut(down).detail.startswith("3 links silent")


@pytest.mark.parametrize(
    ("links", "direct", "doubt"),
    [
        ({WAYS[1]: ANSWERED}, {}, "not silent: rmq1 -> rmq2: answered"),
        ({WAYS[2]: CLOSED}, {}, "not silent: rmq2 -> rmq3: closed"),
        ({}, dict.fromkeys(("rmq1", "rmq2", "rmq3"), SILENT), "no host listens beyond the cut"),
    ],
)
def test_a_partition_by_proxy_did_not_hold_otherwise(
    links: dict[tuple[str, str], Reply], direct: dict[str, Reply], doubt: str
) -> None:
    seen = LinkEvidence({**STALLED.links, **links}, {**STALLED.direct, **direct})
    assert doubt in links_cut(seen).doubt


def test_a_partition_by_proxy_that_stalls_another_link_is_unproved() -> None:
    seen = replace(STALLED, beside={BESIDE: ANSWERED, BESIDE[::-1]: SILENT})
    assert "more is cut than was meant: rmq3 -> rmq1" in links_cut(seen).doubt


def test_a_link_beside_a_partition_needs_its_speaker_alive() -> None:
    down = {**STALLED.direct, "rmq1": CLOSED}
    assert links_cut(replace(STALLED, direct=down, beside={BESIDE: SILENT})).ok


def test_a_partition_ended_if_attempts_succeed_or_are_refused() -> None:
    proof = cut_gone({"rmq2": None}, {TO_1: ANSWERED, TO_3: CLOSED})
    assert proof.ok and proof.detail.startswith("mqproof blocks no traffic any more; reached: ")


@pytest.mark.parametrize(
    ("packets", "attempts"),
    [
        ({TO_1: 0}, {TO_1: ANSWERED, TO_3: ANSWERED}),
        (None, {TO_1: ANSWERED, TO_3: SILENT}),
        (None, {TO_1: CLOSED, TO_3: CLOSED}),
        (None, {}),
    ],
)
def test_a_partition_is_not_gone_otherwise(
    packets: Drops | None, attempts: dict[tuple[str, str], Reply]
) -> None:
    assert not cut_gone({"rmq2": packets}, attempts).ok


NO_ALARM = {"rmq1": False, "rmq2": False}
ALARM = {"rmq1": True, "rmq2": False}


def test_an_alarm_is_active_if_all_answering_brokers_report_it() -> None:
    assert alarm_held("rmq1", "memory", {"rmq1": ALARM, "rmq2": ALARM}).ok
    assert alarm_held("rmq1", "memory", {"rmq1": ALARM}).ok


@pytest.mark.parametrize(
    ("said", "doubt"),
    [
        ({}, "rmq1 does not say"),
        ({"rmq2": ALARM}, "rmq1 does not say"),
        ({"rmq1": {"rmq2": True}}, "rmq1 does not say"),
        ({"rmq1": NO_ALARM, "rmq2": NO_ALARM}, "by the word of rmq1, rmq2"),
        ({"rmq1": ALARM, "rmq2": NO_ALARM}, "by the word of rmq2"),
        ({"rmq1": {"rmq1": False, "rmq2": True}}, "by the word of rmq1"),
    ],
)
def test_an_alarm_did_not_hold_otherwise(said: dict[str, dict[str, bool]], doubt: str) -> None:
    assert doubt in alarm_held("rmq1", "memory", said).doubt


def test_an_alarm_is_gone_if_no_answering_host_knows_one() -> None:
    assert alarm_gone("rmq1", "disk", {"rmq1": NO_ALARM, "rmq2": NO_ALARM}).ok


@pytest.mark.parametrize(
    ("said", "doubt"),
    [
        ({}, "rmq1 does not say"),
        ({"rmq2": NO_ALARM}, "rmq1 does not say"),
        ({"rmq1": ALARM, "rmq2": NO_ALARM}, "still a disk alarm of rmq1"),
        ({"rmq1": NO_ALARM, "rmq2": ALARM}, "still a disk alarm of rmq1"),
        ({"rmq1": {"rmq1": False, "rmq2": True}}, "still a disk alarm of rmq2"),
    ],
)
def test_an_alarm_is_not_gone_otherwise(said: dict[str, dict[str, bool]], doubt: str) -> None:
    assert doubt in alarm_gone("rmq1", "disk", said).doubt


RUNNING, DEAD = ProcessState(True, None), ProcessState(False, 137)


def test_a_client_freeze_needs_halted_and_silent_processes() -> None:
    assert clients.freeze_held({"a": FROZEN, "b": FROZEN}, {"a": SILENT, "b": SILENT}).ok


@pytest.mark.parametrize(
    ("states", "answers", "doubt"),
    [
        ({}, {}, "no client is meant"),
        ({"a": FROZEN, "b": DEAD}, {"a": SILENT}, "b does not run"),
        ({"a": FROZEN, "b": RUNNING}, {"a": SILENT}, "b is not frozen"),
        ({"a": RUNNING}, {"a": SILENT}, "a is not frozen"),
        ({"a": FROZEN}, {}, "not silent: a: not queried"),
        ({"a": FROZEN}, {"a": ANSWERED}, "not silent: a: answered"),
        ({"a": FROZEN}, {"a": Reply(False, 0.1, "no pong")}, "not silent: a: no pong"),
    ],
)
def test_clients_are_not_frozen_otherwise(
    states: dict[str, ProcessState], answers: dict[str, Reply], doubt: str
) -> None:
    assert doubt in clients.freeze_held(states, answers).doubt


def test_a_client_freeze_ended_if_all_processes_run_and_answer() -> None:
    both = clients.freeze_gone({"a": RUNNING, "b": RUNNING}, {"a": ANSWERED, "b": ANSWERED})
    assert both.ok and both.detail == "a, b run again and answer"
    assert (
        clients.freeze_gone({"a": RUNNING}, {"a": ANSWERED}).detail == "a runs again and answers"
    )


@pytest.mark.parametrize(
    ("states", "answers", "doubt"),
    [
        ({}, {}, "no client is meant"),
        ({"a": RUNNING, "b": DEAD}, {"a": ANSWERED}, "b does not run"),
        ({"a": RUNNING, "b": FROZEN}, {"a": ANSWERED}, "b is still frozen"),
        ({"a": RUNNING, "b": RUNNING}, {"a": ANSWERED, "b": SILENT}, "b: silent"),
        ({"a": RUNNING}, {}, "a: not queried"),
    ],
)
def test_a_freeze_of_clients_is_not_gone_otherwise(
    states: dict[str, ProcessState], answers: dict[str, Reply], doubt: str
) -> None:
    assert doubt in clients.freeze_gone(states, answers).doubt


def test_a_client_crash_is_active_after_sigkill_and_closed_connections() -> None:
    assert clients.crash_held({"a": DEAD, "b": DEAD}, ()).ok


@pytest.mark.parametrize(
    ("states", "connected", "doubt"),
    [
        ({}, (), "no client is meant"),
        ({"a": DEAD, "b": RUNNING}, (), "b still runs"),
        ({"a": DEAD, "b": FROZEN}, (), "b still runs"),
        ({"a": ProcessState(False, 0)}, (), "a ended with 0, not by SIGKILL"),
        ({"a": ProcessState(False, None)}, (), "a ended with None, not by SIGKILL"),
        ({"a": DEAD, "b": DEAD}, ("b",), "still lists a connection of b"),
    ],
)
def test_a_crash_of_clients_did_not_hold_otherwise(
    states: dict[str, ProcessState], connected: tuple[str, ...], doubt: str
) -> None:
    assert doubt in clients.crash_held(states, connected).doubt


AT_WORK = Successor("c", connected=True, at_work=True)


@pytest.mark.parametrize("last", [AT_WORK, Successor("", connected=False, at_work=False)])
def test_a_client_crash_ended_if_needed_successors_work(last: Successor) -> None:
    assert clients.crash_gone({"a": AT_WORK, "b": last}).ok


@pytest.mark.parametrize(
    ("successor", "doubt"),
    [
        (None, "no client has taken the place of b"),
        (Successor("d", connected=False, at_work=True), "lists no connection of d"),
        (Successor("d", connected=True, at_work=False), "d is connected, and not at work"),
    ],
)
def test_a_crash_of_clients_is_not_gone_otherwise(successor: Successor | None, doubt: str) -> None:
    assert doubt in clients.crash_gone({"a": AT_WORK, "b": successor}).doubt
