"""What proves that a host is alone, or that ways come and go, and the near misses."""

from dataclasses import replace

import pytest

from faults.core.model import ANYBODY, Drops, ProcessState, Reply
from faults.core.replies import SILENCE_S
from faults.kinds.network.flap_rules import Moment, filter_moment, flap_held, links_moment
from faults.kinds.network.isolation_rules import (
    IsolationEvidence,
    entered,
    filter_isolated,
    links_isolated,
    runs,
)
from faults.kinds.network.rules import LinkEvidence

ANSWERED = Reply(True, 0.002, "answered")
SILENT = Reply(False, SILENCE_S + 0.1, "silent for 2.1 s")
CLOSED = Reply(False, 0.01, "closed")
OUT, IN = ("rmq2", ANYBODY), (ANYBODY, "rmq2")
TO, FROM = ("rmq2", "rmq1"), ("rmq1", "rmq2")
ALONE = IsolationEvidence(
    host="rmq2",
    attempts={TO: SILENT, FROM: SILENT},
    entries={"listener": SILENT},
    beside={("rmq1", "rmq3"): ANSWERED},
    direct={"rmq1": ANSWERED, "rmq2": ANSWERED},
)
BEFORE, AFTER = {OUT: 3, IN: 0}, {OUT: 4, IN: 2}


def test_a_host_is_isolated_by_filter_drops_and_mutual_silence() -> None:
    """Require drops in and out of the host, while every peer and client met silence."""
    proof = filter_isolated(ALONE, BEFORE, AFTER)
    assert proof.detail.startswith(
        "test connections got no answer for 2 s: 2 between hosts, 1 of clients; "
    )


@pytest.mark.parametrize(
    ("changes", "after", "doubt"),
    [
        ({}, None, "no chain"),
        ({}, {OUT: 4, IN: 0}, "dropped nothing: * -> rmq2"),
        ({}, {OUT: 3, IN: 2}, "dropped nothing: rmq2 -> *"),
        ({}, {TO: 9, FROM: 9}, "dropped nothing"),  # a partition's chain
        ({"attempts": {TO: SILENT, FROM: CLOSED}}, AFTER, "not silent: rmq1 -> rmq2"),
        ({"entries": {"listener": ANSWERED}}, AFTER, "not silent to clients: listener"),
        ({"entries": {"listener": CLOSED}}, AFTER, "not silent to clients: listener"),
        ({"beside": {("rmq1", "rmq3"): SILENT}}, AFTER, "more is cut than was meant"),
    ],
)
def test_a_host_was_not_alone_otherwise(
    changes: dict[str, object], after: Drops | None, doubt: str
) -> None:
    evidence = replace(ALONE, **changes)  # type: ignore[arg-type]
    assert doubt in filter_isolated(evidence, BEFORE, after).doubt


def test_a_host_isolated_by_proxy_answers_only_past_it() -> None:
    assert links_isolated(ALONE).ok


@pytest.mark.parametrize(
    ("changes", "doubt"),
    [
        (
            {"direct": {"rmq1": ANSWERED, "rmq2": SILENT}},
            "was not heard past mqproof's Toxiproxy, either",
        ),
        ({"direct": {"rmq1": ANSWERED}}, "was not heard past mqproof's Toxiproxy, either"),
        ({"attempts": {TO: SILENT, FROM: ANSWERED}}, "not silent: rmq1 -> rmq2"),
        ({"entries": {"listener": ANSWERED}}, "not silent to clients"),
        ({"beside": {("rmq1", "rmq3"): SILENT}}, "more is cut than was meant"),
    ],
)
def test_a_host_was_not_alone_by_proxy_otherwise(changes: dict[str, object], doubt: str) -> None:
    assert doubt in links_isolated(replace(ALONE, **changes)).doubt  # type: ignore[arg-type]


def test_a_down_hosts_silence_is_no_evidence_about_its_links() -> None:
    down = {"rmq1": CLOSED, "rmq2": ANSWERED}
    assert links_isolated(replace(ALONE, direct=down, attempts={TO: SILENT, FROM: CLOSED})).ok


@pytest.mark.parametrize(
    ("state", "ok"),
    [
        (ProcessState(True, None), True),
        (ProcessState(True, None, frozen=True), False),
        (ProcessState(False, 137), False),
    ],
)
def test_only_a_host_whose_process_runs_can_be_isolated(state: ProcessState, ok: bool) -> None:
    assert runs(state).ok == ok


def test_isolation_ended_if_clients_reach_the_host_whatever_it_answers() -> None:
    assert entered({"listener": ANSWERED}).ok
    assert entered({"listener": replace(CLOSED, end="fin")}).ok
    assert "nothing comes through by listener" in entered({"listener": SILENT}).doubt


WAYS = (TO, FROM)
WAIT_S = 0.2
LATE = Reply(False, WAIT_S - 0.01, "silent for 0.19 s")  # by a clock of hundredths


@pytest.mark.parametrize(
    ("drops", "reply", "moment"),
    [
        ({TO: 1, FROM: 2}, LATE, Moment.CUT),
        ({TO: 1, FROM: 0}, LATE, Moment.UNSURE),
        ({TO: 1}, LATE, Moment.UNSURE),
        ({TO: 1, FROM: 2}, ANSWERED, Moment.CUT),  # joined just now: it dropped before
        (None, ANSWERED, Moment.OPEN),
        (None, CLOSED, Moment.OPEN),
        (None, LATE, Moment.UNSURE),
    ],
)
def test_one_sample_of_a_filter_is_cut_open_or_changing(
    drops: Drops | None, reply: Reply, moment: Moment
) -> None:
    assert filter_moment(WAYS, {"rmq2": drops}, dict.fromkeys(WAYS, reply), WAIT_S) is moment


def test_a_cut_by_several_hosts_needs_all_their_chains() -> None:
    ways = (*WAYS, ("rmq1", "rmq3"))
    chains: dict[str, Drops | None] = {"rmq2": {TO: 1, FROM: 1}, "rmq3": None}
    assert filter_moment(ways, chains, dict.fromkeys(ways, LATE), WAIT_S) is Moment.UNSURE


@pytest.mark.parametrize(
    ("first", "second", "moment"),
    [
        (LATE, LATE, Moment.CUT),
        (ANSWERED, ANSWERED, Moment.OPEN),
        (LATE, ANSWERED, Moment.UNSURE),
        (LATE, CLOSED, Moment.UNSURE),
        (CLOSED, CLOSED, Moment.UNSURE),
    ],
)
def test_one_sample_of_links_is_cut_open_or_changing(
    first: Reply, second: Reply, moment: Moment
) -> None:
    direct = {"rmq1": ANSWERED, "rmq2": ANSWERED}
    assert links_moment(LinkEvidence({TO: first, FROM: second}, direct), WAIT_S) is moment


def test_links_of_hosts_that_are_down_show_nothing() -> None:
    down = {"rmq1": CLOSED, "rmq2": CLOSED}
    silent = LinkEvidence(dict.fromkeys(WAYS, LATE), down)
    assert links_moment(silent, WAIT_S) is Moment.UNSURE


@pytest.mark.parametrize(
    ("letters", "ok"),
    [
        ("cuouc", True),
        ("occocc", True),
        ("", False),
        ("ccc", False),
        ("coo", False),
        ("ocu", False),
    ],
)
def test_cut_open_and_cut_again_prove_a_flap(letters: str, ok: bool) -> None:
    words = {"c": Moment.CUT, "o": Moment.OPEN, "u": Moment.UNSURE}
    proof = flap_held([words[letter] for letter in letters])
    assert proof.ok == ok
    assert bool(proof.doubt) != ok
