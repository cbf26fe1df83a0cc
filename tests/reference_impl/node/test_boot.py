"""Who founds a group, who joins one, who waits (docs/behaviour/rabbitmq.md, items 48 to 52)."""

import pytest

from reference_impl.metadata.ledger import NOTHING
from reference_impl.metadata.messages import Term
from reference_impl.node.boot import Ask, Decision, Found, KeepWaiting, Outlook, decide
from reference_impl.node.gossip import BOOTING, JOINING, PAUSED, RUNNING, State

BLANK = State(BOOTING, Term(0, ""), NOTHING, None, {}, ())


def saved(version: int, *waits: str, term: int = 1) -> State:
    return State(BOOTING, Term(term, "a"), version, None, {}, waits)


def running(leader: str | None, *members: str) -> State:
    return State(RUNNING, Term(1, leader or ""), NOTHING, leader, dict.fromkeys(members, 1), ())


def decision(
    node: str,
    own: State,
    tried: bool = True,
    patience_is_over: bool = False,
    majority_will_do: bool = False,
    **states: State,
) -> Decision:
    peers = tuple(name for name in "abc" if name != node)
    return decide(Outlook(node, own, peers, states, tried, patience_is_over, majority_will_do))


def test_a_booting_node_joins_a_running_peer() -> None:
    group = {"a": running("a", "a", "b"), "b": running("a", "a", "b")}
    assert decision("c", BLANK, **group) == Ask("a")
    assert decision("c", saved(9, "a"), **group) == Ask("a")
    assert decision("c", saved(9), **group) == Ask("a"), "though it was the last to stop"
    assert decision("c", saved(9), tried=False, **group) == Ask("a")


def test_a_node_joins_when_it_hears_every_member() -> None:
    assert decision("c", BLANK, a=running("a", "a", "b")) == KeepWaiting()
    assert decision("c", BLANK, a=running("a", "a", "b"), b=running("a", "a", "b")) == Ask("a")


def test_a_group_that_lists_an_older_boot_is_not_queried() -> None:
    assert decision("c", BLANK, a=running("a", "a", "c")) == KeepWaiting()


def test_a_group_without_a_leader_is_waited_for() -> None:
    assert decision("c", saved(9), a=running(None, "a")) == KeepWaiting()


def test_the_larger_group_is_joined_and_then_the_smaller_name() -> None:
    apart = {"a": running("a", "a"), "b": running("b", "b")}
    assert decision("c", BLANK, **apart) == Ask("a")
    larger = {"a": running("a", "a"), "b": running("b", "b", "d"), "d": running("b", "b", "d")}
    assert decision("c", BLANK, **larger) == Ask("b")


def test_a_leaders_report_of_its_group_outweighs_other_reports() -> None:
    states = {"a": running("b", "a", "b", "c"), "b": running("b", "a", "b")}
    assert decision("c", BLANK, **states) == Ask("b")


def test_the_last_to_stop_boots_after_trying_all_peers() -> None:
    assert decision("a", saved(5)) == Found()
    assert decision("a", saved(5), tried=False) == KeepWaiting()
    assert decision("a", saved(5), b=saved(4, "a")) == Found()
    assert decision("b", saved(4, "a"), a=saved(5)) == KeepWaiting()


def test_a_node_waits_for_nodes_that_outlived_it() -> None:
    assert decision("a", saved(5, "b")) == KeepWaiting()
    assert decision("a", saved(5, "b"), c=saved(5, "a", "b")) == KeepWaiting()


def test_after_a_common_death_the_newest_or_smallest_name_starts() -> None:
    """Start the node with the newest tables; of equal ones, the one with the smallest name."""
    states = {"a": saved(7, "b", "c"), "b": saved(8, "a", "c"), "c": saved(7, "a", "b")}
    decisions = {
        node: decision(node, own, **{name: it for name, it in states.items() if name != node})
        for node, own in states.items()
    }
    assert decisions == {"a": KeepWaiting(), "b": Found(), "c": KeepWaiting()}
    assert decision("a", saved(8, "b"), b=saved(8, "a")) == Found()
    assert decision("b", saved(8, "a"), a=saved(8, "b")) == KeepWaiting()


def test_a_higher_term_is_newer_than_a_higher_version() -> None:
    assert decision("a", saved(9, "b", term=1), b=saved(5, "a", term=2)) == KeepWaiting()
    assert decision("b", saved(5, "a", term=2), a=saved(9, "b", term=1)) == Found()


def test_nodes_that_others_await_are_awaited_too() -> None:
    assert decision("a", saved(8, "b"), b=saved(7, "c")) == KeepWaiting(), "c may know more than b"
    assert decision("a", saved(8, "b"), b=saved(7, "c"), c=saved(9)) == KeepWaiting()
    assert decision("c", saved(9), a=saved(8, "b"), b=saved(7, "c")) == Found()
    assert decision("a", saved(8, "b"), b=saved(7, "c"), c=saved(7, "b")) == Found()


def test_under_pause_minority_the_newest_of_a_majority_starts() -> None:
    older, newer = saved(7, "c"), saved(8, "a", "c")
    assert decision("a", older, majority_will_do=True, b=newer) == KeepWaiting()
    assert decision("b", newer, majority_will_do=True, a=older) == Found()
    assert decision("b", newer, majority_will_do=False, a=older) == KeepWaiting()
    assert decision("b", newer, majority_will_do=True) == KeepWaiting(), "one of three is none"


@pytest.mark.parametrize("phase", [PAUSED, JOINING])
def test_a_peer_in_another_phase_may_still_have_newer_tables(phase: str) -> None:
    other = State(phase, Term(1, "a"), NOTHING, None, {}, ())
    assert decision("a", saved(5, "b"), b=other) == KeepWaiting()


def test_a_node_without_disk_does_not_delay_its_waiting_peers() -> None:
    assert decision("a", saved(5, "b"), b=BLANK) == Found()
    assert decision("b", BLANK, a=saved(5, "b")) == KeepWaiting()


def test_the_lowest_named_blank_node_boots_first() -> None:
    assert decision("a", BLANK) == Found()
    assert decision("a", BLANK, tried=False) == KeepWaiting()
    assert decision("b", BLANK) == KeepWaiting()
    assert decision("b", BLANK, a=BLANK, patience_is_over=True) == KeepWaiting()


def test_without_the_smallest_name_the_smallest_present_node_founds() -> None:
    assert decision("b", BLANK, patience_is_over=True) == Found()
    assert decision("b", BLANK, c=BLANK, patience_is_over=True) == Found()
    assert decision("c", BLANK, b=BLANK, patience_is_over=True) == KeepWaiting()


def test_a_blank_node_founds_no_group_beside_tables_that_wait() -> None:
    assert decision("a", BLANK, b=saved(5, "c"), patience_is_over=True) == KeepWaiting()
