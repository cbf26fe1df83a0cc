"""What a booting node does, and how long it waits."""

from reference_impl.metadata.ledger import NOTHING
from reference_impl.metadata.messages import Term
from reference_impl.node.boot import Found
from reference_impl.node.booting import Booting
from reference_impl.node.config import Config
from reference_impl.node.gossip import BOOTING, RUNNING, Join, State
from reference_impl.node.happenings import Fail, Log, SendGossip
from reference_impl.node.membership import Peers
from reference_impl.process import Arm

BLANK = State(BOOTING, Term(0, ""), NOTHING, None, {}, ())
LAST = State(BOOTING, Term(1, "a"), 5, None, {}, ())
WAITING = State(BOOTING, Term(1, "a"), 5, None, {}, ("b",))
GROUP = State(RUNNING, Term(1, "b"), NOTHING, "b", {"b": 1}, ())


def booting(**config: object) -> tuple[Booting, Peers]:
    peers = Peers(("b",))
    return Booting(Config("a", "", "", "", {"b": ("", 1)}, **config), peers), peers  # type: ignore[arg-type]


def timers(boot: Booting) -> set[str]:
    return {effect.name for effect in boot.begin() if isinstance(effect, Arm)}


def test_the_last_to_stop_grants_booting_peers_a_grace_period() -> None:
    boot, peers = booting()
    assert "grace" in timers(boot)
    peers.failed("b")
    assert boot.consider(LAST) == []
    boot.time_is_over("grace")
    assert boot.consider(LAST) == Found()


def test_a_blank_node_needs_no_such_time() -> None:
    boot, peers = booting()
    peers.failed("b")
    assert boot.consider(BLANK) == Found()


def test_a_silent_peer_is_given_up_after_the_first_round() -> None:
    boot, _ = booting()
    boot.time_is_over("grace")
    assert boot.consider(LAST) == []
    boot.time_is_over("round")
    assert boot.consider(LAST) == Found()


def test_a_linked_peer_is_awaited_until_it_reports_its_state() -> None:
    boot, peers = booting()
    peers.link("b", 1)
    for name in ("grace", "round"):
        boot.time_is_over(name)
    assert boot.consider(LAST) != Found()
    peers.heard_state("b", BLANK)
    assert boot.consider(LAST) == Found()


def test_a_leader_is_queried_once_until_it_refuses_or_vanishes() -> None:
    boot, peers = booting()
    peers.link("b", 1)
    peers.heard_state("b", GROUP)
    join = [SendGossip("b", Join(("b",)))]
    assert boot.consider(WAITING) == join
    assert boot.consider(WAITING) == []
    boot.not_yet("x")
    assert boot.consider(WAITING) == []
    boot.not_yet("b")
    assert boot.consider(WAITING) == join


def test_waiting_is_logged_and_counted_as_rabbitmq_does() -> None:
    boot, peers = booting(table_wait_s=1.0, table_tries=3)
    peers.failed("b")
    assert boot.consider(WAITING) == [], "the first round is not over"
    boot.time_is_over("round")
    text = "Waiting for Mnesia tables for 1000 ms, {} retries left"
    assert boot.consider(WAITING) == [Log(text.format(2)), Arm("tables", 1000)]
    assert boot.consider(WAITING) == [], "it waits already"
    assert boot.time_is_over("tables") == [Log(text.format(1)), Arm("tables", 1000)]
    assert boot.time_is_over("tables") == [Log(text.format(0)), Arm("tables", 1000)]
    (failed,) = boot.time_is_over("tables")
    assert isinstance(failed, Fail) and "3 x 1000 ms" in failed.text
