"""The process of a mirror, event by event: joining, being synchronised, deaths, promotion."""

from typing import Any

import pytest
from msgspec.structs import replace

from reference_impl.metadata.records import (
    GONE,
    KEPT,
    PROMOTED,
    REFUSED,
    WAITING,
    AddMirror,
    MarkSynchronised,
    RecordDeaths,
)
from reference_impl.metadata.tables import Queue
from reference_impl.mirrored.master import Master
from reference_impl.mirrored.messages import (
    Activity,
    Catchup,
    Depth,
    EnsureMonitoring,
    Promoted,
    Published,
    Regroup,
    RequestDepth,
    Retire,
    SenderDeath,
    SenderState,
    ShutDown,
    SyncBatch,
    SyncDone,
    SyncReady,
    SyncStart,
    SyncTaken,
)
from reference_impl.mirrored.mirror import DEATH_TIMEOUT_MS, Mirror
from reference_impl.mirrored.replica import BrokerReplica
from reference_impl.pid import Pid
from reference_impl.process import (
    NO_CONNECTION,
    NORMAL,
    SHUTDOWN,
    Arm,
    Become,
    Committed,
    Down,
    Effect,
    Exit,
    Flush,
    Flushed,
    Send,
    Timeout,
    Transact,
    Watch,
    Wipe,
)
from reference_impl.protocol.queues import Confirm, Consume, Deliver, Done, Get, Got, QueueDelivery
from tests.reference_impl.mirrored.fixed_world import QUEUE, FixedWorld
from tests.reference_impl.mirrored.messages_of import message

MASTER, ME, OTHER = Pid("a", 1, 2), Pid("b", 1, 2), Pid("c", 1, 2)
CHANNEL, SECOND = Pid("c", 1, 9), Pid("c", 1, 10)
JOIN, LIST, DEATHS = 1, 2, 3
RECORD = Queue(QUEUE, True, False, None, {}, "a", MASTER, (), (), ())


class Rig:
    """A mirror of a ring of three; `listed` unless the test goes there itself."""

    def __init__(self, *, listed: bool = True) -> None:
        self.world = FixedWorld("b")
        self.world.tables.queues[QUEUE] = RECORD
        replica = BrokerReplica(ME, self.world, QUEUE, durable=True, founder=False)
        self.replica = replica
        self.process: Any = Mirror(replica)
        self._number = -1
        if listed:
            self.join()
            self.be_listed()

    def join(self) -> list[Effect]:
        self.handle(Regroup())
        self.world.group(1, MASTER, ME, OTHER)
        self.handle(Committed(JOIN, True))
        return self.handle(Catchup(1, MASTER, ()))

    def be_listed(self) -> list[Effect]:
        self.world.tables.queues[QUEUE] = replace(RECORD, mirrors=(ME, OTHER))
        return self.handle(Committed(LIST, True))

    def handle(self, event: Any) -> list[Effect]:
        effects: list[Effect] = self.process.handle(event)
        for effect in effects:
            if isinstance(effect, Become):
                self.process = effect.process
        return effects

    def hear(self, *bodies: Any) -> list[Effect]:
        """By the master, round the ring."""
        pubs = []
        for body in bodies:
            self._number += 1
            pubs.append((self._number, body))
        return self.handle(Activity(1, MASTER, (SenderState(MASTER, tuple(pubs), ()),)))

    def published(self, *names: str) -> list[Effect]:
        return self.hear(*(Published(CHANNEL, message(name), False) for name in names))

    def copied(self, sequence: int, name: str, channel: Pid = CHANNEL) -> list[Effect]:
        return self.handle(Deliver(channel, sequence, message(name)))

    def master_dies(self) -> list[Effect]:
        """It is known to be dead, and all that it had said was heard."""
        self.world.group(2, ME, OTHER)
        return self.handle(Regroup())

    def held(self) -> list[str]:
        return [it.body.decode() for _, it, _ in self.replica.backing.all()]

    def flush(self) -> list[Effect]:
        return self.handle(Timeout("flush"))

    def flush_to_disk(self) -> list[Effect]:
        flushes = [it for it in self.flush() if isinstance(it, Flush)]
        return [effect for it in flushes for effect in self.handle(Flushed(it.mark))]


def sends(effects: list[Effect], kind: type) -> list[Any]:
    return [it.body for it in effects if isinstance(it, Send) and isinstance(it.body, kind)]


def confirmed(effects: list[Effect]) -> list[int]:
    return [number for confirm in sends(effects, Confirm) for number in confirm.sequences]


# --- joining


def test_a_mirror_joins_lists_itself_and_requests_the_depth() -> None:
    rig = Rig(listed=False)
    (join,) = rig.handle(Regroup())
    assert isinstance(join, Transact) and join.request == JOIN
    rig.world.group(1, MASTER, ME, OTHER)
    rig.handle(Committed(JOIN, True))
    effects = rig.handle(Catchup(1, MASTER, ()))
    add = AddMirror(QUEUE, ME, ("a", "b", "c"))
    assert Transact(LIST, add) in effects
    rig.be_listed()
    (activity,) = sends(rig.flush(), Activity)
    assert activity.entries == (SenderState(ME, ((0, RequestDepth()),), ()),)


@pytest.mark.parametrize("request_", [JOIN, LIST])
def test_a_mirror_that_is_not_taken_in_ends(request_: int) -> None:
    rig = Rig(listed=False)
    if request_ == LIST:
        rig.join()
    else:
        rig.handle(Regroup())
    assert rig.handle(Committed(request_, False))[-1] == Exit(SHUTDOWN)


def test_a_mirror_reports_synchronisation_only_after_it_is_listed() -> None:
    rig = Rig(listed=False)
    rig.join()
    mark = Transact(4, MarkSynchronised(QUEUE, ME))
    assert mark not in rig.hear(Depth(0))
    assert mark in rig.be_listed()


def test_a_death_noticed_before_listing_is_recorded_after_it() -> None:
    rig = Rig(listed=False)
    rig.join()
    rig.master_dies()
    rig.world.tables.queues[QUEUE] = replace(RECORD, mirrors=(ME,))
    judged = Transact(DEATHS, RecordDeaths(QUEUE, ME, (MASTER,), ("a", "b", "c")))
    assert judged in rig.handle(Committed(LIST, True))


# --- ends


@pytest.mark.parametrize(("record", "reason"), [(None, NORMAL), (RECORD, SHUTDOWN)])
def test_a_mirror_that_is_listed_no_more_ends(record: Queue | None, reason: str) -> None:
    rig = Rig()
    rig.world.tables.queues.clear()
    if record is not None:
        rig.world.tables.queues[QUEUE] = record
    assert rig.handle(Regroup())[-1] == Exit(reason)


def test_a_mirror_that_others_take_for_dead_ends() -> None:
    rig = Rig()
    rig.world.group(2, MASTER, ME, OTHER, dead=(ME,))
    assert rig.handle(Regroup())[-1] == Exit(SHUTDOWN)


def test_a_retired_mirror_wipes_its_disk() -> None:
    assert Rig().handle(Retire(True))[:2] == [Wipe(QUEUE), Exit(SHUTDOWN)]


def test_a_stopping_nodes_mirror_flushes_and_keeps_its_disk() -> None:
    rig = Rig()
    rig.published("m")
    effects = rig.handle(ShutDown())
    assert Wipe(QUEUE) not in effects
    assert effects[-1] == Exit(SHUTDOWN)
    assert any(isinstance(it, Flush) for it in effects)


@pytest.mark.parametrize(
    ("verdict", "end"),
    [(GONE, [Exit(SHUTDOWN)]), (REFUSED, [Wipe(QUEUE), Exit(NORMAL)]), (KEPT, []), (WAITING, [])],
)
def test_the_records_say_what_becomes_of_it_when_members_died(
    verdict: str, end: list[Effect]
) -> None:
    rig = Rig()
    rig.flush()
    rig.master_dies()
    assert rig.handle(Committed(DEATHS, verdict)) == end


# --- channels that end


def test_an_unreported_channel_end_is_pointed_out_repeatedly() -> None:
    rig = Rig()
    rig.flush()
    assert Watch(CHANNEL) in rig.copied(1, "m")
    arm = Arm("ensure-monitoring", DEATH_TIMEOUT_MS)
    assert arm in rig.handle(Down(CHANNEL, NORMAL))
    for number in (1, 2):
        assert arm in rig.handle(Timeout("ensure-monitoring"))
        (activity,) = sends(rig.flush(), Activity)
        assert activity.entries[0].pubs == ((number, EnsureMonitoring((CHANNEL,))),)
    rig.hear(SenderDeath(CHANNEL))
    assert rig.handle(Timeout("ensure-monitoring")) == []


# --- being synchronised


def test_a_lagging_mirror_discards_its_messages_and_offers_to_synchronise() -> None:
    rig = Rig()
    rig.published("m")
    rig.hear(Depth(3))
    effects = rig.hear(SyncStart(7, (ME,)))
    assert Send(MASTER, SyncReady(7, ME, True)) in effects
    assert Watch(MASTER) in effects
    assert rig.held() == []


def test_a_synchronised_mirror_declines_and_an_uninvited_one_is_silent() -> None:
    rig = Rig()
    rig.hear(Depth(0))
    assert Send(MASTER, SyncReady(7, ME, False)) in rig.hear(SyncStart(7, (ME,)))
    assert sends(Rig().hear(SyncStart(7, (OTHER,))), SyncReady) == []


def syncing() -> Rig:
    rig = Rig()
    rig.hear(Depth(3))
    rig.hear(SyncStart(7, (ME,)))
    rig.handle(SyncBatch(7, ((message("a"), True), (message("b"), False))))
    return rig


def test_batches_are_acknowledged_and_the_end_makes_it_synchronised() -> None:
    rig = Rig()
    rig.hear(Depth(3))
    rig.hear(SyncStart(7, (ME,)))
    batch = SyncBatch(7, ((message("a"), True),))
    assert Send(MASTER, SyncTaken(7, ME)) in rig.handle(batch)
    assert rig.handle(SyncBatch(6, ((message("x"), True),))) == []
    assert Transact(4, MarkSynchronised(QUEUE, ME)) in rig.handle(SyncDone(7, True))
    assert rig.held() == ["a"]


def test_a_mirror_applies_delayed_publishes_after_synchronising() -> None:
    rig = syncing()
    rig.copied(1, "c")
    rig.published("c")
    assert rig.held() == ["a", "b"]
    rig.handle(SyncDone(7, True))
    assert rig.held() == ["a", "b", "c"]
    assert confirmed(rig.flush_to_disk()) == [1]


def gives_up(rig: Rig, how: str) -> None:
    match how:
        case "cancelled":
            rig.handle(SyncDone(7, False))
        case "down":
            rig.handle(Down(MASTER, NO_CONNECTION))
        case "died":
            rig.master_dies()


@pytest.mark.parametrize("how", ["cancelled", "down", "died"])
def test_a_synchronisation_that_fails_leaves_nothing_of_it(how: str) -> None:
    rig = syncing()
    rig.copied(1, "c")
    gives_up(rig, how)
    assert rig.held() == []
    assert rig.process._following.depth.delta is None
    rig.copied(2, "d")
    assert [it.identity for _, _, it in rig.process._senders.lines()] == [b"c", b"d"]


# --- promotion


def promoted(rig: Rig) -> list[Effect]:
    rig.master_dies()
    rig.world.tables.queues[QUEUE] = replace(RECORD, home="b", master=ME, mirrors=(OTHER,))
    effects = rig.handle(Committed(DEATHS, PROMOTED))
    assert isinstance(rig.process, Master)
    return effects


def test_a_promotion_is_broadcast_before_anything_else() -> None:
    rig = Rig()
    rig.flush()
    rig.published("m")
    rig.copied(1, "m")
    rig.copied(2, "n")
    promoted(rig)
    rig.handle(Catchup(2, OTHER, ()))
    (activity,) = sends(rig.flush(), Activity)
    assert [body for _, body in activity.entries[0].pubs] == [
        Promoted(1),
        Published(CHANNEL, message("n"), False),
    ]
    assert rig.held() == ["m", "n"]


def test_requests_before_a_promotion_are_answered_after_it() -> None:
    rig = Rig()
    rig.published("m")
    rig.master_dies()
    assert sends(rig.handle(Get(CHANNEL, 5, True)), Got) == []
    effects = promoted(rig)
    (got,) = sends(effects, Got)
    assert (got.message.identity, got.redelivered) == (b"m", True)


def test_requests_to_one_that_is_not_promoted_are_forgotten() -> None:
    rig = Rig()
    rig.master_dies()
    rig.handle(Get(CHANNEL, 5, True))
    rig.handle(Committed(DEATHS, WAITING))
    assert rig.process._early == []


def test_late_copies_of_stored_messages_are_confirmed_and_not_enqueued() -> None:
    rig = Rig()
    rig.published("m")
    rig.flush_to_disk()
    promoted(rig)
    rig.copied(1, "m")
    assert rig.held() == ["m"]
    assert confirmed(rig.flush()) == [1]


def test_late_copies_of_unflushed_messages_wait_for_the_disk() -> None:
    rig = Rig()
    rig.published("m")
    (flush,) = [it for it in rig.flush() if isinstance(it, Flush)]
    promoted(rig)
    rig.copied(1, "m")
    assert rig.held() == ["m"]
    assert confirmed(rig.flush()) == []
    assert confirmed(rig.handle(Flushed(flush.mark))) == [1]


def test_a_confirm_that_waits_for_disk_follows_after_promotion() -> None:
    rig = Rig()
    rig.copied(1, "m")
    rig.published("m")
    (flush,) = [it for it in rig.flush() if isinstance(it, Flush)]
    promoted(rig)
    assert confirmed(rig.handle(Flushed(flush.mark))) == [1]


def test_a_new_master_reports_channels_that_had_ended_before() -> None:
    rig = Rig()
    rig.published("m")
    rig.handle(Down(CHANNEL, NORMAL))
    assert Watch(CHANNEL) in promoted(rig)
    rig.handle(Catchup(2, OTHER, ()))
    rig.handle(Down(CHANNEL, "noproc"))
    (activity,) = sends(rig.flush(), Activity)
    assert activity.entries[0].pubs[-1][1] == SenderDeath(CHANNEL)


def test_a_new_master_serves_consumers() -> None:
    rig = Rig()
    rig.published("m")
    promoted(rig)
    effects = rig.handle(Consume(SECOND, 1, "t", True, False, 0, False, {}))
    assert sends(effects, Done) == [Done(1, 0)]
    assert [it.redelivered for it in sends(effects, QueueDelivery)] == [True]
