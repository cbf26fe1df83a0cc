"""Members come and go, in a node's own eyes."""

from reference_impl.metadata.messages import Message
from reference_impl.metadata.tables import Tables
from reference_impl.node.gossip import Doubt
from reference_impl.node.group import Group
from reference_impl.node.happenings import Drop, Gone, SendGossip, Up
from reference_impl.node.membership import Peers

NAMES = ("a", "b", "c")


class Groups:
    """Three nodes' groups; a test says who has a link to whom."""

    def __init__(self) -> None:
        self.of = {
            node: Group(node, 1, Peers(tuple(name for name in NAMES if name != node)))
            for node in NAMES
        }

    def link(self, *pairs: str) -> None:
        for pair in pairs:
            one, other = tuple(pair)
            self.of[one].peers.link(other, 1)
            self.of[other].peers.link(one, 1)

    def founded(self, node: str) -> Group:
        self.of[node].found(Tables())
        self.of[node].run()
        return self.of[node]

    def exchange(self) -> None:
        """What they tell each other, until they are quiet. Other effects are left."""
        while sent := [(node, *self._next(node)) for node in NAMES if self._messages(node)]:
            for sender, to, message in sent:
                self.of[to].hear(sender, message)

    def _messages(self, node: str) -> list[SendGossip]:
        effects = self.of[node].effects
        return [
            it for it in effects if isinstance(it, SendGossip) and isinstance(it.gossip, Message)
        ]

    def _next(self, node: str) -> tuple[str, Message]:
        first = self._messages(node)[0]
        self.of[node].effects.remove(first)
        return first.node, first.gossip  # type: ignore[return-value]


def test_a_newcomer_is_up_from_its_admission_on() -> None:
    groups = Groups()
    groups.link("ab")
    leader = groups.founded("a")
    assert leader.admit("b", ("a",))
    assert Up("b", 1) in leader.effects
    assert not groups.of["b"].is_welcome
    groups.exchange()
    assert groups.of["b"].is_welcome
    assert groups.of["b"].members == {"a": 1, "b": 1}


def test_a_newcomer_that_misses_a_member_is_not_admitted() -> None:
    groups = Groups()
    groups.link("ab", "ac")
    leader = groups.founded("a")
    leader.admit("b", ("a",))
    groups.exchange()
    assert not leader.admit("c", ("a",))
    assert "c" not in leader.members


def test_only_the_leader_admits_nodes() -> None:
    groups = Groups()
    groups.link("ab", "ac", "bc")
    groups.founded("a").admit("b", ("a",))
    groups.exchange()
    groups.of["b"].run()
    assert not groups.of["b"].admit("c", ("a", "b"))


def test_a_newcomer_is_lost_where_a_member_has_no_link() -> None:
    groups = Groups()
    groups.link("ab", "ac")  # b and c had one when c asked
    leader = groups.founded("a")
    leader.admit("b", ("a",))
    groups.exchange()
    groups.of["b"].run()
    leader.admit("c", ("a", "b"))
    groups.exchange()
    assert groups.of["b"].members == {"a": 1, "b": 1}
    assert SendGossip("a", Doubt("c", 1)) in groups.of["b"].effects
    assert "c" not in groups.of["b"].up


def test_a_newcomer_loses_members_without_a_link_to_it() -> None:
    groups = Groups()
    groups.link("ab", "ac")
    leader = groups.founded("a")
    leader.admit("b", ("a",))
    groups.exchange()
    leader.admit("c", ("a", "b"))
    groups.exchange()
    assert groups.of["c"].members == {"a": 1, "c": 1}


def test_a_newcomer_linked_under_another_boot_is_lost() -> None:
    groups = Groups()
    groups.link("ab", "ac", "bc")
    leader = groups.founded("a")
    leader.admit("b", ("a",))
    groups.exchange()
    groups.of["b"].run()
    groups.of["b"].peers.linked["c"] = 2
    leader.admit("c", ("a", "b"))
    groups.exchange()
    assert groups.of["b"].members == {"a": 1, "b": 1}


def test_a_lost_member_is_dropped_once_and_others_are_queried() -> None:
    groups = Groups()
    groups.link("ab", "ac", "bc")
    leader = groups.founded("a")
    for newcomer, linked in (("b", ("a",)), ("c", ("a", "b"))):
        leader.admit(newcomer, linked)
        groups.exchange()
    leader.effects.clear()
    leader.drop("b", "a test", doubted=True)
    assert [it for it in leader.effects if isinstance(it, Drop | Gone)] == [Drop("b"), Gone("b")]
    assert SendGossip("c", Doubt("b", 1)) in leader.effects
    assert leader.lost_links == ["b"]
    assert leader.members == {"a": 1, "c": 1}


def test_a_member_that_stops_is_gone_though_its_link_stays() -> None:
    groups = Groups()
    groups.link("ab")
    leader = groups.founded("a")
    leader.admit("b", ("a",))
    groups.exchange()
    leader.lose_member("b")
    assert Gone("b") in leader.effects
    assert (leader.up, leader.lost_links, leader.peers.linked) == ({}, [], {"b": 1})
