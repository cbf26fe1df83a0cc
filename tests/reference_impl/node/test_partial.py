"""Two members have lost each other, and this one still hears both."""

import pytest

from reference_impl.metadata.tables import Tables
from reference_impl.node.gossip import Alive, Dismissed, Doubt, Probe, StillSeen
from reference_impl.node.group import Group
from reference_impl.node.happenings import Drop, Effect, Gone, SendGossip
from reference_impl.node.membership import Peers
from reference_impl.node.partial import Doubts, PartialPartitions


def group() -> Group:
    """Of a, which leads, b, c and d, in the eyes of a."""
    made = Group("a", 1, Peers(("b", "c", "d")))
    made.found(Tables())
    made.run()
    for node in "bcd":
        made.peers.link(node, 1)
        made.admit(node, ("a", "b", "c", "d"))
    made.effects.clear()
    return made


def heard(node: str, gossip: Doubts, pauses: bool = False) -> list[Effect]:
    members = group()
    PartialPartitions(members, pauses).hear(node, gossip)
    return [it for it in members.effects if isinstance(it, SendGossip | Drop | Gone)]


def test_a_doubted_member_is_probed_by_peers_with_a_link() -> None:
    assert heard("b", Doubt("c", 1)) == [SendGossip("c", Probe("b", 1))]


@pytest.mark.parametrize("doubt", [Doubt("c", 0), Doubt("x", 1)])
def test_a_member_lost_here_or_newly_booted_is_not_queried(doubt: Doubt) -> None:
    assert heard("b", doubt) == []


def test_the_doubts_of_who_is_no_member_do_not_count() -> None:
    assert heard("x", Doubt("c", 1)) == []
    assert heard("x", Alive("c", 1)) == []
    assert heard("c", Alive("x", 1)) == []
    assert heard("c", Alive("b", 0)) == []


def test_a_queried_node_answers() -> None:
    assert heard("b", Probe("c", 1)) == [SendGossip("b", Alive("c", 1))]


@pytest.mark.parametrize(("doubter", "doubted"), [("b", "c"), ("c", "b")])
def test_the_larger_name_is_dropped_without_a_query(doubter: str, doubted: str) -> None:
    assert heard(doubted, Alive(doubter, 1)) == [
        SendGossip("c", Dismissed()),
        Drop("c"),
        Gone("c"),
    ]


def test_pause_minority_notifies_the_doubter_and_drops_none() -> None:
    assert heard("c", Alive("b", 1), pauses=True) == [SendGossip("b", StillSeen("c"))]
