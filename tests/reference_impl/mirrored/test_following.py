"""What a mirror does with what comes round the ring: the table of following.py, row by row."""

import pytest

from reference_impl.mirrored.backing import Backing
from reference_impl.mirrored.confirms import Confirms
from reference_impl.mirrored.following import Diverged, Following
from reference_impl.mirrored.journal import Journal
from reference_impl.mirrored.messages import (
    Acked,
    Depth,
    Discarded,
    Dropped,
    Promoted,
    Published,
    RequestDepth,
    Requeued,
)
from reference_impl.mirrored.senders import Senders
from reference_impl.mirrored.terms import QueueTerms
from reference_impl.pid import Pid
from tests.reference_impl.mirrored.fixed_world import FixedWorld
from tests.reference_impl.mirrored.messages_of import message

CHANNEL, ME = Pid("a", 1, 5), Pid("b", 1, 2)


class Rig:
    def __init__(self) -> None:
        journal = Journal("q", durable=True)
        confirms = Confirms("q", ME)
        senders = Senders(confirms)
        senders.meet(CHANNEL)
        self.mirror = Following(
            Backing("q", journal, QueueTerms(FixedWorld(), "q"), FixedWorld()), journal, senders
        )

    def publish(self, *names: str, taken: bool = False) -> None:
        for name in names:
            self.mirror.follow(Published(CHANNEL, message(name), taken))

    def held(self) -> str:
        """Names in order; those that are taken in capitals."""
        names = [
            it.body.decode().upper() if taken else it.body.decode()
            for _, it, taken in self.mirror.backing.all()
        ]
        return "".join(names)

    def depth(self, depth: int) -> None:
        self.mirror.follow(Depth(depth))

    @property
    def delta(self) -> int | None:
        return self.mirror.depth.delta


def test_a_publish_is_enqueued_or_held_as_taken() -> None:
    rig = Rig()
    rig.publish("a", taken=True)
    rig.publish("b")
    assert rig.held() == "Ab"


def test_discarded_messages_are_not_stored() -> None:
    rig = Rig()
    rig.mirror.follow(Discarded(CHANNEL, b"a"))
    assert rig.held() == ""
    assert [identity for _, identity, _ in rig.mirror.senders.early()] == [b"a"]


def test_a_mirror_moves_fetched_messages_to_the_unacknowledged() -> None:
    rig = Rig()
    rig.publish("a", "b", "c")
    rig.mirror.follow(Dropped(1, 2, True))
    assert rig.held() == "ABc"


def test_a_mirror_drops_acknowledged_messages_from_the_head() -> None:
    rig = Rig()
    rig.publish("a", "b", "c")
    rig.depth(3)
    rig.mirror.follow(Dropped(1, 2, False))
    assert rig.held() == "c"
    assert rig.delta == 0


def test_a_lagging_mirror_drops_nothing_while_its_missing_messages_leave() -> None:
    rig = Rig()
    rig.publish("c")
    rig.depth(3)
    rig.mirror.follow(Dropped(2, 1, False))
    assert (rig.held(), rig.delta) == ("c", 1)
    rig.mirror.follow(Dropped(1, 1, True))
    assert (rig.held(), rig.delta) == ("c", 1)
    rig.mirror.follow(Acked((b"b",)))
    assert (rig.held(), rig.delta) == ("c", 0)


def test_a_large_purge_makes_a_lagging_mirror_synchronised() -> None:
    rig = Rig()
    rig.publish("c")
    rig.depth(3)
    rig.mirror.follow(Dropped(0, 3, False))
    assert (rig.held(), rig.delta) == ("", 0)
    assert rig.mirror.is_new_synchronised


def test_acknowledged_messages_go_where_they_are_known() -> None:
    rig = Rig()
    rig.publish("b", taken=True)
    rig.depth(2)
    rig.mirror.follow(Acked((b"b", b"x")))
    assert (rig.held(), rig.delta) == ("", 0)


def test_requeued_messages_return_to_their_places_and_unknown_ones_vanish() -> None:
    rig = Rig()
    rig.publish("a", "b", "c", "d")
    rig.depth(4)
    rig.mirror.follow(Dropped(1, 3, True))
    rig.mirror.follow(Requeued((b"b", b"x")))
    assert (rig.held(), rig.delta) == ("AbCd", 0)
    rig.mirror.follow(Dropped(1, 1, True))
    assert rig.held() == "ABCd"


def test_the_depth_shows_how_far_a_mirror_is_behind() -> None:
    rig = Rig()
    rig.publish("c")
    rig.depth(4)
    assert rig.delta == 3
    assert not rig.mirror.is_new_synchronised


def test_a_promotion_makes_ready_what_was_taken() -> None:
    rig = Rig()
    rig.publish("a", "b", "c")
    rig.depth(3)
    rig.mirror.follow(Dropped(1, 2, True))
    rig.mirror.follow(Promoted(3))
    assert (rig.held(), rig.delta) == ("abc", 0)


def test_a_synchronised_mirror_fails_if_an_incomplete_one_is_promoted() -> None:
    rig = Rig()
    rig.publish("a", "b")
    rig.depth(2)
    with pytest.raises(Diverged):
        rig.mirror.follow(Promoted(1))


def test_a_mirror_ignores_requests_that_change_no_content() -> None:
    rig = Rig()
    rig.publish("a")
    rig.mirror.follow(RequestDepth())
    assert rig.held() == "a"


def test_a_synchronisation_replaces_everything_and_keeps_what_is_taken() -> None:
    rig = Rig()
    rig.publish("x")
    rig.mirror.clear()
    assert (rig.held(), rig.delta) == ("", None)
    rig.mirror.append([(message("a"), True), (message("b"), False)])
    rig.mirror.synchronised()
    assert (rig.held(), rig.delta) == ("Ab", 0)
    rig.mirror.follow(Acked((b"a",)))
    assert (rig.held(), rig.delta) == ("b", 0)
