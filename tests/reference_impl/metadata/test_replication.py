"""One order of commands for all members, in their own words, message by message."""

from collections import deque

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_impl.metadata.messages import (
    Applied,
    Commit,
    Lead,
    Need,
    Settled,
    Snapshot,
    Take,
    Term,
    Took,
)
from reference_impl.metadata.replication import Joined, Outcome, Replication, SendToNode, Welcome
from reference_impl.metadata.requests import Settle
from reference_impl.metadata.tables import Tables
from reference_impl.pid import Pid
from tests.reference_impl.simulated_clusters import Note


class Members:
    """Members of one group on links that keep the order, without time."""

    def __init__(self, *names: str) -> None:
        self.nodes = {name: Replication(name, 1, Term(0, "")) for name in names}
        self.wires: dict[tuple[str, str], deque[object]] = {}
        self.settled: dict[tuple[str, int], int] = {}  # to their places in the order
        self.welcome: set[str] = set()
        first, *others = names
        self.nodes[first].found(1, Tables())
        for name in others:
            self.carry(first, self.nodes[first].admit(name, 1))
            self.deliver_all()
        assert self.welcome == set(others)

    def carry(self, node: str, outcomes: list[Outcome]) -> None:
        for outcome in outcomes:
            match outcome:
                case SendToNode(to, message):
                    self.wires.setdefault((node, to), deque()).append(message)
                case Settle(_, request, result):
                    assert (node, request) not in self.settled, "told twice"
                    assert isinstance(result, int), result
                    self.settled[node, request] = result
                case Welcome():
                    self.welcome.add(node)
                case Joined():
                    pass
                case _:
                    raise AssertionError(outcome)

    def submit(self, node: str, request: int) -> None:
        note = Note(f"{node}{request}")
        self.carry(node, self.nodes[node].submit(Pid(node, 1, 5), request, note))

    def deliver(self, sender: str, to: str) -> None:
        message = self.wires[sender, to].popleft()
        if to in self.nodes and sender in self.nodes[to].ledger.members | {sender: 0}:
            self.carry(to, self.nodes[to].hear(sender, message))  # type: ignore[arg-type]

    def ready(self) -> list[tuple[str, str]]:
        return sorted(wire for wire, messages in self.wires.items() if messages)

    def deliver_all(self) -> None:
        while self.ready():
            self.deliver(*self.ready()[0])

    def kill(self, node: str) -> None:
        """What it has sent may still arrive, until `notice`; nothing reaches it."""
        del self.nodes[node]
        for wire in [wire for wire in self.wires if wire[1] == node]:
            del self.wires[wire]

    def notice(self, node: str, lost: str) -> None:
        self.wires.pop((lost, node), None)
        if node in self.nodes and lost in self.nodes[node].ledger.members:
            self.carry(node, self.nodes[node].lose(lost))

    def notes(self, node: str) -> list[str]:
        return [policy.name for policy in self.nodes[node].ledger.tables.policies.values()]

    def kinds(self, sender: str, to: str) -> list[type]:
        return [type(message) for message in self.wires.get((sender, to), ())]


def test_alone_a_command_is_settled_at_once() -> None:
    group = Members("a")
    group.submit("a", 1)
    assert group.settled == {("a", 1): 0}


def test_a_requester_gets_its_result_only_after_every_member() -> None:
    group = Members("a", "b", "c")
    group.submit("b", 1)
    group.deliver("b", "a")
    assert group.kinds("a", "b") == group.kinds("a", "c") == [Commit]
    group.deliver("a", "b")
    assert group.notes("b") == ["b1"]
    group.deliver("b", "a")
    assert group.settled == {}, "c has not carried it out"
    group.deliver("a", "c")
    assert group.settled == {}
    group.deliver("c", "a")
    assert group.kinds("a", "b") == [Settled]
    group.deliver("a", "b")
    assert group.settled == {("b", 1): 0}


def test_a_lost_member_is_not_waited_for() -> None:
    group = Members("a", "b", "c")
    group.submit("a", 1)
    group.deliver("a", "b")
    group.deliver("b", "a")
    assert group.settled == {}
    group.kill("c")
    group.notice("a", "c")
    assert group.settled == {("a", 1): 0}


def test_results_are_those_of_the_one_order() -> None:
    group = Members("a", "b", "c")
    for request in (1, 2):
        for node in ("a", "b", "c"):
            group.submit(node, request)
    group.deliver_all()
    order = group.notes("a")
    assert group.notes("b") == group.notes("c") == order
    assert {order[place] for place in group.settled.values()} == set(order)
    assert all(order[place] == f"{node}{n}" for (node, n), place in group.settled.items())


def test_a_new_leader_finds_what_only_another_member_has() -> None:
    group = Members("a", "b", "c")
    group.submit("a", 1)
    group.deliver("a", "c")
    group.wires["a", "b"].clear()  # the leader dies before this went out
    group.kill("a")
    group.notice("b", "a")
    assert group.notes("b") == []
    assert group.kinds("b", "c") == [Take]
    group.deliver_all()
    assert group.notes("b") == group.notes("c") == ["a1"]


def test_a_new_leader_sends_others_what_they_missed() -> None:
    group = Members("a", "b", "c")
    group.submit("a", 1)
    group.deliver("a", "b")
    group.wires["a", "c"].clear()
    group.kill("a")
    group.notice("b", "a")
    group.notice("c", "a")
    group.deliver_all()
    assert group.notes("b") == group.notes("c") == ["a1"]
    assert group.nodes["c"].leader == "b"


def test_a_node_that_answered_the_new_leader_ignores_the_old() -> None:
    group = Members("a", "b", "c")
    group.submit("a", 1)
    old = group.wires["a", "c"].popleft()
    group.wires["a", "b"].clear()
    group.kill("a")
    group.notice("b", "a")
    group.deliver("b", "c")
    assert group.nodes["c"].hear("a", old) == []  # type: ignore[arg-type]
    group.deliver_all()
    assert group.notes("b") == group.notes("c") == []


def test_a_command_ordered_by_the_lost_leader_runs_only_once() -> None:
    group = Members("a", "b", "c")
    group.submit("c", 1)
    group.deliver("c", "a")
    group.deliver("a", "b")  # c itself has not seen it come back
    group.wires["a", "c"].clear()
    group.kill("a")
    for node in ("b", "c"):
        group.notice(node, "a")
    group.deliver_all()
    assert group.notes("b") == group.notes("c") == ["c1"]
    assert group.settled == {("c", 1): 0}


def test_a_command_sent_to_a_lost_leader_is_resubmitted() -> None:
    group = Members("a", "b", "c")
    group.submit("c", 1)
    group.submit("c", 2)
    group.kill("a")
    group.notice("c", "a")
    assert group.kinds("c", "b") == [Need], "no leader: nothing is submitted"
    group.submit("c", 3)
    group.notice("b", "a")
    group.deliver_all()
    assert group.notes("b") == group.notes("c") == ["c1", "c2", "c3"]
    assert group.settled == {("c", 1): 0, ("c", 2): 1, ("c", 3): 2}


def test_a_requester_learns_of_a_settlement_lost_with_the_leader() -> None:
    group = Members("a", "b", "c")
    group.submit("c", 1)
    group.deliver("c", "a")
    for wire in (("a", "b"), ("b", "a"), ("a", "c"), ("c", "a")):
        group.deliver(*wire)
    assert group.kinds("a", "c") == [Settled]
    group.submit("a", 2)  # b learns with this that the first one is stable
    group.deliver("a", "b")
    group.wires["a", "c"].clear()
    group.kill("a")
    for node in ("b", "c"):
        group.notice(node, "a")
    group.deliver_all()
    assert group.settled == {("c", 1): 0}
    assert group.notes("b") == group.notes("c") == ["c1", "a2"]


def test_a_dead_new_leaders_follower_makes_the_old_one_restart() -> None:
    """Make the old leader begin again when a new leader died whom a member had answered."""
    group = Members("a", "b", "c")
    group.notice("b", "a")  # only the link between these two is lost
    group.deliver("b", "c")
    group.kill("b")
    for node in ("a", "c"):
        group.notice(node, "b")
    group.submit("a", 1)
    group.submit("c", 2)
    group.deliver_all()
    assert group.notes("a") == group.notes("c") == ["a1", "c2"]
    assert group.settled == {("a", 1): 0, ("c", 2): 1}


def test_a_new_leader_orders_nothing_before_all_members_answered() -> None:
    group = Members("a", "b", "c", "d")
    group.submit("c", 1)
    group.notice("b", "a")  # only the link between these two is lost
    group.deliver("b", "d")
    group.kill("b")
    for node in ("a", "c", "d"):
        group.notice(node, "b")
    while group.kinds("d", "a"):
        group.deliver("d", "a")
    assert Take in group.kinds("a", "c"), "d has brought a to begin again"
    group.deliver("c", "a")
    assert group.notes("a") == []
    group.deliver_all()
    assert group.notes("a") == group.notes("c") == group.notes("d") == ["c1"]
    assert group.settled == {("c", 1): 0}


def test_a_newcomer_gets_a_snapshot_before_all_know_it() -> None:
    group = Members("a", "b")
    group.submit("b", 1)
    group.deliver_all()
    group.nodes["c"] = Replication("c", 1, Term(9, "c"))
    group.carry("a", group.nodes["a"].admit("c", 1))
    assert group.kinds("a", "c") == [Snapshot]
    group.deliver("a", "c")
    group.deliver("c", "a")
    assert group.notes("c") == ["b1"]
    assert "c" not in group.welcome, "b does not know it yet"
    group.deliver_all()
    assert "c" in group.welcome
    assert group.nodes["b"].ledger.members == {"a": 1, "b": 1, "c": 1}


def test_a_snapshot_does_not_change_with_its_senders_tables() -> None:
    group = Members("a")
    group.nodes["b"] = Replication("b", 1, Term(0, ""))
    group.carry("a", group.nodes["a"].admit("b", 1))
    snapshot = group.wires["a", "b"][0]
    before = msgspec.msgpack.encode(snapshot)
    group.submit("a", 1)
    assert msgspec.msgpack.encode(snapshot) == before


def test_the_new_leader_admits_a_newcomer_known_to_one_survivor() -> None:
    group = Members("a", "b", "c")
    group.nodes["d"] = Replication("d", 1, Term(0, ""))
    group.carry("a", group.nodes["a"].admit("d", 1))
    group.deliver("a", "c")
    group.wires["a", "b"].clear()
    group.wires["a", "d"].clear()
    group.kill("a")
    for node in ("b", "c"):
        group.notice(node, "a")
    group.deliver_all()
    assert "d" in group.welcome
    assert {tuple(node.ledger.members) for node in group.nodes.values()} == {("b", "c", "d")}


def test_an_older_term_is_not_followed() -> None:
    group = Members("a", "b", "c")
    group.kill("a")
    for node in ("b", "c"):
        group.notice(node, "a")
    group.deliver_all()
    c = group.nodes["c"]
    assert c.hear("b", Take(Term(1, "b"))) == []
    assert c.hear("b", Lead(Term(1, "b"), 99)) == []
    assert c.hear("b", Applied(Term(1, "b"), 99)) == []
    assert c.hear("b", Took(Term(1, "b"), 99, ())) == []
    assert c.leader == "b"


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_survivors_agree_whatever_the_order_of_messages_and_losses(data: st.DataObject) -> None:
    group = Members("a", "b", "c", "d")
    unnoticed: list[tuple[str, str]] = []  # who has not noticed whose loss
    submitted: list[tuple[str, int]] = []
    for _ in range(data.draw(st.integers(10, 60))):
        moves = ["submit"] + ["deliver"] * 3 * bool(group.ready()) + ["notice"] * bool(unnoticed)
        moves += ["kill"] * (len(group.nodes) > 1)
        match data.draw(st.sampled_from(moves)):
            case "submit":
                node = data.draw(st.sampled_from(sorted(group.nodes)))
                group.submit(node, len(submitted))
                submitted.append((node, len(submitted)))
            case "deliver":
                group.deliver(*data.draw(st.sampled_from(group.ready())))
            case "kill":
                lost = data.draw(st.sampled_from(sorted(group.nodes)))
                group.kill(lost)
                unnoticed += [(node, lost) for node in sorted(group.nodes)]
            case "notice":
                pair = data.draw(st.sampled_from(unnoticed))
                unnoticed.remove(pair)
                group.notice(*pair)
    for pair in unnoticed:
        group.notice(*pair)
    group.deliver_all()
    orders = {tuple(group.notes(node)) for node in group.nodes}
    assert len(orders) == 1, "survivors have the same tables"
    order = orders.pop()
    assert len(set(order)) == len(order), "nothing is carried out twice"
    for (node, request), place in group.settled.items():
        assert order[place] == f"{node}{request}", "what was settled stays, at its place"
    for node in group.nodes:
        requested = [f"{node}{request}" for asker, request in submitted if asker == node]
        assert [name for name in order if name.startswith(node)] == requested, (
            "all, in their order"
        )
        settled = [f"{node}{request}" for owner, request in group.settled if owner == node]
        assert settled == requested, "and told so, in this order"
