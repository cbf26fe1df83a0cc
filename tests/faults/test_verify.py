"""What proves a fault, what does not, and the near misses."""

from dataclasses import replace

import pytest

from faults.model import ProcessState, Reply
from faults.verify import (
    SILENCE_S,
    CutEvidence,
    hang_gone,
    hang_held,
    kill_gone,
    kill_held,
    partition_gone,
    partition_held,
)

ANSWERED = Reply(True, 0.002, "answered")
SILENT = Reply(False, SILENCE_S + 0.1, "silent for 2.1 s")
CLOSED = Reply(False, 0.01, "closed")
LINKS = ("a", "b")
CUT = CutEvidence(
    before=3,
    after=7,
    attempts={"rmq1": SILENT, "rmq3": SILENT},
    alive={"rmq1": ANSWERED, "rmq3": ANSWERED},
)


def test_a_kill_held_if_the_process_died_of_sigkill() -> None:
    assert kill_held(ProcessState(False, 137)).ok


@pytest.mark.parametrize("state", [ProcessState(True, None), ProcessState(False, 143)])
def test_a_kill_did_not_hold_otherwise(state: ProcessState) -> None:
    assert not kill_held(state).ok


def test_a_process_that_ended_by_itself_was_not_killed() -> None:
    assert "ended with 0, not by SIGKILL" in kill_held(ProcessState(False, 0)).doubt


def test_a_kill_is_gone_if_the_process_runs_and_serves() -> None:
    assert kill_gone(ProcessState(True, None), ANSWERED).ok


@pytest.mark.parametrize(
    ("state", "serves"),
    [
        (ProcessState(False, 137), None),
        (ProcessState(True, None), SILENT),
        (ProcessState(True, None), Reply(False, 0.0, "not listed")),
    ],
)
def test_a_kill_is_not_gone_while_nobody_serves(state: ProcessState, serves: Reply | None) -> None:
    assert not kill_gone(state, serves).ok


def test_a_hang_held_if_every_link_was_silent_and_the_host_was_not() -> None:
    assert hang_held({"a": SILENT, "b": SILENT, "direct": ANSWERED}, LINKS).ok


@pytest.mark.parametrize(
    ("replies", "doubt"),
    [
        ({"a": ANSWERED, "b": ANSWERED, "direct": ANSWERED}, "not silent: a: answered"),
        ({"a": SILENT, "b": ANSWERED, "direct": ANSWERED}, "not silent: b: answered"),
        ({"a": SILENT, "direct": ANSWERED}, "not silent: b: not asked"),
        ({"a": SILENT, "b": SILENT, "direct": SILENT}, "the host was not heard"),
        ({"a": SILENT, "b": SILENT}, "the host was not heard"),
    ],
)
def test_a_hang_did_not_hold_otherwise(replies: dict[str, Reply], doubt: str) -> None:
    assert doubt in hang_held(replies, LINKS).doubt


def test_a_closed_link_does_not_hang() -> None:
    assert "b: closed" in hang_held({"a": SILENT, "b": CLOSED, "direct": ANSWERED}, LINKS).doubt


def test_a_hang_is_gone_if_fresh_and_held_connections_answer() -> None:
    replies = {"a": ANSWERED, "b": ANSWERED}
    assert hang_gone(replies, replies, LINKS).ok


def test_a_held_connection_that_was_closed_meanwhile_says_nothing() -> None:
    proof = hang_gone({"a": ANSWERED, "b": ANSWERED}, {"a": CLOSED, "b": ANSWERED}, LINKS)
    assert proof.ok
    assert "1 on held ones" in proof.detail


@pytest.mark.parametrize(
    ("fresh", "held"),
    [
        ({"a": ANSWERED, "b": SILENT}, {"a": ANSWERED, "b": ANSWERED}),
        ({"a": ANSWERED, "b": ANSWERED}, {"a": ANSWERED, "b": SILENT}),
        ({"a": ANSWERED}, {"a": ANSWERED, "b": ANSWERED}),
    ],
)
def test_a_hang_is_not_gone_while_a_link_is_silent(
    fresh: dict[str, Reply], held: dict[str, Reply]
) -> None:
    assert not hang_gone(fresh, held, LINKS).ok


def test_a_partition_held_if_our_chain_dropped_what_was_sent_to_listeners() -> None:
    assert partition_held(CUT).ok


def test_one_peer_that_is_down_does_not_hide_a_partition() -> None:
    assert partition_held(replace(CUT, alive={"rmq1": CLOSED, "rmq3": ANSWERED})).ok


@pytest.mark.parametrize(
    ("evidence", "doubt"),
    [
        (replace(CUT, before=None), "no chain"),
        (replace(CUT, after=None), "no chain"),
        (replace(CUT, after=3), "dropped 0 packets during 2 attempts"),
        (replace(CUT, after=4), "dropped 1 packets during 2 attempts"),
        (replace(CUT, attempts={"rmq1": SILENT, "rmq3": ANSWERED}), "not silent: rmq3"),
        (replace(CUT, attempts={"rmq1": CLOSED, "rmq3": SILENT}), "not silent: rmq1: closed"),
        (replace(CUT, alive={"rmq1": CLOSED, "rmq3": SILENT}), "nobody listens"),
        (replace(CUT, alive={}), "nobody listens"),
    ],
)
def test_a_partition_did_not_hold_otherwise(evidence: CutEvidence, doubt: str) -> None:
    assert doubt in partition_held(evidence).doubt


def test_a_partition_is_gone_if_an_attempt_succeeds_and_a_refusal_came_through() -> None:
    assert partition_gone(None, {"rmq1": ANSWERED, "rmq3": CLOSED}).ok


@pytest.mark.parametrize(
    ("packets", "attempts"),
    [
        (0, {"rmq1": ANSWERED, "rmq3": ANSWERED}),
        (None, {"rmq1": ANSWERED, "rmq3": SILENT}),
        (None, {"rmq1": CLOSED, "rmq3": CLOSED}),
        (None, {}),
    ],
)
def test_a_partition_is_not_gone_otherwise(
    packets: int | None, attempts: dict[str, Reply]
) -> None:
    assert not partition_gone(packets, attempts).ok
