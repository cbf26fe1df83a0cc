"""What a publisher tells of its seconds, by example and against what its records will say."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from harness.workers.core.pacing import NS_PER_S, Pacing
from harness.workers.core.publishes import Book
from harness.workers.core.seconds import AT_ONCE, HEARD_WITHIN_NS, Second, Seconds

MS = 1_000_000
DEADLINE_NS = 300 * MS


def load(rate: float | None = 4.0, start_ns: int = 0) -> tuple[Pacing, Seconds]:
    pacing = Pacing(rate, 0.0, DEADLINE_NS)
    seconds = Seconds(pacing, DEADLINE_NS, lambda sequence: sequence == 1)
    pacing.start(start_ns)
    return pacing, seconds


def test_second_is_reported_once_when_it_can_no_longer_change() -> None:
    _, seconds = load()
    seconds.in_time(DEADLINE_NS)
    final_ns = NS_PER_S + DEADLINE_NS + HEARD_WITHIN_NS
    assert seconds.settled(final_ns - 1) == []
    assert seconds.settled(final_ns) == [Second(0, 3, 1)]
    assert seconds.settled(final_ns + 1) == []


def test_a_stalled_publisher_reports_all_missed_seconds() -> None:
    pacing, seconds = load()
    counted = seconds.settled(4 * NS_PER_S)
    assert counted == [Second(0, 3, 0), Second(1, 4, 0), Second(2, 4, 0)]
    now_ns = 60 * NS_PER_S
    assert len(seconds.settled(now_ns)) == AT_ONCE
    assert seconds.settled(now_ns)[-1] == Second(2 + 2 * AT_ONCE, 4, 0)
    pacing.stop(now_ns)
    assert [one.second for one in seconds.settled(now_ns, closed=True)] == [*range(23, 61)]


def test_seconds_count_from_the_origin_and_begin_with_the_load() -> None:
    _, seconds = load(start_ns=7_500 * MS)
    assert seconds.settled(10 * NS_PER_S) == [Second(7, 1, 0), Second(8, 4, 0)]


def test_a_closing_publisher_reports_only_the_remaining_seconds() -> None:
    pacing, seconds = load()
    pacing.stop(1_300 * MS)
    assert seconds.settled(1_300 * MS) == []
    assert seconds.settled(1_300 * MS, closed=True) == [Second(0, 3, 0), Second(1, 2, 0)]
    assert seconds.settled(9 * NS_PER_S, closed=True) == []


def test_after_the_end_of_the_load_no_second_follows() -> None:
    pacing, seconds = load()
    pacing.stop(1_300 * MS)
    assert [one.second for one in seconds.settled(60 * NS_PER_S)] == [0, 1]


def test_a_second_without_due_publishes_is_reported() -> None:
    _, seconds = load(rate=0.5)
    assert seconds.settled(4 * NS_PER_S)[:2] == [Second(0, 1, 0), Second(1, 0, 0)]


def test_at_rate_max_and_before_the_start_nothing_is_reported() -> None:
    _, seconds = load(rate=None)
    assert seconds.settled(60 * NS_PER_S, closed=True) == []
    unstarted = Seconds(Pacing(4.0, 0.0, DEADLINE_NS), DEADLINE_NS, None)
    assert unstarted.settled(60 * NS_PER_S) == []


@given(
    st.sampled_from([0.7, 3.0, 25.0]),
    st.lists(st.sampled_from([0, 150, 299, 300, 301, 900, None]), min_size=1, max_size=60),
    st.integers(0, 2_000),
)
def test_live_seconds_equal_the_records(
    rate: float, answers: list[int | None], start_ms: int
) -> None:
    """Each publish is sent at its time, and confirmed so many ms later, or never."""
    pacing = Pacing(rate, 0.0, DEADLINE_NS)
    seconds = Seconds(pacing, DEADLINE_NS, None)
    book = Book(False, in_time=seconds.in_time)
    book.connected()
    pacing.start(start_ms * MS)
    due, on_time = Counter[int](), Counter[int]()
    events: list[tuple[int, int]] = []  # when which tag is acknowledged
    end_ns = 0
    for answer in answers:
        at_ns = pacing.next_ns()
        assert at_ns is not None
        ((sequence, intended_ns, deadline_ns),) = pacing.take(at_ns, 1)
        tag = book.send(sequence, 1, at_ns, deadline_ns)
        due[intended_ns // NS_PER_S] += 1
        end_ns = at_ns
        if answer is not None:
            events.append((at_ns + answer * MS, tag))
            on_time[intended_ns // NS_PER_S] += answer * MS <= DEADLINE_NS
    pacing.stop(end_ns)
    counted: list[Second] = []
    for at_ns, tag in sorted(events):
        book.acked(tag, False, at_ns)
        counted += seconds.settled(at_ns)
    counted += seconds.settled(end_ns, closed=True)
    assert [one for one in counted if one.due] == [
        Second(second, due[second], on_time[second]) for second in sorted(due)
    ]
