"""Who leads, as members of DLedger groups and controllers tell it."""

import json

import pytest

from harness.workers.remoting import answers, requests
from harness.workers.remoting.commands import Command
from harness.workers.remoting.errors import RequestRefused, WireError
from harness.workers.remoting.headers import RESPONSE, Header
from harness.workers.remoting.leaders import (
    Controllers,
    Replica,
    SyncState,
    controller_says,
    member_says,
)

A, B = Replica("a:1", 1), Replica("b:1", 2)
STATES = {
    "replicasInfoTable": {
        "broker-a": {
            "masterAddress": "b:1",
            "masterEpoch": 3,
            "syncStateSetEpoch": 5,
            "inSyncReplicas": [{"brokerAddress": "b:1", "brokerId": 2}],
            "notInSyncReplicas": [{"brokerAddress": "a:1", "brokerId": 1}],
        }
    }
}
MEMBER = requests.dledger_leader("broker-a", "n0")
TERM = requests.dledger_term("broker-a", "n0", "n1")
SETS = requests.sync_states(["broker-a"])


def answer(body: object = None, code: int = 0, **fields: str) -> Command:
    octets = b"" if body is None else json.dumps(body).encode()
    return Command(Header(code, 0, RESPONSE, fields=fields), octets)


def test_a_member_is_queried_by_its_group_and_its_id() -> None:
    assert json.loads(MEMBER.body) == {"group": "broker-a", "remoteId": "n0"}


def test_a_heartbeat_of_an_old_term_queries_the_term() -> None:
    body = json.loads(TERM.body)
    assert body["term"] < 0
    assert body["leaderId"] != body["remoteId"]  # no broker follows itself


@pytest.mark.parametrize(("leader", "found"), [("n2", "n2"), (None, "")])
def test_a_member_reports_its_leader_or_that_it_has_none(leader: str | None, found: str) -> None:
    said = answer({"code": 200, "leaderId": leader}, 200)
    assert answers.dledger_leader(MEMBER, said) == found


def test_a_member_of_another_group_reports_nothing() -> None:
    with pytest.raises(WireError, match="another group"):
        answers.dledger_leader(MEMBER, answer({"code": 402, "leaderId": None}, 200))


def test_the_refusal_of_a_heartbeat_reports_the_term() -> None:
    assert answers.dledger_term(TERM, answer({"code": 406, "term": 7}, 200)) == 7


@pytest.mark.parametrize("said", [{"code": 406}, {"term": -1}, {"term": "7"}])
def test_no_term_is_never_guessed(said: object) -> None:
    with pytest.raises(WireError, match="no term"):
        answers.dledger_term(TERM, answer(said, 200))


def test_a_controller_reports_the_leader_and_whether_it_leads() -> None:
    said = answer(controllerLeaderId="n1", isLeader="true")
    assert answers.controllers(requests.controllers(), said) == Controllers("n1", True)
    said = answer(isLeader="false")
    assert answers.controllers(requests.controllers(), said) == Controllers("", False)


def test_leading_controller_reports_master_epochs_and_in_sync_members() -> None:
    assert json.loads(SETS.body) == ["broker-a"]
    found = answers.sync_states(SETS, answer(STATES))
    assert found == {"broker-a": SyncState("b:1", 3, 5, (B,), (A,))}


def test_one_that_does_not_lead_refuses() -> None:
    with pytest.raises(RequestRefused):
        answers.sync_states(SETS, answer(code=2007))


@pytest.mark.parametrize("body", [[], {}, {"replicasInfoTable": {"broker-a": {}}}])
def test_a_reply_without_sets_is_an_error(body: object) -> None:
    with pytest.raises(WireError):
        answers.sync_states(SETS, answer(body))


def test_leader_changes_are_reported_one_per_sentence() -> None:
    assert str(member_says("broker-a", "n2", 4)) == "broker-a: n2 leads, term 4"
    assert str(member_says("broker-a", "", 5)) == "broker-a: no broker leads, term 5"
    state = SyncState("b:1", 3, 5, (A, B), ())
    assert str(controller_says(Controllers("n1", True), {"broker-a": state})) == (
        "controllers: n1 leads; broker-a: b:1 is master, epoch 3; "
        "broker-a in sync: a:1, b:1, epoch 5"
    )
    leaderless = SyncState("", 3, 5, (), ())
    assert "no broker is master" in str(controller_says(Controllers("", True), {"g": leaderless}))


def test_new_and_ended_leaderships_are_changes() -> None:
    before, after = member_says("g", "n0", 1), member_says("g", "n1", 2)
    assert after.since(before) == (
        "says g: n1 leads, term 2",
        "no longer says g: n0 leads, term 1",
    )
    assert after.since(after) == ()
    assert after.since(None) == ("says g: n1 leads, term 2",)
