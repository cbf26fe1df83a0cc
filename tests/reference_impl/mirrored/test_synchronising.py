"""The master's side of an explicit synchronisation (3.5)."""

from msgspec.structs import replace

from reference_impl.metadata.tables import Policy, Queue
from reference_impl.mirrored.messages import SyncBatch, SyncDone, SyncReady, SyncTaken
from reference_impl.mirrored.replica import BrokerReplica
from reference_impl.mirrored.sync import BATCH_OCTETS_MAX, Syncer, batches
from reference_impl.mirrored.synchronising import Synchronising
from reference_impl.pid import Pid
from reference_impl.process import Effect, Send, Watch
from tests.reference_impl.mirrored.fixed_world import QUEUE, FixedWorld
from tests.reference_impl.mirrored.messages_of import message

ME, B, C = (Pid(name, 1, 2) for name in "abc")
RECORD = Queue(QUEUE, True, False, None, {}, "a", ME, (B, C), (), ())
HELD = [(1, message("a"), True), (2, message("b"), False), (3, message("c"), False)]


def syncer() -> Syncer:
    return Syncer(7, (B, C), batches(HELD, 2))


def sent(effects: list[Effect]) -> list[tuple[Pid, object]]:
    return [(effect.to, effect.body) for effect in effects if isinstance(effect, Send)]


FIRST = SyncBatch(7, ((message("a"), True), (message("b"), False)))
SECOND = SyncBatch(7, ((message("c"), False),))
WHOLE = SyncDone(7, True)


def test_synchronising_starts_after_all_mirrors_answered() -> None:
    sync = syncer()
    assert sync.watches() == [Watch(B), Watch(C)]
    assert sync.ready(SyncReady(7, B, True)) == []
    assert sent(sync.ready(SyncReady(7, C, True))) == [(B, FIRST), (C, FIRST)]


def test_a_batch_waits_until_every_mirror_took_the_previous_one() -> None:
    sync = syncer()
    for mirror in (B, C):
        sync.ready(SyncReady(7, mirror, True))
    assert sync.taken(SyncTaken(7, B)) == []
    assert sync.taken(SyncTaken(6, C)) == []
    assert sent(sync.taken(SyncTaken(7, C))) == [(B, SECOND), (C, SECOND)]
    sync.taken(SyncTaken(7, B))
    assert sent(sync.taken(SyncTaken(7, C))) == [(B, WHOLE), (C, WHOLE)]
    assert (sync.over, sync.sent) == (True, 3)


def test_a_mirror_that_declines_gets_no_messages() -> None:
    sync = syncer()
    sync.ready(SyncReady(7, B, False))
    assert sent(sync.ready(SyncReady(7, C, True))) == [(C, FIRST)]


def test_synchronising_ends_when_all_mirrors_decline() -> None:
    sync = syncer()
    for mirror in (B, C):
        assert sync.ready(SyncReady(7, mirror, False)) == []
    assert sync.over


def test_a_mirror_that_dies_is_waited_for_no_longer() -> None:
    sync = syncer()
    for mirror in (B, C):
        sync.ready(SyncReady(7, mirror, True))
    sync.taken(SyncTaken(7, B))
    assert sent(sync.gone(C)) == [(B, SECOND)]
    sync.gone(B)
    assert sync.over


def test_a_mirror_that_dies_before_answering_is_left_out() -> None:
    sync = syncer()
    sync.ready(SyncReady(7, B, True))
    assert sent(sync.gone(C)) == [(B, FIRST)]
    assert sync.gone(Pid("d", 1, 2)) == []


def test_batches_are_bounded_in_number_and_in_octets() -> None:
    big = replace(message("x"), body=bytes(BATCH_OCTETS_MAX))
    held = [(number, big if number == 2 else message(number), False) for number in range(1, 7)]
    assert [len(batch) for batch in batches(held, 3)] == [2, 3, 1]
    assert list(batches([], 3)) == []


class Rig:
    def __init__(self, members: tuple[Pid, ...] = (ME, B, C), **policy: object) -> None:
        self.world = FixedWorld("a")
        self.world.tables.queues[QUEUE] = RECORD
        self.world.group(1, *members)
        self.world.tables.policies["p"] = Policy("p", ".*", dict(policy), 0, "all")
        replica = BrokerReplica(ME, self.world, QUEUE, durable=True, founder=True)
        replica.ring.regroup()
        self.sync = Synchronising(replica)

    def record(self, record: Queue) -> None:
        self.world.tables.queues[QUEUE] = record


def test_without_a_policy_it_begins_only_on_request() -> None:
    rig = Rig()
    assert rig.sync.offer() == []
    assert rig.sync.start() != []
    assert rig.sync.is_on
    assert rig.sync.start() == []


def test_automatic_synchronising_tries_each_mirror_once() -> None:
    rig = Rig(**{"ha-sync-mode": "automatic"})
    rig.record(replace(RECORD, mirrors=(B,)))
    assert rig.sync.offer() != []
    rig.sync.cancel()
    assert rig.sync.offer() == []
    rig.record(RECORD)
    assert rig.sync.offer() != []


def test_only_unsynchronised_members_are_synchronised() -> None:
    rig = Rig(members=(ME, B))
    assert [it.pid for it in rig.sync.start() if isinstance(it, Watch)] == [B]
    rig = Rig()
    rig.record(replace(RECORD, synchronised=(C, B)))
    assert rig.sync.start() == []


def test_a_late_sync_answer_gets_a_notice() -> None:
    rig = Rig()
    rig.sync.start()
    assert sent(rig.sync.cancel()) == [(B, SyncDone(1, False)), (C, SyncDone(1, False))]
    assert not rig.sync.is_on
    assert sent(rig.sync.ready(SyncReady(1, B, True))) == [(B, SyncDone(1, False))]
    assert rig.sync.taken(SyncTaken(1, B)) == []
    assert rig.sync.gone(B) == []
