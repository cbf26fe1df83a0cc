"""What is claimed of a story's end, as plain checks: of many seeds, and of bugs."""

from reference_impl.pid import Pid
from tests.reference_impl.mirrored.queues import check_copies, content, copies, record
from tests.reference_impl.mirrored.stories import Story


def equal_at_rest(story: Story) -> None:
    """Each synchronised mirror is what its master is; the records say who lives."""
    story.settle()
    check_copies(story.cluster)


def master_when_healed(story: Story) -> None:
    story.heal()
    check_copies(story.cluster)
    now = record(story.cluster)
    assert now is not None or not story.durable
    assert now is None or now.master is not None


def nothing_confirmed_is_lost(story: Story) -> None:
    now = record(story.cluster)
    assert now is not None and now.master is not None
    assert set(now.synchronised) == set(now.mirrors)
    held = set(content(copies(story.cluster)[now.master.node]).identities)
    settled = held.union(*(one.acked for one in story.channels))
    for one in story.channels:
        confirmed = [it for it, outcome in one.outcomes.items() if outcome == "ack"]
        assert [it for it in confirmed if it not in settled] == []


def nothing_diverged(story: Story) -> None:
    """No mirror ever found that it held other messages than it should."""
    assert story.cluster.diverged == []


def every_publish_is_settled(story: Story) -> None:
    assert [(one.pid, one.open) for one in story.living() if one.open] == []


def consumers_see_order(story: Story) -> None:
    """Of each publisher. A repeat from the same master is flagged as redelivered; one from the
    next is not where the channel's copy came to that one only after its promotion."""
    for one in story.channels:
        last: dict[bytes, int] = {}
        masters: dict[bytes, Pid] = {}
        for delivery in one.seen:
            publisher, number = delivery.identity.split(b"/")
            if delivery.identity in masters:
                is_same = masters[delivery.identity] == delivery.master
                assert delivery.redelivered or not is_same, delivery
            else:
                assert int(number) > last.get(publisher, 0), (delivery, last)
                last[publisher] = int(number)
            masters[delivery.identity] = delivery.master
