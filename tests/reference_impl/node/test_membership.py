"""Who can be heard, and who has fallen silent."""

from reference_impl.metadata.messages import Term
from reference_impl.node.gossip import BOOTING, State
from reference_impl.node.membership import Peers

STATE = State(BOOTING, Term(0, ""), -1, None, {}, ())
NO_PEERS: frozenset[str] = frozenset()


def linked(*names: str) -> Peers:
    peers = Peers(("b", "c"))
    for name in names:
        peers.link(name, 1)
    return peers


def test_four_silent_ticks_in_a_row_are_too_many() -> None:
    peers = linked("b", "c")
    for _ in range(3):
        assert peers.ticked(frozenset({"c"})) == []
    assert peers.ticked(frozenset({"c"})) == ["b"]


def test_one_sign_of_life_begins_the_count_again() -> None:
    peers = linked("b")
    for heard in (NO_PEERS, NO_PEERS, NO_PEERS, frozenset({"b"}), NO_PEERS, NO_PEERS, NO_PEERS):
        assert peers.ticked(heard) == []
    assert peers.ticked(NO_PEERS) == ["b"]


def test_a_new_link_begins_without_silence() -> None:
    peers = linked("b")
    for _ in range(3):
        peers.ticked(NO_PEERS)
    peers.unlink("b")
    peers.link("b", 2)
    assert peers.ticked(NO_PEERS) == []


def test_each_unlinked_peer_is_dialled_one_attempt_at_a_time() -> None:
    peers = linked("b")
    assert peers.to_dial() == ["c"]
    assert peers.to_dial() == []
    peers.failed("c")
    assert peers.to_dial() == ["c"]
    peers.unlink("b")
    assert peers.to_dial() == ["b"]


def test_all_are_tried_when_each_has_reported_or_failed() -> None:
    peers = linked("b")
    peers.failed("c")
    assert not peers.all_tried()
    assert not peers.all_have_reported()
    peers.heard_state("b", STATE)
    assert peers.all_tried()
    assert peers.all_have_reported()
    peers.link("c", 1)
    assert not peers.all_have_reported()


def test_the_state_of_a_peer_goes_with_its_link() -> None:
    peers = linked("b")
    peers.heard_state("b", STATE)
    peers.unlink("b")
    assert peers.states == {}
