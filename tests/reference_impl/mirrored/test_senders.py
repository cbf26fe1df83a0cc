"""The two ways of a publish to a mirror: the table at the head of senders.py, row by row (3.3)."""

import pytest

from reference_impl.mirrored.confirms import Confirms
from reference_impl.mirrored.senders import Life, Senders, Status
from reference_impl.pid import Pid
from reference_impl.process import Send
from reference_impl.protocol.queues import Confirm
from tests.reference_impl.mirrored.messages_of import message

CHANNEL, ME = Pid("a", 1, 5), Pid("b", 1, 2)


class Rig:
    def __init__(self) -> None:
        self._confirms = Confirms("q", ME)
        self.senders = Senders(self._confirms)
        self.senders.meet(CHANNEL)

    def copy(self, sequence: int, name: str = "m", *, kept: bool = True) -> None:
        self.senders.copied(CHANNEL, sequence, message(name), kept)

    def ring(
        self, name: str = "m", status: Status = Status.PUBLISHED, *, kept: bool = True
    ) -> None:
        self.senders.came_round(CHANNEL, name.encode(), status, kept)

    def confirmed(self) -> list[int]:
        taken = self._confirms.take()
        assert all(isinstance(effect, Send) for effect in taken)
        return [
            sequence
            for effect in taken
            if isinstance(effect, Send) and isinstance(effect.body, Confirm)
            for sequence in effect.body.sequences
        ]

    def lines(self) -> list[tuple[int, bytes]]:
        return [(sequence, it.identity) for _, sequence, it in self.senders.lines()]


def test_a_copy_from_the_channel_alone_waits_in_its_line() -> None:
    rig = Rig()
    rig.copy(1, "m")
    rig.copy(2, "n")
    assert rig.confirmed() == []
    assert rig.lines() == [(1, b"m"), (2, b"n")]


def test_a_message_that_came_round_alone_is_remembered() -> None:
    rig = Rig()
    rig.ring()
    rig.senders.on_disk(b"m")
    assert rig.confirmed() == []
    assert list(rig.senders.early()) == [(CHANNEL, b"m", Status.ON_DISK)]


@pytest.mark.parametrize("channel_first", [True, False])
def test_persistent_messages_are_confirmed_after_both_copies_and_the_disk(
    channel_first: bool,
) -> None:
    rig = Rig()
    first, second = (rig.copy, rig.ring) if channel_first else (rig.ring, rig.copy)
    for step in (first, second):
        step(1) if step == rig.copy else rig.ring()
        assert rig.confirmed() == []
    rig.senders.on_disk(b"m")
    assert rig.confirmed() == [1]
    assert rig.lines() == []


@pytest.mark.parametrize("channel_first", [True, False])
def test_transient_messages_are_confirmed_after_both_copies(channel_first: bool) -> None:
    rig = Rig()
    if channel_first:
        rig.copy(1, kept=False)
        rig.ring(kept=False)
    else:
        rig.ring(kept=False)
        rig.copy(1, kept=False)
    assert rig.confirmed() == [1]


@pytest.mark.parametrize("channel_first", [True, False])
def test_a_discarded_message_is_confirmed_when_both_copies_came(channel_first: bool) -> None:
    rig = Rig()
    if channel_first:
        rig.copy(1)
        rig.ring(status=Status.DISCARDED)
    else:
        rig.ring(status=Status.DISCARDED)
        rig.copy(1)
    assert rig.confirmed() == [1]


def test_late_copies_of_flushed_messages_are_confirmed_at_once() -> None:
    rig = Rig()
    rig.ring()
    rig.senders.on_disk(b"m")
    rig.copy(1)
    assert rig.confirmed() == [1]
    assert list(rig.senders.early()) == []


def test_a_message_older_than_the_listing_needs_no_confirm() -> None:
    rig = Rig()
    rig.copy(1, "n")
    rig.ring("m")
    assert rig.lines() == [(1, b"n")]
    assert list(rig.senders.early()) == []
    rig.ring("n")
    rig.senders.on_disk(b"n")
    assert rig.confirmed() == [1]


def test_a_publish_that_wants_no_confirm_gets_none() -> None:
    rig = Rig()
    rig.copy(0, kept=False)
    rig.ring(kept=False)
    rig.ring("n", kept=False)
    rig.copy(0, "n", kept=False)
    rig.senders.on_disk(b"m")
    assert rig.confirmed() == []


@pytest.mark.parametrize("order", [(Life.DOWN, Life.DEAD), (Life.DEAD, Life.DOWN)])
def test_a_channel_is_forgotten_when_both_its_ends_are_known(order: tuple[Life, Life]) -> None:
    rig = Rig()
    rig.copy(1, "m")
    rig.ring("n")  # older than the listing: the head is another
    rig.senders.ends(CHANNEL, order[0])
    rig.senders.ends(CHANNEL, order[0])
    assert CHANNEL in rig.senders
    rig.senders.ends(CHANNEL, order[1])
    assert CHANNEL not in rig.senders
    assert rig.lines() == []


def test_a_dead_channels_awaited_messages_are_dropped() -> None:
    rig = Rig()
    rig.ring("m")
    rig.senders.ends(CHANNEL, Life.DOWN)
    rig.senders.ends(CHANNEL, Life.DEAD)
    rig.senders.on_disk(b"m")
    assert list(rig.senders.early()) == []
    assert rig.senders.awaiting_disk(b"m") is None


def test_only_a_locally_down_channel_waits_for_the_masters_word() -> None:
    rig = Rig()
    assert rig.senders.awaiting_death() == ()
    rig.senders.ends(CHANNEL, Life.DOWN)
    assert rig.senders.awaiting_death() == (CHANNEL,)
    rig.senders.ends(CHANNEL, Life.DEAD)
    assert rig.senders.awaiting_death() == ()


def test_the_end_of_a_channel_that_never_published_is_nothing() -> None:
    senders = Senders(Confirms("q", ME))
    senders.ends(CHANNEL, Life.DEAD)
    assert CHANNEL not in senders
