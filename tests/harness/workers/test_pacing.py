"""Intended times, due and expired publishes."""

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.workers.core.pacing import NS_PER_S, Pacing, Publish
from spark_analysis.schema.words import NO_INTENT

MS = 1_000_000


def paced(rate: float | None = 100.0, phase: float = 0.0, deadline_ms: int = 50) -> Pacing:
    pacing = Pacing(rate, phase, deadline_ms * MS)
    pacing.start(0)
    return pacing


def test_publishes_are_intended_at_the_rate_from_the_start() -> None:
    assert paced().take(20 * MS, 10) == [
        Publish(0, 0, 50 * MS),
        Publish(1, 10 * MS, 60 * MS),
        Publish(2, 20 * MS, 70 * MS),
    ]


def test_the_phase_shifts_every_intended_time() -> None:
    assert [each.intended_ns for each in paced(phase=0.5).take(20 * MS, 10)] == [5 * MS, 15 * MS]


def test_no_publish_is_due_before_the_start() -> None:
    pacing = Pacing(100.0, 0.0, MS)
    assert pacing.take(NS_PER_S, 10) == []
    assert pacing.next_ns() is None


def test_a_publish_without_room_stays_due() -> None:
    pacing = paced()
    assert [each.sequence for each in pacing.take(20 * MS, 1)] == [0]
    assert pacing.next_ns() == 10 * MS
    assert [each.sequence for each in pacing.take(20 * MS, 9)] == [1, 2]


def test_due_untaken_publishes_wait_and_none_join_after_stop() -> None:
    pacing = paced()
    assert pacing.waiting(20 * MS) == 3
    pacing.take(20 * MS, 1)
    pacing.stop(25 * MS)
    assert pacing.waiting(NS_PER_S) == 2
    pacing.take(NS_PER_S, 10)
    assert pacing.waiting(NS_PER_S) == 0
    assert Pacing(100.0, 0.0, MS).waiting(NS_PER_S) == 0


def test_a_publish_expires_only_when_its_deadline_has_passed() -> None:
    pacing = paced()
    assert pacing.expire(50 * MS) == []
    assert [each.sequence for each in pacing.expire(60 * MS)] == [0]
    assert [each.sequence for each in pacing.take(60 * MS, 10)] == [1, 2, 3, 4, 5, 6]


def test_stop_ends_new_intentions_and_keeps_earlier_ones() -> None:
    pacing = paced()
    pacing.stop(15 * MS)
    assert [each.sequence for each in pacing.take(NS_PER_S, 10)] == [0, 1]
    assert pacing.next_ns() is None


def test_a_stop_before_the_start_means_no_publishes() -> None:
    pacing = Pacing(100.0, 0.0, MS)
    pacing.stop(0)
    assert pacing.take(NS_PER_S, 10) == []


def test_untaken_publishes_are_abandoned_at_the_end_despite_deadlines() -> None:
    pacing = paced()
    pacing.stop(15 * MS)
    assert [each.sequence for each in pacing.abandon(20 * MS)] == [0, 1]


def test_at_max_there_is_no_intent_and_nothing_expires() -> None:
    pacing = paced(rate=None)
    assert pacing.take(1, 2) == [
        Publish(0, NO_INTENT, NO_INTENT),
        Publish(1, NO_INTENT, NO_INTENT),
    ]
    assert pacing.expire(NS_PER_S) == []
    pacing.stop(2)
    assert pacing.take(3, 2) == []


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["take", "expire", "stop"]),
        st.integers(0, 400 * MS),
        st.integers(1, 40),
    ),
    max_size=30,
)


@settings(deadline=None)
@given(rate=st.floats(0.1, 5_000.0), phase=st.floats(0.0, 1.0), steps=STEPS)
def test_every_publish_is_taken_or_expired_once_never_early(
    rate: float, phase: float, steps: list[tuple[str, int, int]]
) -> None:
    pacing = paced(rate, phase)
    now_ns, seen, stopped_ns = 0, [], None
    for do, later_ns, most in steps:
        now_ns += later_ns
        if do == "take":
            new = pacing.take(now_ns, most)
            assert len(new) <= most
        elif do == "expire":
            new = pacing.expire(now_ns)
            assert all(each.deadline_ns < now_ns for each in new)
        else:
            new, stopped_ns = [], now_ns if stopped_ns is None else stopped_ns
            pacing.stop(now_ns)
        assert all(each.intended_ns <= now_ns for each in new)
        seen += new
    seen += pacing.abandon(now_ns)
    assert [each.sequence for each in seen] == list(range(len(seen)))
    assert seen == sorted(seen)
    end_ns = now_ns if stopped_ns is None else stopped_ns
    expected = max(0.0, end_ns / NS_PER_S * rate - phase)
    assert abs(len(seen) - expected) <= 1.001
