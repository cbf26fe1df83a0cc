"""The cluster core, effect by effect."""

from reference_impl.metadata.messages import Settled, Snapshot, Term
from reference_impl.metadata.requests import Settle
from reference_impl.metadata.tables import Tables
from reference_impl.node import happenings as h
from reference_impl.node.cluster import Cluster
from reference_impl.node.config import Config
from reference_impl.node.gossip import RUNNING, STOPPED, Join, State
from reference_impl.node.membership import SILENT_TICKS
from reference_impl.pid import Pid
from reference_impl.process import Arm, Timeout
from tests.reference_impl.simulated_clusters import Note, SimulatedClusters

PID = Pid("a", 1, 5)


def alone() -> Cluster:
    core = Cluster(Config("a", "", "", ""), 1, None)
    core.begin()
    return core


def pair(handling: str = "ignore") -> Cluster:
    """Node a, of two, in a group with b."""
    nodes = SimulatedClusters(1, "ab", handling)
    nodes.start()
    nodes.run_until(nodes.all_run, 3000)
    return nodes.core("a")


def test_a_boot_dials_every_peer_at_once() -> None:
    config = Config("a", "", "", "", {"b": ("", 1), "c": ("", 1), "a": ("", 1)})
    effects = Cluster(config, 1, None).begin()
    assert [it for it in effects if isinstance(it, h.Dial)] == [h.Dial("b"), h.Dial("c")]


def test_a_node_without_peers_is_ready_once_it_has_saved() -> None:
    effects = Cluster(Config("a", "", "", ""), 1, None).begin()
    assert isinstance(effects[0], h.Save)
    assert h.Ready() in effects
    assert effects[-1] == h.TablesChanged()


def test_tables_are_on_disk_before_they_are_announced() -> None:
    save, *others = alone().handle(h.Submitted(PID, 1, Note("t")))
    assert isinstance(save, h.Save) and save.saved.tables.version == 1
    assert others == [Settle(PID, 1, 0), h.TablesChanged()]


def test_a_leader_saves_before_it_sends_to_members() -> None:
    effects = pair().handle(h.Submitted(PID, 1, Note("t")))
    assert [type(effect) for effect in effects] == [h.Save, h.SendGossip, h.TablesChanged]


def test_the_saved_state_names_the_other_running_nodes() -> None:
    core = pair()
    (save,) = (it for it in core.handle(h.Unlinked("b")) if isinstance(it, h.Save))
    assert save.saved.running == ()


def test_under_pause_minority_lost_nodes_are_awaited_until_judged() -> None:
    core = pair("pause_minority")
    effects = core.handle(h.Unlinked("b"))
    (save,) = (it for it in effects if isinstance(it, h.Save))
    assert save.saved.running == ("b",)
    assert h.Ping("b") in effects
    assert h.Pause() in core.handle(h.Pinged("b", False))


def test_processes_hear_of_a_silent_peer_before_the_node_pauses() -> None:
    """Had the core left its group by then, they would look at empty tables."""
    core = pair("pause_minority")
    for _ in range(SILENT_TICKS):
        effects = core.handle(h.Ticked(frozenset()))
    assert h.Gone("b") in effects and Arm("judge", 0) in effects
    assert not {h.Ping, h.Pause} & {type(effect) for effect in effects}
    assert core.tables.exchanges
    assert h.Pause() in core.handle(Timeout("judge"))


def test_a_newcomer_whose_admission_was_lost_queries_the_next_leader() -> None:
    config = Config("c", "", "", "", {"a": ("", 1), "b": ("", 1)})
    core = Cluster(config, 1, None)
    core.begin()
    group = {"a": 1, "b": 1}
    for peer in group:
        core.handle(h.Linked(peer, 1, core.greeting()))
        running = State(RUNNING, Term(1, "a"), -1, "a", group, ())
        effects = core.handle(h.Heard(peer, running))
    assert h.SendGossip("a", Join(("a", "b"))) in effects
    core.handle(h.Heard("a", Snapshot(Term(1, "a"), Tables(), {**group, "c": 1})))
    core.handle(h.Unlinked("a"))
    taken_over = State(RUNNING, Term(2, "b"), -1, "b", {"b": 1}, ())
    effects = core.handle(h.Heard("b", taken_over))
    assert h.SendGossip("b", Join(("b",))) in effects
    core.handle(h.Heard("b", Snapshot(Term(2, "b"), Tables(), {"b": 1, "c": 1})))
    effects = core.handle(h.Heard("b", Settled(0)))
    assert h.Ready() in effects
    assert core.running() == ("b", "c")


def test_a_stopping_node_notifies_its_peers_and_keeps_its_disk() -> None:
    effects = pair().leave()
    (sent,) = (it for it in effects if isinstance(it, h.SendGossip))
    assert isinstance(sent.gossip, State)
    assert (sent.node, sent.gossip.phase) == ("b", STOPPED)
    assert not any(isinstance(it, h.Save) for it in effects)


def test_a_stopped_core_does_nothing_any_more() -> None:
    core = pair()
    core.leave()
    assert core.handle(h.Submitted(PID, 1, Note("t"))) == []
    assert core.handle(h.Unlinked("b")) == []


def test_states_of_unlinked_peers_are_ignored() -> None:
    core = alone()
    rival = State(RUNNING, Term(1, "b"), -1, "b", {"b": 1}, ())
    assert core.handle(h.Heard("b", rival)) == []
    assert core.partitions() == ()


def test_a_link_that_is_made_again_replaces_the_old_one() -> None:
    core = pair()
    effects = core.handle(h.Linked("b", 2, core.greeting()))
    assert h.Gone("b") in effects
    assert core.running() == ("a",)
    assert core.boot_of("b") is None


def test_running_nodes_are_known_with_their_boot() -> None:
    core = pair()
    assert core.running() == ("a", "b")
    assert (core.boot_of("a"), core.boot_of("b"), core.boot_of("x")) == (1, 1, None)
