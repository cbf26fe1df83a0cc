"""What the management API says of a quorum queue, as 3.10.8 said it, and what that means."""

from typing import Any

import pytest

from harness.cluster.port import Roles
from harness.systems.catalogue import load_layout
from harness.systems.rabbitmq.core.members import majority, roles_of
from harness.systems.rabbitmq.core.queues import agreed
from harness.systems.rabbitmq_quorum import QUORUM_QUEUES

THREE = load_layout("rabbitmq-quorum", "three")
FIVE = load_layout("rabbitmq-quorum", "five")
QUEUE: dict[str, Any] = {
    "arguments": {"x-queue-type": "quorum", "x-quorum-initial-group-size": 3},
    "durable": True,
    "leader": "rabbit@rqq1",
    "members": ["rabbit@rqq1", "rabbit@rqq3", "rabbit@rqq2"],
    "name": "mqproof.r1.orders",
    "online": ["rabbit@rqq1", "rabbit@rqq3", "rabbit@rqq2"],
    "state": "live",
    "type": "quorum",
}


def online(*hosts: str, leader: str | None) -> dict[str, Any]:
    """As others report it while some are away; `leader` is null while it is unknown."""
    nodes = [f"rabbit@{host}" for host in hosts]
    return QUEUE | {"online": nodes, "leader": f"rabbit@{leader}" if leader else None}


def test_leader_is_the_master_and_running_followers_are_mirrors() -> None:
    assert roles_of(QUEUE) == Roles("rqq1", ("rqq3", "rqq2"), None, synchronised_at_least=1)


def test_a_follower_of_three_reports_no_message_count() -> None:
    roles = roles_of(QUEUE)
    assert roles.synchronised is None
    assert roles.synchronised_known is None
    assert roles.synchronised_min == 1


def test_remaining_members_may_lack_messages_of_leader_and_absent_member() -> None:
    left = roles_of(online("rqq2", "rqq3", leader="rqq3"))
    assert left == Roles("rqq3", ("rqq2",), None, synchronised_at_least=0)


def test_until_a_leader_is_known_there_is_none() -> None:
    assert roles_of(online("rqq2", "rqq3", leader=None)).master is None


def test_a_leader_of_a_minority_leads_nothing() -> None:
    """The last of three goes on calling itself the leader, and can confirm nothing."""
    assert roles_of(online("rqq1", leader="rqq1")).master is None


def test_a_leader_that_does_not_run_is_none() -> None:
    assert roles_of(online("rqq2", "rqq3", leader="rqq1")).master is None


def test_thawed_member_still_reports_the_old_leader_and_is_outvoted() -> None:
    new = roles_of(QUEUE | {"leader": "rabbit@rqq2"})
    said = [roles_of(QUEUE), new, new]
    assert agreed(said, QUORUM_QUEUES.agreeing(3)) == new
    assert agreed(said[:2], QUORUM_QUEUES.agreeing(3)) is None


@pytest.mark.parametrize(("members", "wanted"), [(1, 1), (2, 2), (3, 2), (4, 3), (5, 3)])
def test_a_majority_is_more_than_half(members: int, wanted: int) -> None:
    assert majority(members) == wanted


def test_queue_is_declared_with_the_members_of_the_layout() -> None:
    assert QUORUM_QUEUES.arguments(THREE) == {
        "x-queue-type": "quorum",
        "x-quorum-initial-group-size": 3,
    }
    assert QUORUM_QUEUES.arguments(FIVE)["x-quorum-initial-group-size"] == 5
    assert QUORUM_QUEUES.mirrors_wanted(THREE, QUEUE) == 2


def test_queue_without_a_leader_or_a_follower_is_a_caveat() -> None:
    assert QUORUM_QUEUES.doubts(THREE, QUEUE) == []
    assert QUORUM_QUEUES.doubts(THREE, online("rqq2", "rqq3", leader=None)) == [
        "mqproof.r1.orders has no leader"
    ]
    assert QUORUM_QUEUES.doubts(THREE, online("rqq2", "rqq3", leader="rqq2")) == [
        "mqproof.r1.orders has 1 of 2 followers"
    ]
    assert (
        QUORUM_QUEUES.doubts(
            THREE, {"name": "somebody's", "type": "classic", "node": "rabbit@rqq1"}
        )
        == []
    )
