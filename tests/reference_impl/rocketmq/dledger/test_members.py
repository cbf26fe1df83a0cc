"""Groups of members: who leads when, what is confirmed when, and what they tell others."""

import json

import pytest

from reference_impl.rocketmq.dledger.messages import MemberCode
from reference_impl.rocketmq.remoting.codes import Code
from reference_impl.rocketmq.simulator.world import World
from tests.reference_impl.rocketmq.dledger.groups import GROUP, PORT, DledgerGroup
from tests.reference_impl.rocketmq.talking import Client

SECRET = "a secret of a group"


def _led(group: DledgerGroup) -> str:
    assert group.until(lambda: group.leader() != "", 10_000)
    return group.leader()


@pytest.mark.parametrize("size", [3, 5])
def test_a_new_group_has_one_leader_within_seconds(size: int) -> None:
    group = DledgerGroup(World(1), size)
    leader = _led(group)
    group.world.run(3_000)
    assert group.leaders() == [leader]
    assert {group.member(name).leader for name in group.names} == {leader}


def test_a_number_is_confirmed_by_a_majority_and_reaches_everybody() -> None:
    group = DledgerGroup(World(2), 3)
    leader = _led(group)
    group.append(leader, 7)
    assert group.until(lambda: group.watch.confirmed == {7}, 100)
    group.world.run(2_500)
    assert [group.numbers(name) for name in group.names] == [[7]] * 3


def test_after_a_leaders_death_another_leads_within_nine_seconds() -> None:
    """Three heartbeats of two seconds are missed first."""
    group = DledgerGroup(World(3), 3)
    leader = _led(group)
    group.world.run(5_000)
    group.world.crash(leader)
    group.world.run(4_000)
    assert group.leaders() == []
    assert group.until(lambda: group.leader() != "", 5_000)


def test_a_follower_that_missed_much_gets_it_all() -> None:
    group = DledgerGroup(World(4), 3)
    leader = _led(group)
    follower = next(name for name in group.names if name != leader)
    group.world.crash(follower)
    for number in range(300):
        group.append(leader, number)
    group.world.run(1_000)
    group.world.start(follower)
    group.world.run(5_000)
    assert group.numbers(follower) == [*range(300)]


def test_an_append_without_a_majority_fails_but_may_commit_later() -> None:
    group = DledgerGroup(World(5), 3)
    leader = _led(group)
    others = [name for name in group.names if name != leader]
    for name in others:
        group.world.freeze(name)
    fates = list[bool]()
    group.world.call(leader, lambda _: _appended(group, leader, fates))
    group.world.run(2_400)
    assert fates == []
    group.world.run(200)
    assert fates == [False]
    for name in others:
        group.world.thaw(name)
    group.world.run(3_000)
    assert group.numbers(leader) == [1]


def _appended(group: DledgerGroup, leader: str, fates: list[bool]) -> list[object]:  # type: ignore[type-arg]
    group.member(leader).append(lambda _: b"1")
    group.member(leader).wait(fates.append)
    return []


def test_a_thawed_leader_claims_leadership_until_it_hears_its_successor() -> None:
    group = DledgerGroup(World(6), 3)
    old = _led(group)
    group.world.run(1_000)
    group.world.freeze(old)
    assert group.until(lambda: len(group.leaders()) == 2, 12_000)
    group.append(old, 1)
    group.world.thaw(old)
    group.append(old, 2)
    assert group.until(lambda: group.leaders() == [group.leader()], 3_000)
    assert group.leader() != old
    group.append(group.leader(), 3)
    group.world.run(3_000)
    assert group.watch.confirmed == {3}
    assert [group.numbers(name) for name in group.names] == [[3]] * 3


def test_a_minority_confirms_nothing_and_its_leader_steps_down() -> None:
    group = DledgerGroup(World(7), 5)
    old = _led(group)
    for name in group.names:
        if name != old:
            group.world.cut(old, name)
            group.world.cut(name, old)
    group.append(old, 1)
    group.world.run(12_000)
    assert old not in group.leaders()
    assert len(group.leaders()) == 1
    assert group.watch.confirmed == set()


def test_any_program_learns_who_leads() -> None:
    group = DledgerGroup(World(8), 3)
    leader = _led(group)
    group.world.run(3_000)
    client = Client(group.world)
    body = json.dumps({"group": GROUP, "remoteId": "n0"}).encode()
    answer = client.ask(f"n0:{PORT}", MemberCode.METADATA, body=body)
    metadata = json.loads(answer.body)
    assert (metadata["code"], metadata["leaderId"]) == (200, leader)


def test_an_old_terms_heartbeat_is_refused_with_the_current_term() -> None:
    group = DledgerGroup(World(9), 3, secret=SECRET)
    _led(group)
    group.world.run(3_000)
    client = Client(group.world)
    request = {"group": GROUP, "remoteId": "n0", "leaderId": "n1", "term": -1}
    body = json.dumps(request).encode()
    answer = client.ask(f"n0:{PORT}", MemberCode.HEART_BEAT, body=body)
    assert json.loads(answer.body)["code"] == 403
    assert json.loads(answer.body)["term"] == group.member("n0").term


def test_without_the_secret_nobody_is_voted_for() -> None:
    group = DledgerGroup(World(10), 3, secret=SECRET)
    leader = _led(group)
    group.world.run(3_000)
    client = Client(group.world)
    request = {
        "group": GROUP,
        "remoteId": leader,
        "leaderId": "n1" if leader != "n1" else "n2",
        "term": 99,
        "ledgerEndIndex": 99,
        "ledgerEndTerm": 99,
    }
    body = json.dumps(request).encode()
    answer = client.ask(f"{leader}:{PORT}", MemberCode.VOTE, body=body)
    assert answer.header.code == Code.NO_PERMISSION
    assert group.leaders() == [leader]


def test_octets_that_are_no_message_cost_a_member_nothing() -> None:
    group = DledgerGroup(World(11), 3)
    leader = _led(group)
    client = Client(group.world)
    for code in MemberCode:
        answer = client.ask(f"{leader}:{PORT}", code, body=b"\xff{")
        assert answer.header.code == Code.SYSTEM_ERROR
    client.raw(client.link(f"{leader}:{PORT}"), b"\x00\x00\x00\x01")
    group.world.run(100)
    group.append(leader, 1)
    assert group.until(lambda: group.watch.confirmed == {1}, 1_000)
